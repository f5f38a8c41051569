import vm from 'node:vm';
import { ToolCallClosure } from 'tool-call-closure';
import { describe, expect, it } from 'vitest';
import { messages } from './support/messages.js';
import { deeplyFrozen, named, open, refuses, wrong } from './support/batch.js';

const CANCELLED = 'Tool call was cancelled.';
const DEFAULTS = { status: 'cancelled', code: 'cancelled', message: CANCELLED, sideEffectState: 'unknown' };
const elsewhere = (source: string): unknown => vm.runInNewContext(source);

/** Closes a batch of which `a` is reported and `b` pending, and gives the close reason. */
function closeReason(reason: unknown, options = {}) {
  const { closure, handle } = open(['a', 'b'], options);
  closure.succeed(handle, 'a', 'kept');
  const view = closure.close(handle, wrong(reason));
  if (view.accepted === false) throw new Error('refused');
  expect(view.calls[0]!.settlement).toEqual({ status: 'success', content: 'kept', provenance: 'reported' });
  const settlement = view.calls[1]!.settlement;
  expect(view.closeReason).toEqual({ ...settlement, provenance: undefined });
  expect(settlement.provenance).toBe('synthetic');
  expect(view.calls[1]!.state).toBe(view.closeReason.status);
  expect(Object.keys(settlement)).toEqual(['status', 'code', 'message', 'provenance', 'sideEffectState']);
  expect(Object.keys(view.closeReason)).toEqual(['status', 'code', 'message', 'sideEffectState']);
  expect(deeplyFrozen(view)).toBe(true);
  expect(closure.snapshot()).toBe(view);
  return view.closeReason;
}

