import defaultExport, { createToolCallClosure, ToolCallClosure, type ToolCallClosureOptions } from 'tool-call-closure';
import { describe, expect, it } from 'vitest';
import { named, open, refuses, wrong } from './support/batch.js';

const NAMES = ['maxCalls', 'maxDiagnostics', 'maxResultBytes', 'maxMessageBytes', 'maxIdBytes', 'maxNameBytes', 'maxCodeBytes'] as const;

describe('options', () => {
  it.each([null, 0, 1, '', 'x', true, 1n, Symbol('s'), [], () => ({})])('%s is a TypeError naming options', (options) => {
    for (const make of [createToolCallClosure, (o: never) => new ToolCallClosure(o)]) {
      expect(() => make(wrong(options))).toThrow(TypeError);
      expect(() => make(wrong(options))).toThrow('options');
    }
  });

  it.each(NAMES)('%s: a safe integer of at least 1, or absent', (name) => {
    for (const value of [0, -1, 1.5, NaN, Infinity, 2 ** 53, '10', 5n, {}, [], true]) {
      expect(() => createToolCallClosure({ [name]: value })).toThrow(TypeError);
      expect(() => createToolCallClosure({ [name]: value })).toThrow(name);
      expect(() => createToolCallClosure({ [name]: value })).toThrow('safe integer of at least 1');
    }
    for (const value of [1, Number.MAX_SAFE_INTEGER, undefined, null]) createToolCallClosure({ [name]: value });
  });

  it('are read once each, in the documented order', () => {
    const read: PropertyKey[] = [];
    new ToolCallClosure(new Proxy({}, { get: (_, key) => void read.push(key) }));
    expect(read).toEqual(NAMES);
  });

  it('are read, not kept', () => {
    const options = { maxCalls: 1 };
    const closure = new ToolCallClosure(options);
    options.maxCalls = 9;
    refuses(closure, () => closure.begin(named('a', 'b')), RangeError, 'maxCalls');
  });

  it('may be an object without a prototype', () => {
    const options = Object.assign(Object.create(null) as object, { maxCalls: 1 });
    refuses(new ToolCallClosure(options), () => new ToolCallClosure(options).begin(named('a', 'b')), RangeError, 'maxCalls');
  });
});

/** One operation at the limit, which passes, and one byte or count above it. `limit` is the default. */
const bounds: Record<(typeof NAMES)[number], { limit: number; at: (n: number, options: ToolCallClosureOptions) => boolean }> = {
  maxCalls: { limit: 1000, at: (n, options) => passes(() => new ToolCallClosure(options).begin(many(n))) },
  maxDiagnostics: {
    limit: 100,
    at(n, options) {
      const { closure, handle } = open([], options);
      for (let i = 0; i < n; i += 1) closure.cancel(handle, `ghost${i}`);
      const kept = closure.snapshot()!.diagnostics;
      expect(kept[0]?.callId).toBe('ghost0');
      expect(closure.droppedDiagnostics).toBe(n - kept.length);
      return kept.length === n;
    },
  },
  maxResultBytes: { limit: 1_048_576, at: (n, options) => passes(() => settles(options, (c, h) => c.succeed(h, 'a', 'x'.repeat(n)))) },
  maxMessageBytes: {
    limit: 4096,
    at: (n, options) => settles(options, (c, h) => c.fail(h, 'a', 'x'.repeat(n))) === 'x'.repeat(n),
  },
  maxIdBytes: { limit: 512, at: (n, options) => passes(() => new ToolCallClosure(options).begin([{ id: 'x'.repeat(n), name: 'n' }])) },
  maxNameBytes: { limit: 512, at: (n, options) => passes(() => new ToolCallClosure(options).begin([{ id: 'a', name: 'x'.repeat(n) }])) },
  maxCodeBytes: { limit: 128, at: (n, options) => passes(() => settles(options, (c, h) => c.fail(h, 'a', 'm', 'x'.repeat(n)))) },
};

const many = (n: number) => Array.from({ length: n }, (_, i) => ({ id: `c${i}`, name: 'n' }));

function settles(options: ToolCallClosureOptions, settle: (closure: ToolCallClosure, handle: ReturnType<typeof open>['handle']) => unknown) {
  const { closure, handle } = open(['a'], options);
  settle(closure, handle);
  const settlement = closure.snapshot()!.calls[0]!.settlement!;
  return settlement.status === 'success' ? settlement.content : settlement.message;
}

function passes(operation: () => unknown): boolean {
  try {
    operation();
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(RangeError);
    return false;
  }
}

describe.each(NAMES)('%s', (name) => {
  const { limit, at } = bounds[name];

  it(`is ${limit} by default, inclusive`, () => {
    expect([at(limit, {}), at(limit + 1, {})]).toEqual([true, false]);
    expect([at(limit, { [name]: null }), at(limit + 1, { [name]: undefined })]).toEqual([true, false]);
  });

  it('can be lowered and raised, and stays inclusive', () => {
    expect([at(4, { [name]: 4 }), at(5, { [name]: 4 })]).toEqual([true, false]);
    expect([at(limit + 5, { [name]: limit + 5 }), at(limit + 6, { [name]: limit + 5 })]).toEqual([true, false]);
  });
});

