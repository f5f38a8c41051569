import type { Outcome } from 'tool-call-closure';
import { describe, expect, it, vi } from 'vitest';
import { deeplyFrozen, open, refuses, wrong } from './support/batch.js';
import { messages } from './support/messages.js';

/** Settles one call and gives the settlement that the result and the snapshot both hold. */
function settlementOf(settle: (batch: ReturnType<typeof open>) => unknown, options = {}) {
  const batch = open(['a'], options);
  const result = settle(batch) as { settlement: unknown };
  const call = batch.closure.snapshot()!.calls[0]!;
  expect(call).toMatchObject({ id: 'a', name: 'tool_a' });
  expect(call.state).toBe(call.settlement!.status);
  expect(result).toEqual({ accepted: true, generation: 1, callId: 'a', settlement: call.settlement });
  expect(result.settlement).toBe(call.settlement);
  expect(Object.keys(result)).toEqual(['accepted', 'generation', 'callId', 'settlement']);
  expect(deeplyFrozen(result)).toBe(true);
  return call.settlement;
}

const withOutcome = (outcome: unknown, options = {}) =>
  settlementOf(({ closure, handle }) => closure.settle(handle, 'a', outcome as Outcome), options);

describe('settle with a success', () => {
  it.each<[string, unknown, string]>([
    ['a string', 'plain "text"', 'plain "text"'],
    ['an empty string', '', ''],
    ['an object', { a: [1, null], b: undefined }, '{"a":[1,null]}'],
    ['an array', [undefined, 1], '[null,1]'],
    ['a number', 1.5, '1.5'],
    ['NaN', NaN, 'null'],
    ['a boolean', false, 'false'],
    ['null', null, 'null'],
    ['a date', new Date(0), '"1970-01-01T00:00:00.000Z"'],
    ['an object with toJSON', { toJSON: () => 'x' }, '"x"'],
    ['a String object', new String('s'), '"s"'],
    ['an object with a `then` that is no function', { then: 1 }, '{"then":1}'],
    ['a string with a pair', 'ok \ud83d\ude00', 'ok \ud83d\ude00'],
    ['a string with a lone surrogate', 'ok \ud83d!', 'ok \ufffd!'],
    ['an object that holds a lone surrogate', { v: '\ud83d' }, '{"v":"\\ud83d"}'],
  ])('%s', (_, content, text) => {
    const settlement = withOutcome({ status: 'success', content });
    expect(settlement).toEqual({ status: 'success', content: text, provenance: 'reported' });
    expect(Object.keys(settlement!)).toEqual(['status', 'content', 'provenance']);
    expect(settlementOf(({ closure, handle }) => closure.succeed(handle, 'a', content))).toEqual(settlement);
  });

  it.each<[string, unknown, string]>([
    ['undefined', undefined, 'content'],
    ['a function', () => 0, 'content'],
    ['a symbol', Symbol('s'), 'content'],
    ['toJSON that gives undefined', { toJSON: () => undefined }, 'content'],
    ['toJSON that gives a function', { toJSON: () => () => 0 }, 'content'],
    ['a promise', Promise.resolve(1), 'await'],
    ['a thenable', { then() {} }, 'await'],
    ['a function that is a thenable', Object.assign(() => 0, { then() {} }), 'await'],
    ['a BigInt', 1n, 'BigInt'],
    ['a BigInt inside', { n: 1n }, 'BigInt'],
    ['a cycle', (() => { const o: { o?: unknown } = {}; o.o = o; return o; })(), 'circular'],
  ])('%s is a TypeError, and the call stays pending', (_, content, culprit) => {
    const { closure, handle } = open(['a']);
    refuses(closure, () => closure.settle(handle, 'a', { status: 'success', content }), TypeError, culprit);
    refuses(closure, () => closure.succeed(handle, 'a', content), TypeError, culprit);
    expect(closure.succeed(handle, 'a', 'again').accepted).toBe(true);
  });

  it.each<[string, unknown]>([
    ['ASCII', 'x'.repeat(10)],
    ['two-byte text', 'é'.repeat(5)],
    ['three-byte text', `${'漢'.repeat(3)}x`],
    ['four-byte text', '\u{1F600}'.repeat(2) + 'xy'],
    ['lone surrogates, of three bytes each', '\ud83d\ud83d\ud83dx'],
    ['JSON text', { v: 'xx' }],
  ])('%s at the limit passes; one byte more is a RangeError', (_, content) => {
    const more = typeof content === 'string' ? `${content}x` : { v: 'xxx' };
    const { closure, handle } = open(['a'], { maxResultBytes: 10 });
    refuses(closure, () => closure.succeed(handle, 'a', more), RangeError, 'content', 'maxResultBytes', '10');
    expect(closure.succeed(handle, 'a', content).accepted).toBe(true);
  });

  it('JSON text is not searched for lone surrogates: JSON.stringify has escaped them', () => {
    const search = vi.spyOn(String.prototype as unknown as { toWellFormed(): string }, 'toWellFormed');
    const { closure, handle } = open(['a', 'b']);
    const searched = (callId: string, content: unknown) => {
      search.mockClear();
      closure.succeed(handle, callId, content);
      return search.mock.contexts.map(String).filter((text) => text.includes('漢'));
    };
    expect(searched('a', { v: '漢' })).toEqual([]);
    expect(searched('b', '漢')).toEqual(['漢']);
    search.mockRestore();
  });

  it('a well-formed string is stored as it is, not copied', () => {
    const text = 'x'.repeat(1000);
    expect((withOutcome({ status: 'success', content: text }) as { content: string }).content).toBe(text);
  });
});

