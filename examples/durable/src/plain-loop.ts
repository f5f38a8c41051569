import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createToolCallClosure } from 'tool-call-closure';
import { answerLostCalls } from './history.js';
import { ask, providers, type Api, type Json } from './providers.js';
import { perform } from './tools.js';
import { batchesIn } from './transcript.js';
import { killPoint, record } from './witness.js';

/** The loop of `conversation.ts` without an engine: what outlives the process is the history, stored whenever it grows. */
async function say(api: Api, text: string, file: string): Promise<void> {
  const provider = providers[api];
  const closure = createToolCallClosure();
  const history: Json[] = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Json[]) : [{ role: 'user', content: text }];
  const store = (): void => {
    writeFileSync(`${file}.new`, JSON.stringify(history));
    renameSync(`${file}.new`, file);
  };
  answerLostCalls(provider, history);
  store();

  for (;;) {
    const turn = batchesIn(api, provider.request(history)).length + 1;
    const request = `${text}, request ${turn}`;
    if (turn > 1) killPoint('before a follow-up request', request);
    const { said, calls } = await ask(provider, JSON.stringify(provider.request(history)));
    killPoint('after a request, before its entry', request);
    history.push(...said);
    store();
    if (calls.length === 0) return;

    const { handle } = closure.begin(calls);
    for (const call of calls) {
      killPoint('before a start', call.id);
      void perform(call).then((outcome) => {
        closure.settle(handle, call.id, outcome);
        record({ at: 'delivered', call: call.id, outcome });
        killPoint('after an entry', call.id);
      });
    }
    const closed = await closure.sealWhenSettled(handle);
    if (closed.accepted === false) return;
    history.push(...provider.results(closure, closed));
    store();
  }
}

const [api, text, file] = process.argv.slice(2);
await say(api as Api, text!, file!);
