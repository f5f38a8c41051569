import { getEventListeners } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  createToolCallClosure,
  type AbortSignalLike,
  type BatchHandle,
  type BeginOptions,
  type ClosedSnapshot,
  type ToolCallClosure,
} from 'tool-call-closure';
import { describe, expect, test } from 'vitest';
import { fakeSignal, type FakeSignal, type SignalHooks } from './support/fake-signal.js';

const a = { id: 'a', name: 'read' };
const b = { id: 'b', name: 'write' };

const DEFAULTS = {
  status: 'cancelled',
  code: 'aborted',
  message: 'Tool call was cancelled.',
  sideEffectState: 'unknown',
};

/** Begins with options that the types refuse. */
const beginWith = (closure: ToolCallClosure, options: unknown, calls: unknown = [a, b]) =>
  closure.begin(calls as never, options as BeginOptions);

const thrown = (operation: () => unknown): unknown => {
  try {
    operation();
  } catch (error) {
    return error;
  }
  throw new Error('it did not throw');
};

const closedSnapshot = (closure: ToolCallClosure): ClosedSnapshot => {
  const snapshot = closure.snapshot();
  if (!snapshot?.closed) throw new Error('the batch is open');
  return snapshot;
};

describe('options of begin', () => {
  test.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['an empty object', {}],
    ['signal undefined', { signal: undefined }],
    ['signal null', { signal: null }],
    ['an object without prototype', Object.create(null)],
    ['unknown fields', { signals: 1, timeout: 5 }],
  ])('%s is no signal', (_, options) => {
    const closure = createToolCallClosure();
    const { handle } = beginWith(closure, options);
    expect(closure.snapshot()).toMatchObject({ generation: 1, closed: false });
    expect(closure.succeed(handle, 'a', 1).accepted).toBe(true);
  });

  const wrongOptions: [string, unknown][] = [
    ['a number', 0],
    ['a string', ''],
    ['a boolean', true],
    ['a BigInt', 1n],
    ['a symbol', Symbol('s')],
    ['an empty array', []],
    ['an array with a signal in it', [new AbortController().signal]],
    ['a function', () => undefined],
    ['a function with a signal on it', Object.assign(() => undefined, { signal: null })],
  ];
  const wrongSignals: [string, unknown][] = [
    ['zero', 0],
    ['a string', 'abort'],
    ['false', false],
    ['a BigInt', 1n],
    ['a symbol', Symbol('s')],
    ['a function', () => undefined],
    ['a function with the members', Object.assign(() => undefined, { aborted: false, addEventListener() {}, removeEventListener() {} })],
    ['an empty object', {}],
    ['the controller', new AbortController()],
    ['addEventListener alone', { aborted: false, addEventListener() {} }],
    ['removeEventListener alone', { aborted: false, removeEventListener() {} }],
    ['an addEventListener that is no function', { aborted: false, addEventListener: {}, removeEventListener() {} }],
    ['a removeEventListener that is no function', { aborted: false, addEventListener() {}, removeEventListener: 'x' }],
    ...[undefined, null, 0, 1, 'false', {}].map((aborted): [string, unknown] => [
      `aborted ${JSON.stringify(aborted)}`,
      { aborted, addEventListener() {}, removeEventListener() {} },
    ]),
  ];
  test.each([
    ...wrongOptions.map(([name, options]) => ({ name, path: 'options', options })),
    ...wrongSignals.map(([name, signal]) => ({ name: `signal: ${name}`, path: 'options.signal', options: { signal } })),
  ])('$name is a TypeError naming $path, and nothing is registered', ({ path, options }) => {
    const closure = createToolCallClosure();
    const { handle } = closure.begin([a]);
    const before = closure.snapshot();

    const error = thrown(() => beginWith(closure, options));

    expect(error).toBeInstanceOf(TypeError);
    expect((error as TypeError).message).toContain(path);
    expect((error as TypeError).message).toContain('nothing was registered');
    expect(closure.snapshot()).toBe(before);
    expect(closure.droppedDiagnostics).toBe(0);
    expect(closure.succeed(handle, 'a', 1).accepted).toBe(true);
    expect(closure.begin([a]).generation).toBe(2);
  });

  test('a signal whose aborted is no boolean has lost its listener', () => {
    const fake = fakeSignal({ aborted: () => undefined });
    expect(() => createToolCallClosure().begin([a], { signal: fake.signal })).toThrow(TypeError);
    expect([fake.added.length, fake.listeners.length, fake.removals()]).toEqual([1, 0, 1]);
  });

  test('a listener is added only where it can be removed', () => {
    const log: string[] = [];
    const signal = { aborted: false, addEventListener: () => log.push('add'), removeEventListener: null };
    expect(() => beginWith(createToolCallClosure(), { signal })).toThrow(TypeError);
    expect(log).toEqual([]);
  });

  test('any object with the members of a signal will do', () => {
    class OwnSignal {
      #aborted = false;
      #listeners = new Set<() => void>();
      readonly reason = 'own signal';
      get aborted() {
        return this.#aborted;
      }
      addEventListener(_: 'abort', listener: () => void) {
        this.#listeners.add(listener);
      }
      removeEventListener(_: 'abort', listener: () => void) {
        this.#listeners.delete(listener);
      }
      abort() {
        this.#aborted = true;
        for (const listener of this.#listeners) listener();
        return this.#listeners.size;
      }
    }
    const closure = createToolCallClosure();
    const signal = new OwnSignal();
    closure.begin([a], { signal });
    expect(signal.abort()).toBe(0);
    expect(closure.snapshot()?.closeReason).toEqual({ ...DEFAULTS, message: 'own signal' });
  });

  test('a batch without calls follows its signal too', () => {
    const closure = createToolCallClosure();
    const controller = new AbortController();
    closure.begin([], { signal: controller.signal });
    expect(closure.snapshot()?.closed).toBe(false);
    controller.abort('stop');
    expect(closedSnapshot(closure)).toMatchObject({ calls: [], closeReason: { code: 'aborted', message: 'stop' } });
    expect(closure.toOpenAIResponses()).toEqual([]);
  });
});