describe.each([
  ['error', 'Tool call failed.'],
  ['cancelled', 'Tool call was cancelled.'],
] as const)('settle with %s', (status, absent) => {
  it('needs nothing but the status', () => {
    const settlement = withOutcome({ status });
    expect(settlement).toEqual({ status, code: status, message: absent, provenance: 'reported' });
    expect(Object.keys(settlement!)).toEqual(['status', 'code', 'message', 'provenance']);
    expect(withOutcome({ status, code: null, message: null, sideEffectState: null })).toEqual(settlement);
  });

  it.each(['unknown', 'not_started', 'completed'])('keeps the side-effect state %s, as the last key', (sideEffectState) => {
    const settlement = withOutcome({ status, code: 'denied', message: 'No.', sideEffectState });
    expect(settlement).toEqual({ status, code: 'denied', message: 'No.', provenance: 'reported', sideEffectState });
    expect(Object.keys(settlement!)).toEqual(['status', 'code', 'message', 'provenance', 'sideEffectState']);
  });

  it('ignores content', () => {
    const outcome = { status, get content() { throw new Error('read'); } };
    expect(withOutcome(outcome)).toMatchObject({ status });
  });

  it.each(messages)('takes as its message %s', (_, message, text) => {
    expect(withOutcome({ status, message })).toMatchObject({ message: text ?? absent });
  });

  it('truncates the default message too', () => {
    expect(withOutcome({ status }, { maxMessageBytes: 8 })).toMatchObject({ message: 'Tool ...' });
  });

  it.each<[string, object, typeof TypeError | typeof RangeError, string[]]>([
    ['a number as code', { code: 1 }, TypeError, ['outcome.code']],
    ['an empty code', { code: '' }, TypeError, ['outcome.code']],
    ['a blank code', { code: ' ' }, TypeError, ['outcome.code']],
    ['an ill-formed code', { code: '\ud83d' }, TypeError, ['outcome.code']],
    ['a long code', { code: 'x'.repeat(129) }, RangeError, ['outcome.code', 'maxCodeBytes', '128']],
    ['an unknown side-effect state', { sideEffectState: 'started' }, TypeError, ['outcome.sideEffectState', 'not_started']],
    ['an empty side-effect state', { sideEffectState: '' }, TypeError, ['outcome.sideEffectState']],
  ])('%s throws, and the call stays pending', (_, fields, kind, culprits) => {
    const { closure, handle } = open(['a']);
    refuses(closure, () => closure.settle(handle, 'a', wrong({ status, ...fields })), kind, ...culprits);
  });

  it('lets out what a message throws, unchanged', () => {
    const boom = new Error('boom');
    const { closure, handle } = open(['a']);
    for (const message of [{ get message() { throw boom; } }, { toString() { throw boom; } }]) {
      expect(() => closure.settle(handle, 'a', { status, message })).toThrow(boom);
    }
    expect(closure.snapshot()!.calls[0]!.state).toBe('pending');
  });
});

describe('settle refuses as misuse', () => {
  it.each<[string, unknown, string]>([
    ['null', null, 'outcome'],
    ['undefined', undefined, 'outcome'],
    ['a string', 'success', 'outcome'],
    ['an array', Object.assign([], { status: 'success', content: 1 }), 'outcome'],
    ['a function', Object.assign(() => 0, { status: 'success', content: 1 }), 'outcome'],
    ['no status', { content: 1 }, 'outcome.status'],
    ['an unknown status', { status: 'done', content: 1 }, 'outcome.status'],
    ['a String object as status', { status: new String('success'), content: 1 }, 'outcome.status'],
  ])('%s', (_, outcome, culprit) => {
    const { closure, handle } = open(['a']);
    refuses(closure, () => closure.settle(handle, 'a', wrong(outcome)), TypeError, culprit);
  });
});

