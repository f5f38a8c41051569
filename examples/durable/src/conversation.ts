import { object, RestatePromise, type ObjectContext } from '@restatedev/restate-sdk';
import { randomUUID } from 'node:crypto';
import { createToolCallClosure, type Outcome } from 'tool-call-closure';
import { ask, providers, type Api, type Json } from './providers.js';
import { perform, tools } from './tools.js';
import { killPoint, record } from './witness.js';

export interface Message {
  readonly api: Api;
  readonly text: string;
}

/** One user message: the model and its tools take turns until the model calls no tool. */
async function say(ctx: ObjectContext, { api, text }: Message): Promise<number> {
  // New in every attempt and never journaled: a start marker with another value was left by an attempt that is gone.
  const attempt = randomUUID();
  const provider = providers[api];
  const closure = createToolCallClosure();
  const history = (await ctx.get<Json[]>('history')) ?? [];
  history.push({ role: 'user', content: text });

  for (let turn = 1; ; turn++) {
    const request = `${text}, request ${turn}`;
    const body = JSON.stringify(provider.request(history));
    record({ at: 'payload', request, body, attempt });
    if (turn > 1) killPoint('before a follow-up request', request);

    const { said, calls } = await ctx.run(`model ${turn}`, async () => {
      const answer = await ask(provider, body);
      killPoint('after a request, before its entry', request);
      return answer;
    });
    history.push(...said);
    if (calls.length === 0) break;

    const { handle } = closure.begin(calls);

    // Entries are made in the order of announcement: in an order of completion, a replay would not find them again.
    const once = calls.filter((call) => tools[call.name]?.repeatable === false);
    const markers = await RestatePromise.all(
      once.map((call) =>
        ctx.run(`start ${call.id}`, () => {
          killPoint('before a start', call.id);
          return attempt;
        }),
      ),
    );
    const startedBy = new Map(once.map((call, i) => [call.id, markers[i]]));

    const settled = calls.map((call) =>
      ctx
        .run(`tool ${call.id}`, async () => {
          const starter = startedBy.get(call.id);
          if (starter === undefined) killPoint('before a start', call.id);
          else if (starter !== attempt) return processLost;
          return perform(call);
        })
        .map(async (outcome, failure) => {
          if (!outcome) closure.fail(handle, call.id, failure);
          else if (outcome.status === 'success') await closure.track(handle, call.id, outcome.content);
          else closure.settle(handle, call.id, outcome);
          if (outcome) record({ at: 'delivered', call: call.id, outcome });
          killPoint('after an entry', call.id);
        }),
    );
    await RestatePromise.all(settled);

    const closed = closure.seal(handle);
    if (closed.accepted === false) throw new Error(`the batch can't be sealed: ${closed.reason}`);
    history.push(...provider.results(closure, closed));
  }
  ctx.set('history', history);
  return history.length;
}

const processLost: Outcome = {
  status: 'error',
  code: 'process_lost',
  message: 'The process was lost after this call had started. It was not run again.',
  sideEffectState: 'unknown',
};

export const conversation = object({ name: 'conversation', handlers: { say } });