describe('what is read, and when', () => {
  const traced = (log: string[], fake: FakeSignal) => {
    const call = {
      get id() {
        log.push('id');
        return 'a';
      },
      get name() {
        log.push('name');
        return 'read';
      },
    };
    const options = {
      get signal() {
        log.push('signal');
        return fake.signal;
      },
    };
    return { call, options };
  };

  test('the calls, then signal, its methods, the listener, aborted', () => {
    const fake = fakeSignal();
    const { call, options } = traced(fake.log, fake);
    const closure = createToolCallClosure();
    closure.begin([call], options);
    expect(fake.log).toEqual([
      'id', 'name', 'signal', 'addEventListener', 'removeEventListener', 'add abort, 2 arguments', 'aborted',
    ]);
    fake.log.length = 0;
    fake.abort('stop');
    expect(fake.log).toEqual(['reason', 'remove abort, 2 arguments']);
    expect(fake.listeners).toEqual([]);
  });

  test('an aborted signal is asked for its reason at once, and its listener goes', () => {
    const fake = fakeSignal({ aborted: () => true });
    const { call, options } = traced(fake.log, fake);
    createToolCallClosure().begin([call], options);
    expect(fake.log).toEqual([
      'id', 'name', 'signal', 'addEventListener', 'removeEventListener', 'add abort, 2 arguments', 'aborted', 'reason',
      'remove abort, 2 arguments',
    ]);
    expect(fake.listeners).toEqual([]);
  });

  test('options are not read where the calls are refused', () => {
    const fake = fakeSignal();
    const { options } = traced(fake.log, fake);
    expect(() => beginWith(createToolCallClosure(), options, [{ id: '', name: 'n' }])).toThrow(TypeError);
    expect(fake.log).toEqual([]);
  });

  test('closing in another way never reads the reason', () => {
    const fake = fakeSignal();
    const closure = createToolCallClosure();
    closure.close(closure.begin([a], { signal: fake.signal }).handle, 'enough');
    expect(fake.log).not.toContain('reason');
  });
});