describe('a value that is no good throws, whatever it did to the batch while it was read', () => {
  type Batch = ReturnType<typeof open>;

  it.each<[string, (batch: Batch) => unknown, object]>([
    ['closed it', ({ closure, handle }) => closure.close(handle), { generation: 1, closed: true }],
    ['settled the call', ({ closure, handle }) => closure.fail(handle, 'a', 'm'), { calls: [{ state: 'error' }] }],
    ['replaced it', ({ closure }) => closure.begin([]), { generation: 2, closed: false }],
  ])('%s', (_, act, left) => {
    const values: ((nested: () => void) => unknown)[] = [
      (nested) => ({ status: 'success', content: { toJSON: nested } }),
      (nested) => ({ status: 'success', get content() { nested(); return Promise.resolve(); } }),
      (nested) => ({ status: 'error', get code() { nested(); return ''; } }),
      (nested) => ({ status: 'error', get sideEffectState() { nested(); return 'started'; } }),
    ];
    for (const value of values) {
      const batch = open(['a']);
      const outcome = value(() => void act(batch));
      expect(() => batch.closure.settle(batch.handle, 'a', wrong(outcome))).toThrow(TypeError);
      expect(batch.closure.snapshot()).toMatchObject({ ...left, diagnostics: [] });
    }
  });
});

describe('fail', () => {
  it.each(messages)('keeps the message text of %s', (_, error, text) => {
    expect(settlementOf(({ closure, handle }) => closure.fail(handle, 'a', error))).toEqual({
      status: 'error', code: 'tool_error', message: text ?? 'Tool call failed.', provenance: 'reported',
    });
  });
});

describe('cancel', () => {
  it.each(messages)('keeps the message text of %s', (_, message, text) => {
    expect(settlementOf(({ closure, handle }) => closure.cancel(handle, 'a', message))).toEqual({
      status: 'cancelled', code: 'cancelled', message: text ?? 'Tool call was cancelled.', provenance: 'reported',
    });
  });
});

describe.each([
  ['fail', 'tool_error', 'Tool call failed.'],
  ['cancel', 'cancelled', 'Tool call was cancelled.'],
] as const)('%s runs in catch blocks', (method, code, absent) => {
  const throwing = (key: PropertyKey) => Object.defineProperty({}, key, { get() { throw new Error('trap'); } });
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();

  it.each<[string, unknown]>([
    ['a throwing message getter', throwing('message')],
    ['a throwing toString', { toString() { throw new Error('x'); } }],
    ['a throwing toPrimitive', { [Symbol.toPrimitive]() { throw new Error('x'); } }],
    ['an object that has no text', Object.create(null)],
    ['a throwing errors getter', Object.assign(throwing('errors'), { message: '' })],
    ['a throwing name getter', Object.assign(throwing('name'), { message: '' })],
    ['a revoked proxy', revoked.proxy],
    ['a throwing inner message', { message: '', errors: [throwing('message')] }],
  ])('so %s gives the default text', (_, value) => {
    expect(settlementOf(({ closure, handle }) => closure[method](handle, 'a', value))).toMatchObject({ code, message: absent });
  });

  it.each([undefined, null, 5, {}, [], Symbol('s')])('so a code that is no string (%s) counts as absent', (given) => {
    expect(settlementOf(({ closure, handle }) => closure[method](handle, 'a', 'm', wrong(given)))).toMatchObject({ code });
  });

  it('takes a code', () => {
    expect(settlementOf(({ closure, handle }) => closure[method](handle, 'a', 'm', 'E_IO'))).toMatchObject({ code: 'E_IO', message: 'm' });
  });

  it.each<[string, string, typeof TypeError | typeof RangeError, string[]]>([
    ['empty', '', TypeError, ['code']],
    ['blank', '\n', TypeError, ['code']],
    ['ill-formed', 'x\udfff', TypeError, ['code']],
    ['too long', 'é'.repeat(65), RangeError, ['code', 'maxCodeBytes', '128']],
  ])('but a code string that is %s throws', (_, given, kind, culprits) => {
    const { closure, handle } = open(['a']);
    refuses(closure, () => closure[method](handle, 'a', 'm', given), kind, ...culprits);
  });
});

