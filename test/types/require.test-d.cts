// The CommonJS declarations, as a TypeScript service with `import … = require(…)` meets them.
import api = require('tool-call-closure');

const closure: api.ToolCallClosure = api.createToolCallClosure({ maxCalls: 3 });
const viaDefault: api.ToolCallClosure = new api.default.ToolCallClosure();
const { handle, superseded } = closure.begin([{ id: 'a', name: 'read' }]);
const before: api.ClosedSnapshot | null = superseded;
closure.succeed(handle, 'a', { rows: 1 });
const sealed = closure.seal(handle);
const messages: api.OpenAIToolMessage[] =
  sealed.accepted === false ? [] : closure.toOpenAIChatCompletions(sealed);

// @ts-expect-error the module is no class
new api();
// @ts-expect-error the default export has these two names alone
api.default.default;
// @ts-expect-error a number does not make a handle
closure.seal({ generation: 1 });