describe('when the signal aborts', () => {
  test('pending calls are closed in order, reported ones stay, and every adapter has a result for each', () => {
    const closure = createToolCallClosure();
    const controller = new AbortController();
    const { handle } = closure.begin([a, b], { signal: controller.signal });
    closure.succeed(handle, 'b', 'done');
    controller.abort('stop');

    const closed = closedSnapshot(closure);
    expect(closed.closeReason).toEqual({ ...DEFAULTS, message: 'stop' });
    expect(closed.calls).toEqual([
      { ...a, state: 'cancelled', settlement: { ...DEFAULTS, message: 'stop', provenance: 'synthetic' } },
      { ...b, state: 'success', settlement: { status: 'success', content: 'done', provenance: 'reported' } },
    ]);
    expect(Object.keys(closed.calls[0]?.settlement ?? {})).toEqual([
      'status', 'code', 'message', 'provenance', 'sideEffectState',
    ]);
    expect(closed.diagnostics).toEqual([]);
    expect(closure.toOpenAIResponses(closed).map((item) => item.call_id)).toEqual(['a', 'b']);
    expect(closure.toOpenAIChatCompletions(closed)[0]?.content).toBe(
      '{"error":{"code":"aborted","message":"stop","side_effect_state":"unknown"}}',
    );
    expect(closure.toAnthropicToolResults(closed).map((block) => block.is_error)).toEqual([true, undefined]);
    expect(closure.succeed(handle, 'a', 1)).toMatchObject({ accepted: false, reason: 'run_closed' });
  });

  test('a batch whose calls are all reported, but which is not sealed, is closed with that reason', () => {
    const closure = createToolCallClosure();
    const controller = new AbortController();
    const { handle } = closure.begin([a], { signal: controller.signal });
    closure.succeed(handle, 'a', 1);
    controller.abort('stop');
    expect(closedSnapshot(closure)).toMatchObject({ closeReason: { code: 'aborted' }, calls: [{ state: 'success' }] });
  });

  test('aborted already: registered and closed in one, with the previous batch superseded', () => {
    const closure = createToolCallClosure();
    closure.begin([a]);
    const { generation, handle, superseded } = closure.begin([b], { signal: AbortSignal.abort('too late') });
    expect(generation).toBe(2);
    expect(superseded).toMatchObject({ generation: 1, closeReason: { code: 'superseded' } });
    expect(closedSnapshot(closure)).toMatchObject({
      generation: 2,
      closeReason: { code: 'aborted', message: 'too late' },
      calls: [{ id: 'b', state: 'cancelled', settlement: { provenance: 'synthetic' } }],
      diagnostics: [],
    });
    expect(closure.toOpenAIResponses()).toHaveLength(1);
    expect(closure.seal(handle)).toBe(closure.snapshot());
    expect(closure.succeed(handle, 'b', 1)).toMatchObject({ accepted: false, reason: 'run_closed' });
  });

  test('the window between registering and closing does not exist', () => {
    const states: unknown[] = [];
    const closure = createToolCallClosure();
    const look = () => void states.push([closure.activeGeneration, closure.snapshot()?.closed]);
    const fake = fakeSignal({ aborted: () => true, reason: look, add: look, remove: look });
    closure.begin([a], { signal: fake.signal });
    expect(states).toEqual([[null, undefined], [null, undefined], [1, true]]);
  });

  test('a listener that addEventListener calls at once counts as aborted', () => {
    const fake = fakeSignal({ aborted: () => false, reason: () => 'at once', add: (listener) => listener() });
    const closure = createToolCallClosure();
    closure.begin([a], { signal: fake.signal });
    expect(closedSnapshot(closure).closeReason).toEqual({ ...DEFAULTS, message: 'at once' });
    expect(fake.listeners).toEqual([]);
  });

  test('a listener that the aborted getter calls counts as aborted', () => {
    const fake: FakeSignal = fakeSignal({
      aborted: () => {
        fake.added[0]?.();
        return false;
      },
    });
    const closure = createToolCallClosure();
    closure.begin([a], { signal: fake.signal });
    expect(closedSnapshot(closure).closeReason).toEqual(DEFAULTS);
    expect([fake.listeners.length, fake.removals()]).toEqual([0, 1]);
  });

  const afterwards: [string, (closure: ToolCallClosure, handle: BatchHandle) => unknown][] = [
    ['close', (closure, handle) => closure.close(handle, 'first')],
    ['seal', (closure, handle) => (closure.succeed(handle, 'a', 1), closure.seal(handle))],
    ['begin', (closure) => closure.begin([b])],
  ];
  test.each(afterwards)('after %s an abort changes nothing and leaves no diagnostic', (_, finish) => {
    const closure = createToolCallClosure();
    const fake = fakeSignal();
    const { handle } = closure.begin([a], { signal: fake.signal });
    finish(closure, handle);
    const before = closure.snapshot();
    // A signal that does not honour the removal.
    fake.added[0]?.();
    fake.abort('late');
    expect(closure.snapshot()).toBe(before);
    expect(before?.diagnostics).toEqual([]);
    expect(closure.droppedDiagnostics).toBe(0);
    expect(fake.log).not.toContain('reason');
  });

  test('twice: the first reason stays', () => {
    const closure = createToolCallClosure();
    const fake = fakeSignal();
    closure.begin([a], { signal: fake.signal });
    fake.abort('first');
    const before = closure.snapshot();
    fake.added[0]?.();
    expect(closure.snapshot()).toBe(before);
  });

  test('one signal may watch batches of several closures', () => {
    const controller = new AbortController();
    const closures = [createToolCallClosure(), createToolCallClosure()];
    for (const closure of closures) closure.begin([a], { signal: controller.signal });
    controller.abort({ code: 'shutdown' });
    expect(closures.map((closure) => closure.toOpenAIResponses().length)).toEqual([1, 1]);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });
});

