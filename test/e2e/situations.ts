import { expect } from 'vitest';
import type { BatchHandle, ClosedSnapshot, ToolCall, ToolCallClosure } from 'tool-call-closure';
import type { Reply, ScriptedCall } from '../support/stand-in.js';
import type { Conversation, Driver } from './conversations.js';

/** What can happen to a batch between two requests, told without any API. After each, the next request has to be accepted. */
export interface Situation {
  readonly name: string;
  /** What the model answers, request by request; after that it is done. */
  readonly model: readonly Reply[];
  /** Talks until the model is done. */
  host(conversation: Conversation, closure: ToolCallClosure, driver: Driver): Promise<void>;
  /** The texts of the newest results that the model was sent, the last ones of the last request. */
  readonly sees: readonly (string | RegExp)[];
  /** Set where the host renames calls, which it can't if the service holds them. */
  readonly renames?: true;
}

const calls = (...ids: string[]): ScriptedCall[] => ids.map((id) => ({ id, name: 'look', arguments: { at: 'sky' } }));
const error = (code: string, message: string, sideEffects?: string): string =>
  JSON.stringify({ error: { code, message, ...(sideEffects && { side_effect_state: sideEffects }) } });
const notKept = (why: string): RegExp => {
  const message = `The tool completed, but its result was not kept: .*${why}.*`;
  return new RegExp(`^${error('invalid_result', message, 'completed')}$`);
};
const never = new Promise<never>(() => {});

/** The usual loop: ask, work, answer, until the model calls nothing. */
function batch(
  name: string,
  model: Reply,
  work: (closure: ToolCallClosure, calls: readonly ToolCall[]) => ClosedSnapshot | Promise<ClosedSnapshot>,
  sees: Situation['sees'],
): Situation {
  return {
    name,
    model: [model],
    sees,
    async host(conversation, closure) {
      for (let asked = await conversation.ask(); asked.length > 0; asked = await conversation.ask()) {
        conversation.answer(await work(closure, asked));
      }
    },
  };
}

function mustClose(result: ReturnType<ToolCallClosure['seal']>): ClosedSnapshot {
  if (result.accepted === false) return expect.fail(`not closed: ${result.reason}`);
  return result;
}

async function whenSettled(closure: ToolCallClosure, handle: BatchHandle): Promise<ClosedSnapshot> {
  return mustClose(await closure.sealWhenSettled(handle));
}