describe('close', () => {
  it.each<[string, unknown, object]>([
    ['nothing', undefined, {}],
    ['null', null, {}],
    ['a string', 'Stopped by the user.', { message: 'Stopped by the user.' }],
    ['an empty string', '', { message: '' }],
    ['an ill-formed string', 'x\ud83d', { message: 'x\ufffd' }],
    ['an empty object', {}, {}],
    ['nulls', { status: null, code: null, message: null, sideEffectState: null }, {}],
    ['status cancelled', { status: 'cancelled' }, {}],
    ['status error', { status: 'error' }, { status: 'error', code: 'error', message: 'Tool call did not complete.' }],
    ['all fields', { status: 'error', code: 'step_limit', message: 'Enough.', sideEffectState: 'not_started' }, { status: 'error', code: 'step_limit', message: 'Enough.', sideEffectState: 'not_started' }],
    ['a name on a plain object, which is no Error', { name: 'AbortError', message: 'm' }, { message: 'm' }],
    ['an Error', new Error('boom'), { message: 'boom' }],
    ['an Error without a message', new TypeError(), { message: 'TypeError' }],
    ['an Error with a code', Object.assign(new Error('boom'), { code: 'E_CONN' }), { code: 'E_CONN', message: 'boom' }],
    ['an Error with a numeric code and status', Object.assign(new Error('rate limited'), { code: 429, status: 429 }), { message: 'rate limited' }],
    ['an Error with a numeric status and a code', Object.assign(new Error('slow down'), { code: 'rate_limit_exceeded', status: 429 }), { code: 'rate_limit_exceeded', message: 'slow down' }],
    ['an Error whose status is a valid one', Object.assign(new Error('m'), { status: 'error', sideEffectState: 'not_started' }), { message: 'm' }],
    ['an Error with a blank code', Object.assign(new Error('m'), { code: ' ' }), { message: 'm' }],
    ['an Error with an ill-formed code', Object.assign(new Error('m'), { code: '\ud83d' }), { message: 'm' }],
    ['an Error with a long code', Object.assign(new Error('m'), { code: 'x'.repeat(129) }), { message: 'm' }],
    ['an AbortError', new DOMException('This operation was aborted', 'AbortError'), { code: 'aborted', message: 'This operation was aborted' }],
    ['a TimeoutError', new DOMException('too late', 'TimeoutError'), { code: 'timeout', message: 'too late' }],
    ['an AbortError with a code of its own', Object.assign(new Error('m'), { name: 'AbortError', code: 'ABORT_ERR' }), { code: 'ABORT_ERR', message: 'm' }],
    ['an AggregateError', new AggregateError([new Error('inner')]), { message: 'inner' }],
    ['an Error of another realm', elsewhere("Object.assign(new RangeError('far'), { name: 'TimeoutError' })"), { code: 'timeout', message: 'far' }],
    ['an object tagged as an Error', { [Symbol.toStringTag]: 'Error', message: 'tagged', status: 7 }, { message: 'tagged' }],
    ['an object tagged as a DOMException', { [Symbol.toStringTag]: 'DOMException', name: 'AbortError', message: 'tagged', code: 20 }, { code: 'aborted', message: 'tagged' }],
    ['an object that inherits from Error', Object.create(new Error('inherited')), { message: 'inherited' }],
    ['an Error whose message is no string', Object.assign(new Error(), { message: 5, toString: () => 'told' }), { message: 'told' }],
  ])('understands %s', (_, reason, expected) => {
    expect(closeReason(reason)).toEqual({ ...DEFAULTS, ...expected });
  });

  it.each(messages)('keeps the message text of %s in `message`', (_, message, text) => {
    expect(closeReason({ message })).toEqual({ ...DEFAULTS, message: text ?? CANCELLED });
  });

  it('truncates, the default text too', () => {
    expect(closeReason('x'.repeat(99), { maxMessageBytes: 9 })).toMatchObject({ message: 'xxxxxx...' });
    expect(closeReason(undefined, { maxMessageBytes: 9 })).toMatchObject({ message: 'Tool c...' });
    expect(closeReason(new Error('x'.repeat(99)), { maxMessageBytes: 9 })).toMatchObject({ message: 'xxxxxx...' });
  });

  it.each<[string, unknown, typeof TypeError | typeof RangeError, string[]]>([
    ['a number', 5, TypeError, ['reason']],
    ['a boolean', true, TypeError, ['reason']],
    ['a BigInt', 1n, TypeError, ['reason']],
    ['a symbol', Symbol('s'), TypeError, ['reason']],
    ['an array', [], TypeError, ['reason']],
    ['a function', () => 0, TypeError, ['reason']],
    ['a function that inherits from Error', Object.setPrototypeOf(() => 0, Error.prototype), TypeError, ['reason']],
    ['status success', { status: 'success' }, TypeError, ['reason.status']],
    ['status complete', { status: 'complete' }, TypeError, ['reason.status']],
    ['a numeric status', { status: 500 }, TypeError, ['reason.status']],
    ['a numeric code', { code: 5 }, TypeError, ['reason.code']],
    ['a blank code', { code: '' }, TypeError, ['reason.code']],
    ['an ill-formed code', { code: '\ud83d' }, TypeError, ['reason.code']],
    ['a long code', { code: 'x'.repeat(129) }, RangeError, ['reason.code', 'maxCodeBytes', '128']],
    ['side effects completed', { sideEffectState: 'completed' }, TypeError, ['reason.sideEffectState']],
    ['unknown side effects', { sideEffectState: 'maybe' }, TypeError, ['reason.sideEffectState']],
  ])('refuses %s and leaves everything open', (_, reason, kind, culprits) => {
    const { closure, handle } = open(['a']);
    refuses(closure, () => closure.close(handle, wrong(reason)), kind, ...culprits);
    expect(closure.succeed(handle, 'a', 1).accepted).toBe(true);
  });

  it('lets out what a reason throws, unchanged, and leaves everything open', () => {
    const boom = new Error('boom');
    const trap = (key: PropertyKey, base: object = {}) => Object.defineProperty(base, key, { get() { throw boom; } });
    const { closure, handle } = open(['a']);
    for (const reason of [trap('status'), trap('code'), trap('sideEffectState'), trap('message'), trap('code', new Error()), trap('name', new Error()), trap('message', new Error())]) {
      expect(() => closure.close(handle, wrong(reason))).toThrow(boom);
    }
    expect(closure.snapshot()!.closed).toBe(false);
  });

  it('shares one synthetic settlement between the calls it closes', () => {
    const { closure, handle } = open(['a', 'b', 'c']);
    closure.close(handle);
    const settlements = new Set(closure.snapshot()!.calls.map(({ settlement }) => settlement));
    expect(settlements.size).toBe(1);
  });
});