describe('the reason of the signal', () => {
  const named = (name: string, message: string, fields: object = {}) =>
    Object.assign(new Error(message), { name }, fields);
  const throwing = (field: string, fields: object) =>
    Object.defineProperty(fields, field, {
      get() {
        throw new Error(`${field} was read`);
      },
    });
  const revoked = (target: object) => {
    const { proxy, revoke } = Proxy.revocable(target, {});
    revoke();
    return proxy;
  };
  const everyTrapThrows = new Proxy(
    {},
    new Proxy({}, {
      get(_, trap) {
        throw new Error(`trap ${String(trap)}`);
      },
    }),
  );
  const noText = {
    toString() {
      throw new Error('no text');
    },
  };
  function tool() {}

  const rows: [string, unknown, Partial<typeof DEFAULTS>][] = [
    ['undefined', undefined, {}],
    ['null', null, {}],
    ['a string', 'user pressed stop', { message: 'user pressed stop' }],
    ['an empty string', '', { message: '' }],
    ['a string with half an emoji', 'cut \uD83D', { message: 'cut \uFFFD' }],
    ['a number', 429, { message: '429' }],
    ['NaN', Number.NaN, { message: 'NaN' }],
    ['a BigInt', 7n, { message: '7' }],
    ['false', false, { message: 'false' }],
    ['a symbol', Symbol('stop'), { message: 'Symbol(stop)' }],
    ['a function', tool, { message: String(tool) }],
    ['an array', ['x', 2], { message: 'x,2' }],
    ['an array whose text throws', [noText], {}],

    ['an Error', new Error('boom'), { message: 'boom' }],
    ['an Error without message', new RangeError(), { message: 'RangeError' }],
    ['an Error without message and name', named('', ''), {}],
    ['an Error of another realm', runInNewContext('new TypeError("over there")'), { message: 'over there' }],
    ['an AggregateError', new AggregateError([new Error('one'), new Error('two')]), { message: 'one; two' }],
    ['an AbortError', new DOMException('halt', 'AbortError'), { message: 'halt' }],
    ['an AbortError of Error', named('AbortError', 'halt'), { message: 'halt' }],
    ['a TimeoutError', new DOMException('late', 'TimeoutError'), { code: 'timeout', message: 'late' }],
    ['a TimeoutError of Error', named('TimeoutError', 'late'), { code: 'timeout', message: 'late' }],
    [
      'an API error',
      named('APIError', 'slow down', { status: 429, code: 'rate_limit_exceeded' }),
      { code: 'rate_limit_exceeded', message: 'slow down' },
    ],
    ['an API error with a string status', named('APIError', 'x', { status: 'error' }), { message: 'x' }],
    ['a TimeoutError with a code', named('TimeoutError', 'x', { code: 'ETIMEDOUT' }), { code: 'ETIMEDOUT', message: 'x' }],
    ['an Error with a numeric code', named('Error', 'x', { code: 20 }), { message: 'x' }],
    ['an Error with a blank code', named('Error', 'x', { code: ' ' }), { message: 'x' }],
    ['an Error with an ill-formed code', named('Error', 'x', { code: '\uDC00' }), { message: 'x' }],
    ['an Error with a code too long', named('TimeoutError', 'x', { code: 'c'.repeat(129) }), { code: 'timeout', message: 'x' }],
    ['an Error with a side-effect state', named('Error', 'x', { sideEffectState: 'not_started' }), { message: 'x' }],
    ['an Error whose code throws', throwing('code', named('TimeoutError', 'x')), { code: 'timeout', message: 'x' }],
    ['an Error whose name throws', throwing('name', new Error('x')), { message: 'x' }],
    ['an Error whose message throws', throwing('message', named('TimeoutError', '')), { code: 'timeout' }],
    ['an Error whose message is no string', named('Error', '', { message: 5 }), { message: 'Error: 5' }],

    [
      'a whole object',
      { status: 'error', code: 'step_limit', message: 'No more steps.', sideEffectState: 'not_started' },
      { status: 'error', code: 'step_limit', message: 'No more steps.', sideEffectState: 'not_started' },
    ],
    ['an empty object', {}, {}],
    ['an object without prototype', Object.assign(Object.create(null), { message: 'bare' }), { message: 'bare' }],
    ['an object with null parts', { status: null, code: null, message: null, sideEffectState: null }, {}],
    [
      'an object that hides its prototype',
      new Proxy({ status: 'error', code: 'c', message: 'm' }, { getPrototypeOf() { throw new Error('no'); } }),
      { status: 'error', code: 'c', message: 'm' },
    ],
    ['status alone', { status: 'error' }, { status: 'error', message: 'Tool call did not complete.' }],
    ['status cancelled', { status: 'cancelled' }, {}],
    ['code alone', { code: 'shutdown' }, { code: 'shutdown' }],
    ['message alone', { message: 'by the user' }, { message: 'by the user' }],
    ['side-effect state alone', { sideEffectState: 'not_started' }, { sideEffectState: 'not_started' }],
    ['an Error as message', { message: new Error('inner') }, { message: 'inner' }],
    ['a number as message', { message: 5 }, { message: '5' }],
    ['a class named TimeoutError', class TimeoutError { static toString = () => 'late'; }, { code: 'timeout', message: 'late' }],
    ['an array named TimeoutError', Object.assign(['late'], { name: 'TimeoutError' }), { code: 'timeout', message: 'late' }],
    ['an object named TimeoutError', { name: 'TimeoutError', message: 'late' }, { code: 'timeout', message: 'late' }],
    ['bad status', { status: 'success', code: 'c', message: 'm' }, { code: 'c', message: 'm' }],
    ['a status of 500', { status: 500, message: 'm' }, { message: 'm' }],
    ['bad code', { status: 'error', code: 42, message: 'm' }, { status: 'error', message: 'm' }],
    ['blank code', { code: '\t', sideEffectState: 'not_started' }, { sideEffectState: 'not_started' }],
    ['ill-formed code', { code: 'x\uD800', message: 'm' }, { message: 'm' }],
    ['code too long', { code: 'c'.repeat(129), message: 'm' }, { message: 'm' }],
    ['bad side-effect state', { code: 'c', sideEffectState: 'completed' }, { code: 'c' }],
    ['bad message', { code: 'c', message: noText, sideEffectState: 'not_started' }, { code: 'c', sideEffectState: 'not_started' }],
    ['bad message of an error', { status: 'error', message: noText }, { status: 'error', message: 'Tool call did not complete.' }],
    ['all parts bad', { status: [], code: {}, message: noText, sideEffectState: 1 }, {}],
    ['status that throws', throwing('status', { code: 'c', message: 'm' }), { code: 'c', message: 'm' }],
    ['code that throws', throwing('code', { status: 'error', message: 'm' }), { status: 'error', message: 'm' }],
    ['state that throws', throwing('sideEffectState', { code: 'c', message: 'm' }), { code: 'c', message: 'm' }],
    ['message that throws', throwing('message', { code: 'c' }), { code: 'c' }],
    ['name that throws', throwing('name', { message: 'm' }), { message: 'm' }],
    ['a revoked Proxy', revoked({}), {}],
    ['a revoked Proxy of an array', revoked([]), {}],
    ['a revoked Proxy of a function', revoked(tool), {}],
    ['a Proxy in which every trap throws', everyTrapThrows, {}],
  ];

  describe.each(rows)('%s', (_, reason, expected) => {
    const closeReason = { ...DEFAULTS, ...expected };

    test.each<[string, (closure: ToolCallClosure) => void]>([
      ['of an abort', (closure) => {
        const fake = fakeSignal();
        closure.begin([a, b], { signal: fake.signal });
        fake.abort(reason);
        expect(fake.log.filter((entry) => entry === 'reason')).toHaveLength(1);
      }],
      ['of an aborted signal', (closure) => {
        const fake = fakeSignal({ aborted: () => true, reason: () => reason });
        closure.begin([a, b], { signal: fake.signal });
        expect(fake.log.filter((entry) => entry === 'reason')).toHaveLength(1);
      }],
    ])('%s', (_, run) => {
      const closure = createToolCallClosure();
      run(closure);
      const closed = closedSnapshot(closure);
      expect(closed.closeReason).toEqual(closeReason);
      expect(Object.keys(closed.closeReason)).toEqual(['status', 'code', 'message', 'sideEffectState']);
      for (const call of closed.calls) expect(call.settlement).toEqual({ ...closeReason, provenance: 'synthetic' });
      expect(closed.diagnostics).toEqual([]);
    });
  });

  test.each<[string, SignalHooks]>([
    ['later', {}],
    ['already', { aborted: () => true }],
  ])('a reason getter that throws gives the defaults (aborted %s)', (_, hooks) => {
    const closure = createToolCallClosure();
    const fake = fakeSignal({
      ...hooks,
      reason() {
        throw new Error('no reason');
      },
    });
    closure.begin([a], { signal: fake.signal });
    fake.abort();
    expect(closedSnapshot(closure).closeReason).toEqual(DEFAULTS);
    expect(fake.listeners).toEqual([]);
  });

  test('a signal without a reason gives the defaults', () => {
    const closure = createToolCallClosure();
    const signal: AbortSignalLike = { aborted: true, addEventListener() {}, removeEventListener() {} };
    closure.begin([a], { signal });
    expect(closedSnapshot(closure).closeReason).toEqual(DEFAULTS);
  });

  test('the platform: abort() is aborted, a deadline is timeout', async () => {
    const closure = createToolCallClosure();
    const controller = new AbortController();
    closure.begin([a], { signal: controller.signal });
    controller.abort();
    const { message } = controller.signal.reason as DOMException;
    expect(closedSnapshot(closure).closeReason).toEqual({ ...DEFAULTS, message });

    const { handle } = closure.begin([a], { signal: AbortSignal.timeout(5) });
    expect(await closure.sealWhenSettled(handle)).toMatchObject({ closeReason: { status: 'cancelled', code: 'timeout' } });
  });

  test('its message is truncated to maxMessageBytes', () => {
    const closure = createToolCallClosure({ maxMessageBytes: 8 });
    for (const [reason, message] of [
      ['12345678', '12345678'],
      ['123456789', '12345...'],
      ['123\u{1F600}456', '123...'],
      [new Error('123456789'), '12345...'],
      [{ message: '123456789' }, '12345...'],
      [undefined, 'Tool ...'],
    ] as const) {
      closure.begin([a], { signal: fakeSignal({ aborted: () => true, reason: () => reason }).signal });
      expect(closedSnapshot(closure).closeReason).toMatchObject({ message });
    }
  });

  test('its code has a limit, the built-in ones have none', () => {
    const closure = createToolCallClosure({ maxCodeBytes: 3 });
    for (const [reason, code] of [
      [{ code: 'abc' }, 'abc'],
      [{ code: 'abcd' }, 'aborted'],
      [new DOMException('late', 'TimeoutError'), 'timeout'],
    ] as const) {
      closure.begin([a], { signal: AbortSignal.abort(reason) });
      expect(closedSnapshot(closure).closeReason).toMatchObject({ code });
    }
  });
});