export const situations: readonly Situation[] = [
  batch(
    'every call is answered, in whatever order the tools finish',
    calls('call_a', 'call_b'),
    async (closure, [a, b]) => {
      const { handle } = closure.begin([a!, b!]);
      await closure.track(handle, b!.id, Promise.resolve({ found: 2 }));
      void closure.track(handle, a!.id, Promise.resolve('one'));
      return whenSettled(closure, handle);
    },
    ['one', '{"found":2}'],
  ),
  batch(
    'an abort keeps what is finished',
    calls('call_a', 'call_b'),
    (closure, asked) => {
      const controller = new AbortController();
      const { handle } = closure.begin(asked, { signal: controller.signal });
      closure.succeed(handle, asked[0]!.id, 'one');
      controller.abort(new Error('the user pressed stop'));
      return mustClose(closure.close(handle));
    },
    ['one', error('aborted', 'the user pressed stop', 'unknown')],
  ),
  batch(
    'the signal is aborted before the calls are known',
    calls('call_a'),
    (closure, asked) => {
      const reason = { code: 'step_limit', message: 'No steps left.', sideEffectState: 'not_started' };
      const { handle } = closure.begin(asked, { signal: AbortSignal.abort(reason) });
      return mustClose(closure.close(handle));
    },
    [error('step_limit', 'No steps left.', 'not_started')],
  ),
  {
    name: 'a run is replaced, and both branches go on',
    model: [calls('call_a', 'call_b'), calls('call_c')],
    sees: ['one', error('superseded', 'Tool call was superseded by a newer generation.', 'unknown')],
    async host(conversation, closure) {
      const other = conversation.fork();
      const [a, b] = await conversation.ask();
      const first = closure.begin([a!, b!]);
      closure.succeed(first.handle, a!.id, 'one');

      other.say('never mind');
      const [c] = await other.ask();
      const second = closure.begin([c!]);
      expect(closure.succeed(first.handle, b!.id, 'late')).toMatchObject({ accepted: false, reason: 'stale_generation' });
      closure.succeed(second.handle, c!.id, 'three');
      other.answer(mustClose(closure.seal(second.handle)));
      expect(await other.ask()).toEqual([]);

      conversation.answer(second.superseded!);
      expect(await conversation.ask()).toEqual([]);
    },
  },
  batch(
    'a deadline passes while a tool hangs',
    calls('call_a', 'call_b'),
    async (closure, [a, b]) => {
      const { handle } = closure.begin([a!, b!], { signal: AbortSignal.timeout(20) });
      void closure.track(handle, a!.id, never);
      void closure.track(handle, b!.id, Promise.resolve('two'));
      return whenSettled(closure, handle);
    },
    [/^{"error":{"code":"timeout","message":".+","side_effect_state":"unknown"}}$/, 'two'],
  ),
  batch(
    'the model calls a tool that does not exist',
    [{ id: 'call_a', name: 'fly' }],
    (closure, asked) => {
      const { handle } = closure.begin(asked);
      closure.fail(handle, asked[0]!.id, new Error(`There is no tool ${asked[0]!.name}.`), 'unknown_tool');
      return mustClose(closure.seal(handle));
    },
    [error('unknown_tool', 'There is no tool fly.')],
  ),
  batch(
    'the user denies a call',
    calls('call_a'),
    (closure, [a]) => {
      const { handle } = closure.begin([a!]);
      const denial = { status: 'cancelled', code: 'denied', message: 'The user said no.', sideEffectState: 'not_started' } as const;
      closure.settle(handle, a!.id, denial);
      return mustClose(closure.seal(handle));
    },
    [error('denied', 'The user said no.', 'not_started')],
  ),
  batch(
    'results that are void, empty, or can not be kept',
    calls('call_a', 'call_b', 'call_c', 'call_d', 'call_e'),
    async (closure, asked) => {
      const { handle } = closure.begin(asked);
      const results: unknown[] = [undefined, '', { n: 1n }, 'x'.repeat(2_000_000), () => {}];
      for (const [k, { id }] of asked.entries()) void closure.track(handle, id, Promise.resolve(results[k]));
      return whenSettled(closure, handle);
    },
    ['null', '', notKept('BigInt'), notKept('maxResultBytes'), notKept('')],
  ),
  batch(
    'errors without a message still say something',
    calls('call_a', 'call_b', 'call_c'),
    (closure, [a, b, c]) => {
      const { handle } = closure.begin([a!, b!, c!]);
      closure.fail(handle, a!.id, '');
      closure.fail(handle, b!.id, new RangeError());
      closure.cancel(handle, c!.id);
      return mustClose(closure.seal(handle));
    },
    [error('tool_error', ''), error('tool_error', 'RangeError'), error('cancelled', 'Tool call was cancelled.')],
  ),
  batch(
    'text that was cut inside an emoji',
    calls('call_a', 'call_b', 'call_c', 'call_d'),
    (closure, asked) => {
      const [a, b, c, d] = asked.map(({ id }) => id);
      const { handle } = closure.begin(asked);
      closure.succeed(handle, a!, 'ok \ud83d');
      closure.succeed(handle, b!, { v: 'ok \ud83d' });
      closure.fail(handle, c!, new Error('\ude00 bad'));
      return mustClose(closure.close(handle, `stopped \ud83d ${d}`));
    },
    ['ok \ufffd', '{"v":"ok \\ud83d"}', error('tool_error', '\ufffd bad'), error('cancelled', 'stopped \ufffd call_d', 'unknown')],
  ),
  batch(
    'calls that are settled twice, and too late',
    calls('call_a', 'call_b'),
    (closure, [a, b]) => {
      const { handle } = closure.begin([a!, b!]);
      closure.succeed(handle, a!.id, 'one');
      expect(closure.fail(handle, a!.id, new Error('again'))).toMatchObject({ reason: 'duplicate_settlement' });
      const closed = mustClose(closure.close(handle, 'enough'));
      expect(closure.succeed(handle, b!.id, 'late')).toMatchObject({ reason: 'run_closed' });
      return closed;
    },
    ['one', error('cancelled', 'enough', 'unknown')],
  ),
  {
    name: 'ids that repeat on every turn, each first result one turn late',
    model: [1, 2, 3].map(() => calls('list_dir:0')),
    sees: ['turn 1', 'turn 2', 'turn 3'],
    renames: true,
    async host(conversation, closure, { takesRepeatedIds }) {
      let turn = 1;
      const unique = (id: string): string => `turn${turn}_${id.replace(/[^a-zA-Z0-9_-]/g, '_')}`;
      const ask = (): Promise<ToolCall[]> => (takesRepeatedIds ? conversation.ask() : conversation.ask(unique));
      let late: (() => unknown) | null = null;
      for (let [call] = await ask(); call; [call] = await ask()) {
        const { id } = call;
        const { handle } = closure.begin([call]);
        if (late) expect(late()).toMatchObject({ accepted: false, reason: 'stale_generation' });
        late = () => closure.succeed(handle, id, 'from another turn');
        closure.succeed(handle, id, `turn ${turn}`);
        conversation.answer(mustClose(closure.seal(handle)));
        turn++;
      }
    },
  },
  batch(
    '128 calls in one turn',
    calls(...Array.from({ length: 128 }, (_, k) => `call_${k}`)),
    async (closure, asked) => {
      const { handle } = closure.begin(asked);
      for (const [k, { id }] of asked.entries()) void closure.track(handle, id, Promise.resolve(k));
      return whenSettled(closure, handle);
    },
    Array.from({ length: 128 }, (_, k) => String(k)),
  ),
];