describe('close and seal', () => {
  it('seal with every call reported: complete', () => {
    const { closure, handle } = open(['a']);
    closure.fail(handle, 'a', 'x');
    const view = closure.seal(handle);
    expect(view).toMatchObject({ generation: 1, closed: true, closeReason: { status: 'complete' } });
    expect(Object.keys((view as { closeReason: object }).closeReason)).toEqual(['status']);
    expect(deeplyFrozen(view)).toBe(true);
    expect(closure.snapshot()).toBe(view);
  });

  it('seal with a pending call is refused, and recorded', () => {
    const { closure, handle } = open(['a', 'b']);
    closure.succeed(handle, 'a', 1);
    const refusal = { reason: 'pending_calls', callId: null, generation: 1, observedStatus: null };
    expect(closure.seal(handle)).toEqual({ accepted: false, ...refusal });
    expect(closure.snapshot()).toMatchObject({ closed: false, diagnostics: [refusal] });
  });

  it('are idempotent: the first reason stands, and a new one is not even read', () => {
    const unread = new Proxy({}, { get() { throw new Error('read'); }, getPrototypeOf() { throw new Error('read'); } });
    const { closure, handle } = open(['a']);
    const view = closure.close(handle, 'first');
    expect(closure.close(handle, unread)).toBe(view);
    expect(closure.close(handle, wrong(5))).toBe(view);
    expect(closure.seal(handle)).toBe(view);
    expect(view).toMatchObject({ closeReason: { message: 'first' } });
  });

  it('close after seal keeps complete', () => {
    const { closure, handle } = open([]);
    const view = closure.seal(handle);
    expect(closure.close(handle, 'later')).toBe(view);
    expect(closure.seal(handle)).toBe(view);
    expect(view).toMatchObject({ closeReason: { status: 'complete' } });
  });

  it('close with nothing pending keeps every report and its own reason', () => {
    const { closure, handle } = open(['a']);
    closure.succeed(handle, 'a', 1);
    expect(closure.close(handle, 'enough')).toMatchObject({ closeReason: { message: 'enough' }, calls: [{ state: 'success' }] });
  });

  it('give the current snapshot once closed, with the refusals since', () => {
    const { closure, handle } = open(['a']);
    const view = closure.close(handle);
    closure.succeed(handle, 'a', 1);
    expect(closure.close(handle)).toBe(closure.snapshot());
    expect(closure.seal(handle)).toBe(closure.snapshot());
    expect(closure.snapshot()).not.toBe(view);
    expect(closure.snapshot()).toMatchObject({ diagnostics: [{ reason: 'run_closed' }] });
  });

  it.each(['close', 'seal'] as const)('%s refuses a stale handle, and reads no reason', (method) => {
    const { closure, handle } = open(['a']);
    closure.begin(named('b'));
    for (const [stale, generation] of [[handle, 1], [{ generation: 2 }, 2], [null, null], [undefined, null], [7, null]] as const) {
      const refusal = { reason: 'stale_generation', callId: null, generation, observedStatus: null };
      expect(closure[method](wrong(stale), wrong(5))).toEqual({ accepted: false, ...refusal });
      expect(closure.snapshot()!.diagnostics.at(-1)).toEqual(refusal);
    }
    expect(closure.snapshot()).toMatchObject({ closed: false, calls: [{ state: 'pending' }] });
  });

  it.each(['close', 'seal'] as const)('%s refuses before the first begin', (method) => {
    const closure = new ToolCallClosure();
    expect(closure[method](wrong(null))).toMatchObject({ accepted: false, reason: 'stale_generation' });
    expect(closure.snapshot()).toBeNull();
  });
});

describe('close with caller code inside its reason', () => {
  const during = (action: () => void) => ({ get message() { action(); return 'outer'; } });

  it('returns the existing snapshot if the batch was closed meanwhile', () => {
    const { closure, handle } = open(['a']);
    let inner: unknown;
    const view = closure.close(handle, during(() => { inner = closure.close(handle, 'inner'); }));
    expect(view).toBe(inner);
    expect(view).toMatchObject({ closeReason: { message: 'inner' } });
  });

  it('refuses if the batch was replaced meanwhile, and never returns the new one', () => {
    const { closure, handle } = open(['a']);
    const view = closure.close(handle, during(() => void closure.begin(named('b'))));
    expect(view).toEqual({ accepted: false, reason: 'stale_generation', callId: null, generation: 1, observedStatus: null });
    expect(closure.snapshot()).toMatchObject({ generation: 2, closed: false, diagnostics: [{ reason: 'stale_generation' }] });
  });

  it('throws for a part that is no good, also where reading it closed or replaced the batch', () => {
    const { closure, handle } = open(['a']);
    const blank = (action: () => void) => ({ get code() { action(); return ' '; } });
    expect(() => closure.close(handle, blank(() => void closure.close(handle, 'inner')))).toThrow('reason.code');
    expect(closure.snapshot()).toMatchObject({ closeReason: { message: 'inner' }, diagnostics: [] });
    const next = closure.begin(named('b')).handle;
    expect(() => closure.close(next, blank(() => void closure.begin([])))).toThrow('reason.code');
    expect(closure.snapshot()).toMatchObject({ generation: 3, closed: false, diagnostics: [] });
  });

  it('keeps what was reported meanwhile', () => {
    const { closure, handle } = open(['a', 'b']);
    const view = closure.close(handle, during(() => void closure.succeed(handle, 'a', 1)));
    expect(view).toMatchObject({ calls: [{ state: 'success' }, { state: 'cancelled' }] });
  });
});
