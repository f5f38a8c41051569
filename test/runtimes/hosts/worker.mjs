// workerd: one request, one run.
import * as loaded from 'tool-call-closure';
import { smoke } from 'smoke.mjs';

// A CommonJS module comes as the default of its namespace, whose own default is the package's.
const library = loaded.ToolCallClosure ? loaded : loaded.default;

export default {
  async fetch() {
    return new Response(JSON.stringify(await smoke(library)));
  },
};