describe('a refusal', () => {
  const settled = () => {
    const batch = open(['a', 'b']);
    batch.closure.succeed(batch.handle, 'a', 1);
    return batch;
  };

  it.each<[string, unknown, unknown]>([
    ['success', { status: 'success', content: 1 }, 'success'],
    ['error', { status: 'error' }, 'error'],
    ['cancelled', { status: 'cancelled' }, 'cancelled'],
    ['another status', { status: 'done' }, 'invalid'],
    ['a status of another type', { status: 7 }, 'invalid'],
    ['an empty status', { status: '' }, 'invalid'],
    ['a status of zero', { status: 0 }, 'invalid'],
    ['a false status', { status: false }, 'invalid'],
    ['no status', {}, null],
    ['a null status', { status: null }, null],
    ['no outcome', undefined, null],
    ['null', null, null],
    ['a primitive', 5, null],
  ])('records what was observed: %s', (_, outcome, observedStatus) => {
    for (const [callId, reason] of [['a', 'duplicate_settlement'], ['ghost', 'unknown_call']] as const) {
      const { closure, handle } = settled();
      const refusal = closure.settle(handle, callId, wrong(outcome));
      expect(refusal).toEqual({ accepted: false, reason, callId, generation: 1, observedStatus });
      expect(Object.keys(refusal)).toEqual(['accepted', 'reason', 'callId', 'generation', 'observedStatus']);
      const { diagnostics } = closure.snapshot()!;
      expect(diagnostics).toEqual([{ reason, callId, generation: 1, observedStatus }]);
      expect(Object.keys(diagnostics[0]!)).toEqual(['reason', 'callId', 'generation', 'observedStatus']);
      expect(deeplyFrozen(refusal) && deeplyFrozen(diagnostics)).toBe(true);
    }
  });

  it('has the status of its shorthand', () => {
    const { closure, handle } = settled();
    closure.succeed(handle, 'a', 1);
    closure.fail(handle, 'a', 1);
    closure.cancel(handle, 'a');
    expect(closure.snapshot()!.diagnostics.map((d) => d.observedStatus)).toEqual(['success', 'error', 'cancelled']);
  });

  it.each<[string, unknown, number | null]>([
    ['null', null, null],
    ['undefined', undefined, null],
    ['a number', 5, null],
    ['a copy', { generation: 1 }, 1],
    ['a claim of the future', { generation: 99 }, 99],
    ['zero', { generation: 0 }, null],
    ['a negative number', { generation: -1 }, null],
    ['a fraction', { generation: 1.5 }, null],
    ['an unsafe number', { generation: 2 ** 53 }, null],
    ['a string', { generation: '1' }, null],
  ])('has the generation that the handle claims: %s', (_, handle, generation) => {
    const { closure } = settled();
    expect(closure.succeed(wrong(handle), 'b', 1)).toMatchObject({ reason: 'stale_generation', generation });
    expect(closure.fail(wrong(handle), 'b', 1)).toMatchObject({ reason: 'stale_generation', generation });
    expect(closure.cancel(wrong(handle), 'b')).toMatchObject({ reason: 'stale_generation', generation });
    expect(closure.settle(wrong(handle), 'b', { status: 'error' })).toMatchObject({ reason: 'stale_generation', generation });
  });

  it('comes in the order stale, closed, unknown, duplicate', () => {
    const { closure, handle } = settled();
    const reason = (h: unknown, id: string) => closure.succeed(wrong(h), id, 1);
    expect(reason({}, 'ghost')).toMatchObject({ reason: 'stale_generation' });
    expect(reason(handle, 'ghost')).toMatchObject({ reason: 'unknown_call' });
    expect(reason(handle, 'a')).toMatchObject({ reason: 'duplicate_settlement' });
    closure.close(handle);
    for (const id of ['a', 'b', 'ghost']) expect(reason(handle, id)).toMatchObject({ reason: 'run_closed' });
    closure.begin([]);
    expect(reason(handle, 'a')).toMatchObject({ reason: 'stale_generation' });
  });

  it('reads nothing of what it refuses beyond the status', () => {
    const { closure, handle } = settled();
    const unread = new Proxy({}, { get() { throw new Error('read'); }, getPrototypeOf() { throw new Error('read'); } });
    const outcome = new Proxy({ status: 'error' }, { get: (target, key) => { if (key !== 'status') throw new Error('read'); return target.status; } });
    expect(closure.settle(handle, 'a', wrong(outcome))).toMatchObject({ reason: 'duplicate_settlement', observedStatus: 'error' });
    expect(closure.succeed(handle, 'a', unread).accepted).toBe(false);
    expect(closure.fail(handle, 'a', unread, '').accepted).toBe(false);
    expect(closure.cancel(handle, 'a', unread, '').accepted).toBe(false);
  });

  it('leaves the first settlement in place', () => {
    const { closure, handle } = settled();
    const [first] = closure.snapshot()!.calls;
    closure.fail(handle, 'a', 'second');
    expect(closure.snapshot()!.calls[0]).toBe(first);
  });
});
