import { runInNewContext } from 'node:vm';
import { createToolCallClosure, type BatchHandle, type ClosedSnapshot, type ToolCallClosure } from 'tool-call-closure';
import { describe, expect, test } from 'vitest';
import { unhandledRejections } from './support/unhandled.js';

const a = { id: 'a', name: 'read' };
const b = { id: 'b', name: 'write' };
const NOT_KEPT = 'The tool completed, but its result was not kept: ';

const revoked = () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};
const otherRealm = runInNewContext(
  '({ resolve: (value) => Promise.resolve(value), reject: (reason) => Promise.reject(reason) })',
) as Record<'resolve' | 'reject', (value: unknown) => unknown>;
const cyclic = () => {
  const value: Record<string, unknown> = {};
  value.self = value;
  return value;
};
const throwingGetter = (field: string, fields: object = {}) =>
  Object.defineProperty(fields, field, {
    enumerable: true,
    get() {
      throw new Error(`${field} was read`);
    },
  });
const noText = () => ({
  toString() {
    throw new Error('no text');
  },
});
const named = (name: string, message: string, fields: object = {}) =>
  Object.assign(new Error(message), { name }, fields);

/** What the engine says of a value that has no JSON text; a test of ours must not depend on its wording. */
const engineMessage = (value: unknown): string => {
  try {
    JSON.stringify(value);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('it has a JSON text');
};

type Expected = { observed: 'success' | 'error' | 'cancelled'; settlement: Record<string, unknown> };
type Row = [name: string, value: () => unknown, expected: Expected];

const stored = (content: string): Expected => ({
  observed: 'success',
  settlement: { status: 'success', content, provenance: 'reported' },
});
const notKept = (why: unknown): Expected => ({
  observed: 'success',
  settlement: {
    status: 'error',
    code: 'invalid_result',
    message: typeof why === 'string' ? NOT_KEPT + why : why,
    provenance: 'reported',
    sideEffectState: 'completed',
  },
});
const failed = (message: string, code = 'tool_error'): Expected => ({
  observed: 'error',
  settlement: { status: 'error', code, message, provenance: 'reported' },
});
const cancelled = (message: string): Expected => ({
  observed: 'cancelled',
  settlement: { status: 'cancelled', code: 'aborted', message, provenance: 'reported' },
});

const LIMITS = { maxResultBytes: 100 };
const overLimit = expect.stringMatching(new RegExp(`^${NOT_KEPT}.*maxResultBytes`)) as unknown;
const noJsonText = expect.stringMatching(new RegExp(`^${NOT_KEPT}.`)) as unknown;

const VALUES: Row[] = [
  ['a string', () => 'done', stored('done')],
  ['an empty string', () => '', stored('')],
  ['a string with half an emoji', () => 'ok \uD83D', stored('ok \uFFFD')],
  ['undefined', () => undefined, stored('null')],
  ['null', () => null, stored('null')],
  ['a number', () => 42, stored('42')],
  ['NaN', () => Number.NaN, stored('null')],
  ['false', () => false, stored('false')],
  ['an object', () => ({ rows: [1, 2], skip: undefined }), stored('{"rows":[1,2]}')],
  ['an array', () => [undefined, 'x'], stored('[null,"x"]')],
  ['an object with a then that is no function', () => ({ then: 1 }), stored('{"then":1}')],
  ['an object with toJSON', () => ({ toJSON: () => 'as JSON' }), stored('"as JSON"')],
  ['an Error that was returned', () => new Error('x'), stored('{}')],
  ['a Date', () => new Date(0), stored('"1970-01-01T00:00:00.000Z"')],
  ['a string of exactly the limit', () => 'é'.repeat(50), stored('é'.repeat(50))],

  ['a string over the limit', () => 'é'.repeat(51), notKept(overLimit)],
  ['an object over the limit', () => ({ text: 'x'.repeat(100) }), notKept(overLimit)],
  ['a BigInt', () => 1n, notKept(engineMessage(1n))],
  ['a BigInt inside', () => ({ n: 1n }), notKept(engineMessage({ n: 1n }))],
  ['a cycle', cyclic, notKept(engineMessage(cyclic()))],
  ['a function', () => () => 1, notKept(noJsonText)],
  ['a symbol', () => Symbol('s'), notKept(noJsonText)],
  ['a toJSON that gives undefined', () => ({ toJSON: () => undefined }), notKept(noJsonText)],
  ['a toJSON that gives a function', () => ({ toJSON: () => () => 1 }), notKept(noJsonText)],
  ['a toJSON that throws', () => ({ toJSON() { throw new Error('no JSON'); } }), notKept('no JSON')],
  ['a toJSON that throws a string', () => ({ toJSON() { throw 'plain'; } }), notKept('plain')],
  ['a toJSON that throws what has no text', () => ({ toJSON() { throw noText(); } }), notKept(noJsonText)],
  ['a toJSON that throws undefined', () => ({ toJSON() { throw undefined; } }), notKept(noJsonText)],
  ['a getter that throws', () => throwingGetter('rows'), notKept('rows was read')],
];

const REASONS: Row[] = [
  ['an Error', () => new Error('boom'), failed('boom')],
  ['an Error without message', () => new RangeError(), failed('RangeError')],
  ['an Error without message and name', () => named('', ''), failed('Tool call failed.')],
  ['an Error with its own code', () => named('Error', 'gone', { code: 'ENOENT', status: 404 }), failed('gone')],
  ['an Error with half an emoji', () => new Error('\uDC00!'), failed('\uFFFD!')],
  ['an AggregateError', () => new AggregateError([new Error('one'), new Error('two')]), failed('one; two')],
  ['an AggregateError with a message', () => new AggregateError([new Error('one')], 'all'), failed('all')],
  ['an AbortError', () => new DOMException('halt', 'AbortError'), cancelled('halt')],
  ['an AbortError of Error', () => named('AbortError', 'halt'), cancelled('halt')],
  ['an AbortError without message', () => named('AbortError', ''), cancelled('AbortError')],
  ['an AbortError of another realm', () => runInNewContext('Object.assign(new Error("far"), { name: "AbortError" })'), cancelled('far')],
  ['an AbortError whose message throws', () => throwingGetter('message', { name: 'AbortError' }), cancelled('Tool call was cancelled.')],
  ['an AbortError that is no Error', () => ({ name: 'AbortError', message: 'halt' }), cancelled('halt')],
  ['a class named AbortError', () => class AbortError { static toString = () => 'halt'; }, cancelled('halt')],
  ['the reason of a signal', () => AbortSignal.abort().reason, cancelled((AbortSignal.abort().reason as Error).message)],
  ['a TimeoutError', () => new DOMException('late', 'TimeoutError'), failed('late', 'timeout')],
  ['a TimeoutError of Error', () => named('TimeoutError', 'late'), failed('late', 'timeout')],
  ['an Error of another realm', () => runInNewContext('new TypeError("far")'), failed('far')],
  ['a string', () => 'AbortError', failed('AbortError')],
  ['an empty string', () => '', failed('')],
  ['undefined', () => undefined, failed('Tool call failed.')],
  ['null', () => null, failed('Tool call failed.')],
  ['a number', () => 500, failed('500')],
  ['a BigInt', () => 1n, failed('1')],
  ['a symbol', () => Symbol('why'), failed('Symbol(why)')],
  ['an object with a message', () => ({ message: 'disk full', status: 507 }), failed('disk full')],
  ['an object without a message', () => ({ reason: 'x' }), failed('[object Object]')],
  ['an array', () => ['x', 1], failed('x,1')],
  ['an object without prototype', () => Object.create(null) as unknown, failed('Tool call failed.')],
  ['an object whose toString throws', noText, failed('Tool call failed.')],
  ['an object whose name throws', () => throwingGetter('name', { message: 'kept' }), failed('kept')],
  ['an object whose message throws', () => throwingGetter('message'), failed('Tool call failed.')],
  ['a name that is no string', () => ({ name: { toString: () => 'AbortError' }, message: 'm' }), failed('m')],
  ['a revoked Proxy', revoked, failed('Tool call failed.')],
];

// How a value arrives, and how a reason does. `start` lets a late one come.
const FULFILLED: [string, (value: unknown, start: Promise<void>) => unknown][] = [
  ['as it is', (value) => value],
  ['promise', (value) => Promise.resolve(value)],
  ['promise that comes late', (value, start) => start.then(() => value)],
  ['thenable', (value) => ({ then: (resolve: (value: unknown) => void) => resolve(value) })],
  ['promise of another realm', otherRealm.resolve],
  ['promise of a thenable', (value) => Promise.resolve({ then: (resolve: (value: unknown) => void) => resolve(value) })],
  ['thenable that resolves twice', (value) => ({
    then(resolve: (value: unknown) => void) {
      resolve(value);
      resolve('second');
    },
  })],
  ['thenable that resolves, then rejects', (value) => ({
    then(resolve: (value: unknown) => void, reject: (reason: unknown) => void) {
      resolve(value);
      reject(new Error('second'));
    },
  })],
  ['thenable that resolves, then throws', (value) => ({
    then(resolve: (value: unknown) => void) {
      resolve(value);
      throw new Error('second');
    },
  })],
];
const REJECTED: [string, (reason: unknown, start: Promise<void>) => unknown][] = [
  ['promise', (reason) => Promise.reject(reason)],
  ['promise that comes late', (reason, start) => start.then(() => Promise.reject(reason))],
  ['promise of another realm', otherRealm.reject],
  ['thenable', (reason) => ({ then: (_: unknown, reject: (reason: unknown) => void) => reject(reason) })],
  ['thenable that rejects twice', (reason) => ({
    then(resolve: (value: unknown) => void, reject: (reason: unknown) => void) {
      reject(reason);
      reject(new Error('second'));
      resolve('third');
    },
  })],
  ['thenable that throws', (reason) => ({
    then() {
      throw reason;
    },
  })],
  ['getter of then that throws', (reason) => ({
    get then() {
      throw reason;
    },
  })],
  ['thenable that resolves to a rejected promise', (reason) => ({
    then: (resolve: (value: unknown) => void) => resolve(Promise.reject(reason)),
  })],
];

type Reason = 'run_closed' | 'stale_generation' | 'duplicate_settlement' | 'unknown_call';
const STATES: [string, Reason | null, (closure: ToolCallClosure, handle: BatchHandle) => unknown, string?][] = [
  ['open', null, () => undefined],
  ['closed', 'run_closed', (closure, handle) => closure.close(handle, 'enough')],
  ['sealed', 'run_closed', (closure, handle) => {
    for (const { id } of [a, b]) closure.succeed(handle, id, 'by hand');
    closure.seal(handle);
  }],
  ['superseded', 'stale_generation', (closure) => closure.begin([a])],
  ['settled already', 'duplicate_settlement', (closure, handle) => closure.cancel(handle, 'a')],
  ['without that call', 'unknown_call', () => undefined, 'c'],
];

/** One value in every carrier, for every state of the batch, which it enters before or after `track` is called. */
async function check(carriers: typeof FULFILLED, value: () => unknown, { observed, settlement }: Expected) {
  for (const [carrier, carry] of carriers) {
    for (const [state, reason, enter, callId = 'a'] of STATES) {
      for (const moment of ['before', 'after']) {
        const closure = createToolCallClosure(LIMITS);
        const { handle } = closure.begin([a, b]);
        let start!: () => void;
        const started = new Promise<void>((resolve) => (start = resolve));
        if (moment === 'before') enter(closure, handle);
        const arriving = closure.track(handle, callId, carry(value(), started));
        if (moment === 'after') enter(closure, handle);
        // The call is as the state left it: a value never settles within `track` itself.
        const before = closure.snapshot();
        start();

        const result = await arriving;

        const refusal = { reason, callId, generation: 1, observedStatus: observed };
        const { status } = settlement;
        const calls = [{ ...a, state: status, settlement }, { ...b, state: 'pending', settlement: null }];
        expect({ result, frozen: Object.isFrozen(result), snapshot: closure.snapshot() }, `${carrier}, ${state} ${moment}`).toEqual(
          reason === null
            ? {
                result: { accepted: true, generation: 1, callId: 'a', settlement },
                frozen: true,
                snapshot: { generation: 1, closed: false, closeReason: null, calls, diagnostics: [] },
              }
            : { result: { accepted: false, ...refusal }, frozen: true, snapshot: { ...before, diagnostics: [refusal] } },
        );
        expect(before?.calls[0]?.state === 'pending').toBe(reason !== 'run_closed' && reason !== 'duplicate_settlement');
      }
    }
  }
}

const counted = (body: () => Promise<void>) => async () => {
  expect(await unhandledRejections(body)).toBe(0);
};

describe('track', () => {
  describe('a value that arrives', () => {
    test.each(VALUES)('%s', (_, value, expected) => counted(() => check(FULFILLED, value, expected))());

    test('a plain value that is a revoked Proxy is a rejection: its then cannot be read', () =>
      counted(() => check([['as it is', (value) => value]], revoked, {
        observed: 'error',
        settlement: { status: 'error', code: 'tool_error', message: expect.any(String), provenance: 'reported' },
      }))());

    test('a value that is never read before it has arrived', async () => {
      const log: string[] = [];
      const closure = createToolCallClosure();
      const { handle } = closure.begin([a]);
      const value = new Proxy({ rows: 1 }, {
        get(target, key) {
          log.push(String(key));
          return Reflect.get(target, key) as unknown;
        },
      });
      const result = closure.track(handle, 'a', value);
      expect(log).toEqual(['then']);
      await result;
      expect(log).toEqual(['then', 'toJSON', 'rows']);
    });

    test('a refused value is not converted', async () => {
      const closure = createToolCallClosure();
      const { handle } = closure.begin([a]);
      closure.close(handle);
      let read = false;
      await closure.track(handle, 'a', { toJSON: () => (read = true) });
      expect(read).toBe(false);
    });
  });

  describe('a reason that arrives', () => {
    test.each(REASONS)('%s', (_, reason, expected) => counted(() => check(REJECTED, reason, expected))());
  });

  test('a reason is asked for its name before the gate, and for the rest only where it is taken', async () => {
    const log: string[] = [];
    const reason = (fields: object) =>
      new Proxy(fields, {
        get(target, key) {
          log.push(String(key));
          return Reflect.get(target, key) as unknown;
        },
      });
    const reads = async (fields: object) => {
      log.length = 0;
      await closure.track(handle, 'a', Promise.reject(reason(fields)));
      return [...log];
    };
    const closure = createToolCallClosure();
    let { handle } = closure.begin([a]);
    expect(await reads({ name: 'E', message: 'm' })).toEqual(['name', 'message']);
    expect(await reads({ name: 'E', message: 'm' })).toEqual(['name']);
    ({ handle } = closure.begin([a]));
    expect(await reads({ name: 'E', message: '' })).toEqual(['name', 'message', 'errors', 'name']);
  });

  test('messages are truncated', async () => {
    const closure = createToolCallClosure({ maxMessageBytes: 20 });
    const { handle } = closure.begin([a, b]);
    expect(await closure.track(handle, 'a', Promise.reject('x'.repeat(21)))).toMatchObject({
      settlement: { message: 'x'.repeat(17) + '...' },
    });
    expect(await closure.track(handle, 'b', 1n)).toMatchObject({
      settlement: { code: 'invalid_result', message: NOT_KEPT.slice(0, 17) + '...' },
    });
  });

  test('built-in codes need no room under maxCodeBytes', async () => {
    const closure = createToolCallClosure({ maxCodeBytes: 1 });
    const ids = ['abort', 'timeout', 'error', 'invalid'];
    const { handle } = closure.begin(ids.map((id) => ({ id, name: 'n' })));
    const values = [named('AbortError', 'x'), named('TimeoutError', 'x'), new Error('x')].map((why) => Promise.reject(why));
    const results = [...values, 1n].map((value, i) => closure.track(handle, ids[i] as string, value));
    expect((await Promise.allSettled(results)).map((result) => result.status)).toEqual(Array(4).fill('fulfilled'));
    expect(closure.snapshot()?.calls.map((call) => call.settlement)).toMatchObject([
      { code: 'aborted' },
      { code: 'timeout' },
      { code: 'tool_error' },
      { code: 'invalid_result' },
    ]);
  });

  describe('a bad call id', () => {
    test.each<[string, unknown, ErrorConstructor]>([
      ['undefined', undefined, TypeError],
      ['a number', 1, TypeError],
      ['empty', '', TypeError],
      ['blank', ' \n', TypeError],
      ['ill-formed', 'x\uD800', TypeError],
      ['too long', 'x'.repeat(513), RangeError],
    ])('%s throws at once, and the rejection of the value is still handled', (_, callId, kind) =>
      counted(async () => {
        const closure = createToolCallClosure();
        const { handle } = closure.begin([a]);
        const before = closure.snapshot();
        for (const h of [handle, null as never]) {
          for (const value of [Promise.reject(new Error('x')), { get then() { throw new Error('x'); } }, 1]) {
            expect(() => closure.track(h, callId as string, value)).toThrow(kind);
          }
        }
        await Promise.resolve();
        expect(closure.snapshot()).toBe(before);
      })(),
    );
  });

  describe('a handle that is none', () => {
    test.each<[string, unknown, number | null]>([
      ['undefined', undefined, null],
      ['null', null, null],
      ['a number', 1, null],
      ['a copy', { generation: 1 }, 1],
      ['of another batch', { generation: 7 }, 7],
      ['with a bad generation', { generation: '1' }, null],
      ['with a negative generation', { generation: -1 }, null],
      ['with a getter that throws', throwingGetter('generation'), null],
      ['a revoked Proxy', revoked(), null],
    ])('%s: the refusal comes with the value', (_, handle, generation) =>
      counted(async () => {
        const closure = createToolCallClosure();
        const refusal = { reason: 'stale_generation', callId: 'a', generation };
        const track = (value: unknown) => closure.track(handle as BatchHandle, 'a', value);

        expect(await track('none yet')).toEqual({ accepted: false, ...refusal, observedStatus: 'success' });
        closure.begin([a]);
        expect(await track(Promise.reject(named('AbortError', '')))).toEqual({
          accepted: false,
          ...refusal,
          observedStatus: 'cancelled',
        });
        expect(closure.snapshot()?.diagnostics).toEqual([{ ...refusal, observedStatus: 'cancelled' }]);
      })(),
    );

    test('of another closure is stale here', async () => {
      const closure = createToolCallClosure();
      closure.begin([a]);
      const { handle } = createToolCallClosure().begin([a]);
      expect(await closure.track(handle, 'a', 1)).toMatchObject({ accepted: false, reason: 'stale_generation' });
      expect(closure.snapshot()?.calls[0]?.state).toBe('pending');
    });

    test('is asked for its generation once, when track is called', async () => {
      const log: string[] = [];
      const closure = createToolCallClosure();
      closure.begin([a]);
      const handle = {
        get generation() {
          log.push('generation');
          return 3;
        },
      };
      const result = closure.track(handle as never, 'a', 1);
      expect(log).toEqual(['generation']);
      expect(await result).toMatchObject({ generation: 3 });
      expect(log).toEqual(['generation']);
    });
  });

  test('a tool that never settles leaves its call to the one who closes', async () => {
    const closure = createToolCallClosure();
    const { handle } = closure.begin([a, b]);
    let settled = false;
    for (const value of [new Promise(() => {}), { then() {} }]) {
      void closure.track(handle, 'a', value).then(() => (settled = true));
    }
    await closure.track(handle, 'b', 'done');
    await new Promise((resolve) => setImmediate(resolve));
    expect(settled).toBe(false);
    expect((closure.close(handle) as ClosedSnapshot).calls.map((call) => call.state)).toEqual(['cancelled', 'success']);
  });

  test('tracked twice: the first to arrive stays', async () => {
    const closure = createToolCallClosure();
    const { handle } = closure.begin([a]);
    const [slow, fast] = await Promise.all([
      closure.track(handle, 'a', new Promise((resolve) => setImmediate(resolve, 'slow'))),
      closure.track(handle, 'a', 'fast'),
    ]);
    expect(fast).toMatchObject({ accepted: true, settlement: { content: 'fast' } });
    expect(slow).toMatchObject({ accepted: false, reason: 'duplicate_settlement', observedStatus: 'success' });
  });

  test('tools that share the signal of the batch leave one run_closed each', async () => {
    const closure = createToolCallClosure();
    const controller = new AbortController();
    const { signal } = controller;
    const obedient = () =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    const { handle } = closure.begin([a, b], { signal });
    const results = [a, b].map(({ id }) => closure.track(handle, id, obedient()));
    controller.abort();
    expect(await Promise.all(results)).toMatchObject([a, b].map(({ id }) => ({ reason: 'run_closed', callId: id })));
    expect(closure.snapshot()?.diagnostics.map((diagnostic) => diagnostic.observedStatus)).toEqual([
      'cancelled',
      'cancelled',
    ]);
    expect(closure.snapshot()?.calls.map((call) => call.settlement?.provenance)).toEqual(['synthetic', 'synthetic']);
  });

  test('a conversion that closes the batch is refused, and one that settles the call is a duplicate', async () => {
    const closure = createToolCallClosure();
    let handle: BatchHandle;
    for (const [act, reason] of [
      [(h: BatchHandle) => closure.close(h), 'run_closed'],
      [(h: BatchHandle) => closure.fail(h, 'a', 'nested'), 'duplicate_settlement'],
      [() => closure.begin([a]), 'stale_generation'],
    ] as const) {
      for (const value of [
        { toJSON: () => (act(handle), 'x') },
        // Not kept, and refused all the same.
        {
          toJSON() {
            act(handle);
            throw new Error('late');
          },
        },
        { toString: () => (act(handle), 'x') },
      ]) {
        ({ handle } = closure.begin([a]));
        const rejects = !('toJSON' in value);
        expect(await closure.track(handle, 'a', rejects ? Promise.reject(value) : value)).toMatchObject({
          accepted: false,
          reason,
          observedStatus: rejects ? 'error' : 'success',
        });
      }
    }
  });

  test('a then getter may close the batch before the value arrives', async () => {
    const closure = createToolCallClosure();
    const { handle } = closure.begin([a]);
    const value = {
      get then() {
        closure.close(handle, 'nested');
        return undefined;
      },
    };
    expect(await closure.track(handle, 'a', value)).toMatchObject({ reason: 'run_closed', observedStatus: 'success' });
  });

  test('the counter of unhandled rejections counts', async () => {
    expect(await unhandledRejections(() => void Promise.reject(new Error('nobody cares')))).toBe(1);
  });
});