describe('code limits', () => {
  it('exempt the built-in codes', () => {
    const { closure, handle } = open(['a', 'b', 'c', 'd'], { maxCodeBytes: 1 });
    closure.fail(handle, 'a', 'x');
    closure.cancel(handle, 'b');
    closure.settle(handle, 'c', { status: 'error' });
    closure.close(handle, new DOMException('x', 'TimeoutError'));
    const codes = closure.snapshot()!.calls.map(({ settlement }) => settlement?.status !== 'success' && settlement?.code);
    expect(codes).toEqual(['tool_error', 'cancelled', 'error', 'timeout']);
    expect(closure.begin(named('a')).superseded).toBeNull();
    expect(closure.begin([]).superseded?.closeReason).toMatchObject({ code: 'superseded' });
  });

  it('hold for a call id that is reported, also with a stale handle', () => {
    const { closure, handle } = open(['a'], { maxIdBytes: 4 });
    for (const [callId, kind] of [['', TypeError], [' ', TypeError], ['\ud83d', TypeError], [7, TypeError], [undefined, TypeError], ['abcde', RangeError]] as const) {
      const culprits = kind === RangeError ? ['callId', 'maxIdBytes'] : ['callId'];
      for (const h of [handle, wrong(null), wrong({ generation: 9 })]) {
        refuses(closure, () => closure.settle(h, wrong(callId), { status: 'error' }), kind, ...culprits);
        refuses(closure, () => closure.succeed(h, wrong(callId), 1), kind, ...culprits);
        refuses(closure, () => closure.fail(h, wrong(callId), 1), kind, ...culprits);
        refuses(closure, () => closure.cancel(h, wrong(callId)), kind, ...culprits);
        refuses(closure, () => closure.track(h, wrong(callId), 1), kind, ...culprits);
      }
    }
  });
});

it('a fault of a single label is named by its own path, and says nothing of a batch', () => {
  const { closure, handle } = open(['a']);
  for (const [operation, path] of [
    [() => closure.succeed(handle, '', 1), 'callId'],
    [() => closure.succeed(handle, 'x'.repeat(513), 1), 'callId'],
    [() => closure.fail(handle, 'a', 1, ''), 'code'],
  ] as const) {
    expect(operation).toThrow(new RegExp(`^${path} (?!.*registered)`));
  }
});

describe('a label', () => {
  it('is judged by its kind before its length', () => {
    const blank = ' '.repeat(9);
    const illFormed = `${'x'.repeat(9)}\ud83d`;
    const { closure, handle } = open(['a'], { maxIdBytes: 8, maxNameBytes: 8, maxCodeBytes: 8 });
    for (const bad of [blank, illFormed]) {
      refuses(closure, () => closure.begin([{ id: bad, name: 'n' }]), TypeError, 'calls[0].id');
      refuses(closure, () => closure.begin([{ id: 'a', name: bad }]), TypeError, 'calls[0].name');
      refuses(closure, () => closure.cancel(handle, bad), TypeError, 'callId');
      refuses(closure, () => closure.fail(handle, 'a', 'm', bad), TypeError, 'code');
      refuses(closure, () => closure.close(handle, { code: bad }), TypeError, 'reason.code');
    }
  });

  it('may be as long as its limit in a report too', () => {
    const [id, code] = ['é'.repeat(4), 'ж'.repeat(4)];
    const { closure, handle } = open([id], { maxIdBytes: 8, maxCodeBytes: 8 });
    expect(closure.fail(handle, id, 'm', code)).toMatchObject({ accepted: true, callId: id, settlement: { code } });
  });

  it('is kept and looked up untrimmed', () => {
    const { closure, handle } = open([' a ', 'b', 'c']);
    expect(closure.cancel(handle, 'a')).toMatchObject({ reason: 'unknown_call', callId: 'a' });
    expect(closure.cancel(handle, ' b')).toMatchObject({ reason: 'unknown_call', callId: ' b' });
    expect(closure.fail(handle, ' a ', 'm', ' E ')).toMatchObject({ callId: ' a ', settlement: { code: ' E ' } });
    expect(closure.settle(handle, 'b', { status: 'error', code: '\tE\n' })).toMatchObject({ settlement: { code: '\tE\n' } });
    expect(closure.close(handle, { code: ' stop ' })).toMatchObject({ closeReason: { code: ' stop ' } });
  });
});

it('the default export holds the two named exports', () => {
  expect(defaultExport).toMatchObject({ ToolCallClosure, createToolCallClosure });
  expect(createToolCallClosure()).toBeInstanceOf(ToolCallClosure);
});