describe('the listener', () => {
  const causes: [string, (closure: ToolCallClosure, handle: BatchHandle, fake: FakeSignal) => unknown][] = [
    ['seal', (closure, handle) => (closure.succeed(handle, 'a', 1), closure.seal(handle))],
    ['sealWhenSettled of a settled batch', (closure, handle) => (closure.succeed(handle, 'a', 1), closure.sealWhenSettled(handle))],
    ['a settle that seals', (closure, handle) => (closure.sealWhenSettled(handle), closure.settle(handle, 'a', { status: 'error' }))],
    ['a succeed that seals', (closure, handle) => (closure.sealWhenSettled(handle), closure.succeed(handle, 'a', 1))],
    ['a fail that seals', (closure, handle) => (closure.sealWhenSettled(handle), closure.fail(handle, 'a', 'x'))],
    ['a cancel that seals', (closure, handle) => (closure.sealWhenSettled(handle), closure.cancel(handle, 'a'))],
    ['a track that seals', (closure, handle) => (closure.sealWhenSettled(handle), closure.track(handle, 'a', 1))],
    ['close', (closure, handle) => closure.close(handle)],
    ['the abort', (_, __, fake) => fake.abort()],
    ['a newer batch', (closure) => closure.begin([b])],
    ['a newer batch that is aborted already', (closure) => closure.begin([b], { signal: AbortSignal.abort() })],
  ];

  test.each(causes)('is gone after %s, and removed once', async (_, finish) => {
    const closure = createToolCallClosure();
    const fake = fakeSignal();
    const { handle } = closure.begin([a], { signal: fake.signal });
    expect(fake.listeners).toHaveLength(1);
    await finish(closure, handle, fake);
    expect(fake.listeners).toEqual([]);
    expect(fake.log.filter((entry) => entry.startsWith('add ') || entry.startsWith('remove '))).toEqual([
      'add abort, 2 arguments',
      'remove abort, 2 arguments',
    ]);
  });

  test.each(causes)('sees, while it is removed by %s, a batch that is closed already', async (_, finish) => {
    const seen: unknown[] = [];
    const closure = createToolCallClosure();
    const fake = fakeSignal({
      remove: (listener) => {
        listener();
        seen.push(closure.activeGeneration === 1 ? closure.snapshot()?.closed : 'superseded');
      },
    });
    const { handle } = closure.begin([a], { signal: fake.signal });
    await finish(closure, handle, fake);
    expect(seen).toEqual([closure.activeGeneration === 1 ? true : 'superseded']);
    expect(closure.snapshot()?.diagnostics).toEqual([]);
  });

  test.each(causes)('may refuse its removal by %s: the result stands', async (_, finish) => {
    const run = async (remove?: () => never) => {
      const closure = createToolCallClosure();
      const fake = fakeSignal(remove === undefined ? {} : { remove });
      const { handle } = closure.begin([a], { signal: fake.signal });
      return { result: await finish(closure, handle, fake), snapshot: closure.snapshot() };
    };
    const refusing = run(() => {
      throw new Error('no removal');
    });
    expect(await refusing).toEqual(await run());
  });

  test.each(causes)('may begin the next batch while it is removed by %s', async (_, finish) => {
    const closure = createToolCallClosure();
    const begun: unknown[] = [];
    const fake = fakeSignal({ remove: () => begun.push(closure.begin([{ id: 'next', name: 'n' }])) });
    const { handle } = closure.begin([a], { signal: fake.signal });
    const result = await finish(closure, handle, fake);
    // The outer operation stands before the nested one in history: it keeps the answer that it would have had alone.
    expect(begun).toHaveLength(1);
    const outer = createToolCallClosure();
    const plain = fakeSignal();
    const alone = await finish(outer, outer.begin([a], { signal: plain.signal }).handle, plain);
    expect(result).toEqual(alone);
    expect(closure.snapshot()).toMatchObject({ closed: false, calls: [{ id: 'next' }] });
    expect(closure.activeGeneration).toBe((outer.activeGeneration ?? 0) + 1);
  });

  const fault = () => {
    throw new RangeError('no signal');
  };
  const failures: [string, (closure: ToolCallClosure) => SignalHooks, number][] = [
    ['addEventListener throws', () => ({ add: fault }), 0],
    ['aborted throws', () => ({ aborted: fault }), 0],
    ['aborted is no boolean', () => ({ aborted: () => 'no' }), 0],
    ['addEventListener begins another batch', (closure) => ({ add: () => void closure.begin([b]) }), 1],
    ['aborted begins another batch', (closure) => ({ aborted: () => (closure.begin([b]), false) }), 1],
    ['reason begins another batch', (closure) => ({ aborted: () => true, reason: () => closure.begin([b]) }), 1],
  ];
  describe.each(failures)('%s', (name, hooks, nested) => {
    test('begin throws, the listener is gone, and nothing else is registered', () => {
      const closure = createToolCallClosure();
      const { handle } = closure.begin([a]);
      const fake = fakeSignal(hooks(closure));
      const error = thrown(() => closure.begin([a, b], { signal: fake.signal }));
      expect(error).toBeInstanceOf(name.endsWith(' throws') ? RangeError : TypeError);
      expect([fake.listeners.length, fake.removals()]).toEqual([0, 1]);
      expect(closure.activeGeneration).toBe(1 + nested);
      expect(closure.snapshot()).toMatchObject({ closed: false, diagnostics: [] });
      expect(closure.snapshot()?.calls).toHaveLength(1);
      expect(closure.succeed(handle, 'a', 1).accepted).toBe(nested === 0);
      // An abort of a batch that was not registered.
      fake.added[0]?.();
      expect(closure.snapshot()?.closed).toBe(false);
    });

    test('the first error comes out where the removal throws too', () => {
      const closure = createToolCallClosure();
      const fake = fakeSignal({
        ...hooks(closure),
        remove: () => {
          throw new SyntaxError('remove');
        },
      });
      expect(thrown(() => closure.begin([a], { signal: fake.signal }))).not.toBeInstanceOf(SyntaxError);
      expect(closure.activeGeneration).toBe(nested === 0 ? null : 1);
    });
  });

  test.each(['signal', 'addEventListener', 'removeEventListener'])('%s throws: nothing was added', (member) => {
    const closure = createToolCallClosure();
    const fake = fakeSignal();
    const fault = new EvalError(member);
    const trap = <Target extends object>(target: Target) =>
      new Proxy(target, {
        get(object, key, receiver) {
          if (key === member) throw fault;
          return Reflect.get(object, key, receiver) as unknown;
        },
      });
    expect(thrown(() => closure.begin([a], trap({ signal: trap(fake.signal) })))).toBe(fault);
    expect(fake.added).toEqual([]);
    expect(closure.activeGeneration).toBeNull();
  });

  test('an abort inside the conversion of another operation wins', () => {
    const closure = createToolCallClosure();
    const run = () => {
      const fake = fakeSignal();
      const { handle } = closure.begin([a], { signal: fake.signal });
      const abort = {
        toJSON: () => (fake.abort('nested'), 'outer'),
        get code() {
          fake.abort('nested');
          return 'outer';
        },
      };
      return { handle, abort };
    };
    const settling = run();
    expect(closure.succeed(settling.handle, 'a', settling.abort)).toEqual({
      accepted: false,
      reason: 'run_closed',
      callId: 'a',
      generation: 1,
      observedStatus: 'success',
    });
    expect(closure.snapshot()?.closeReason).toMatchObject({ message: 'nested' });

    const closing = run();
    expect(closure.close(closing.handle, closing.abort)).toBe(closure.snapshot());
    expect(closure.snapshot()).toMatchObject({ closeReason: { message: 'nested' }, diagnostics: [] });
  });

  test('an operation inside the reason getter wins over the abort', () => {
    const closure = createToolCallClosure();
    const operations: ((handle: BatchHandle) => unknown)[] = [
      (handle) => closure.succeed(handle, 'a', 'in time'),
      (handle) => closure.close(handle, 'closed first'),
      () => closure.begin([b]),
    ];
    const snapshots = operations.map((operation) => {
      const fake = fakeSignal({ reason: () => (operation(handle), 'aborted later') });
      const { handle } = closure.begin([a], { signal: fake.signal });
      fake.abort();
      expect([fake.listeners.length, fake.removals()]).toEqual([0, 1]);
      return closure.snapshot();
    });
    expect(snapshots).toMatchObject([
      { closeReason: { message: 'aborted later' }, calls: [{ settlement: { content: 'in time' } }], diagnostics: [] },
      { closeReason: { message: 'closed first' }, diagnostics: [] },
      { closed: false, calls: [{ id: 'b', state: 'pending' }], diagnostics: [] },
    ]);
  });

  test('100,000 batches on one long-lived signal leave nothing behind', () => {
    setFlagsFromString('--expose-gc');
    const gc = runInNewContext('gc') as () => void;
    const heap = () => {
      gc();
      gc();
      return process.memoryUsage().heapUsed;
    };
    const { signal } = new AbortController();
    const closure = createToolCallClosure();
    const finish: ((handle: BatchHandle) => unknown)[] = [
      (handle) => (closure.succeed(handle, 'a', 'x'), closure.seal(handle)),
      (handle) => closure.close(handle),
      (handle) => (void closure.sealWhenSettled(handle), closure.fail(handle, 'a', 'x')),
      () => undefined, // superseded by the next
    ];
    const batches = (count: number) => {
      for (let i = 0; i < count; i += 1) finish[i % finish.length]?.(closure.begin([a], { signal }).handle);
    };
    batches(1_000);
    // Nothing has superseded the last batch yet: it alone still listens. Looked at early too, because Node takes minutes to
    // add 100,000 listeners that stay.
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    const before = heap();
    batches(100_000);
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    closure.begin([]);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    // A listener that stayed would cost some hundred bytes, so 100,000 of them tens of megabytes.
    expect(heap() - before).toBeLessThan(4_000_000);
  });
});