/** What hosts do wrong, and the rule that meets it; `null` where the API takes it. */
export interface Mistake {
  readonly name: string;
  /** Turns the results of the newest batch into what is sent instead; `before` are those of the batch before. */
  readonly spoil: (results: object[], before: object[], conversation: Conversation) => object[];
  readonly rules: Readonly<Record<Driver['api'] | 'adjacent', string | null>>;
}

export const mistakes: readonly Mistake[] = [
  {
    name: 'one result is dropped',
    spoil: ([, ...rest]) => rest,
    rules: { chat: 'C11', responses: 'R10', adjacent: 'R10', anthropic: 'M07' },
  },
  {
    name: 'no result is sent',
    spoil: (_results, _before, { text }) => [text('go on')],
    rules: { chat: 'C11', responses: 'R10', adjacent: 'R15', anthropic: 'M07' },
  },
  {
    name: 'one result is sent twice',
    spoil: (results) => [...results, results[0]!],
    rules: { chat: 'C12', responses: 'R11', adjacent: 'R11', anthropic: 'M09' },
  },
  {
    name: 'the results of the batch before are sent instead',
    spoil: (_results, before) => before,
    rules: { chat: 'C10', responses: 'R11', adjacent: 'R11', anthropic: 'M08' },
  },
  {
    name: 'the results stand in another order',
    spoil: (results) => results.reverse(),
    rules: { chat: null, responses: null, adjacent: null, anthropic: null },
  },
  {
    name: 'text stands before the results',
    spoil: (results, _before, { text }) => [text('here you are'), ...results],
    rules: { chat: 'C11', responses: null, adjacent: 'R15', anthropic: 'M07' },
  },
  {
    name: 'text stands after the results',
    spoil: (results, _before, { text }) => [...results, text('here you are')],
    rules: { chat: null, responses: null, adjacent: null, anthropic: null },
  },
];