describe('a listener of the host', () => {
  const tellNotStarted = (closure: ToolCallClosure, handle: () => BatchHandle) => () =>
    closure.settle(handle(), 'b', {
      status: 'cancelled',
      code: 'aborted',
      message: 'It was still waiting for its turn.',
      sideEffectState: 'not_started',
    });

  test('added before begin, settles what never started before the batch closes', () => {
    const closure = createToolCallClosure();
    const controller = new AbortController();
    controller.signal.addEventListener('abort', tellNotStarted(closure, () => handle));
    const { handle } = closure.begin([a, b], { signal: controller.signal });
    controller.abort('stop');
    expect(closedSnapshot(closure).calls.map((call) => call.settlement)).toEqual([
      { ...DEFAULTS, message: 'stop', provenance: 'synthetic' },
      {
        status: 'cancelled',
        code: 'aborted',
        message: 'It was still waiting for its turn.',
        provenance: 'reported',
        sideEffectState: 'not_started',
      },
    ]);
    expect(closure.toOpenAIResponses()[1]?.output).toBe(
      '{"error":{"code":"aborted","message":"It was still waiting for its turn.","side_effect_state":"not_started"}}',
    );
  });

  test('added after begin, comes too late', () => {
    const closure = createToolCallClosure();
    const controller = new AbortController();
    const { handle } = closure.begin([a, b], { signal: controller.signal });
    controller.signal.addEventListener('abort', tellNotStarted(closure, () => handle));
    controller.abort('stop');
    expect(closedSnapshot(closure)).toMatchObject({
      calls: [{ settlement: { provenance: 'synthetic' } }, { settlement: { provenance: 'synthetic' } }],
      diagnostics: [{ reason: 'run_closed', callId: 'b', observedStatus: 'cancelled' }],
    });
  });

  test('may begin the next batch before the old one hears of the abort', () => {
    const closure = createToolCallClosure();
    const controller = new AbortController();
    controller.signal.addEventListener('abort', () => closure.begin([b]));
    const { handle } = closure.begin([a], { signal: controller.signal });
    controller.abort('stop');
    expect(closure.snapshot()).toMatchObject({ generation: 2, closed: false, diagnostics: [] });
    expect(closure.close(handle)).toMatchObject({ accepted: false, reason: 'stale_generation' });
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1);
  });
});
