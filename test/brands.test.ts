// Who is let in: only the closure itself, its own newest handle, its own snapshots; and overrides are never asked.

import { type BatchHandle, type ClosedSnapshot, createToolCallClosure, ToolCallClosure } from 'tool-call-closure';
import { describe, expect, test } from 'vitest';

type Loose = Readonly<Record<string, (...args: unknown[]) => unknown>>;

const METHODS: Readonly<Record<string, (handle: unknown) => unknown[]>> = {
  begin: () => [[]],
  settle: (handle) => [handle, 'a', { status: 'success', content: '' }],
  succeed: (handle) => [handle, 'a', ''],
  fail: (handle) => [handle, 'a', ''],
  cancel: (handle) => [handle, 'a'],
  track: (handle) => [handle, 'a', ''],
  close: (handle) => [handle],
  seal: (handle) => [handle],
  sealWhenSettled: (handle) => [handle],
  snapshot: () => [],
  toOpenAIChatCompletions: () => [],
  toOpenAIResponses: () => [],
  toAnthropicToolResults: () => [],
};
const GETTERS = ['activeGeneration', 'droppedDiagnostics'];
const ADAPTERS = Object.keys(METHODS).filter((name) => name.startsWith('to'));
const STALE = ['settle', 'succeed', 'fail', 'cancel', 'track', 'close', 'seal', 'sealWhenSettled'];

const prototype = ToolCallClosure.prototype as unknown as Loose;

function begun() {
  const closure = createToolCallClosure();
  const { handle, ...rest } = closure.begin([{ id: 'a', name: 'n' }]);
  return { closure, handle, begin: { handle, ...rest }, loose: closure as unknown as Loose };
}

const untouchable = <Target extends object>(target: Target): Target => {
  const trap = () => {
    throw new Error('was looked into');
  };
  return new Proxy(target, { get: trap, has: trap, getPrototypeOf: trap, ownKeys: trap, getOwnPropertyDescriptor: trap });
};

const revoked = (target: object): object => {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
};

test('the lists here name every public member', () => {
  const own = Object.getOwnPropertyNames(ToolCallClosure.prototype);
  expect(own.sort()).toEqual(['constructor', ...Object.keys(METHODS), ...GETTERS].sort());
});

describe('another receiver', () => {
  const receivers: Record<string, (closure: ToolCallClosure) => unknown> = {
    nothing: () => undefined,
    'a plain object': () => ({}),
    'one that inherits from a closure': (closure) => Object.create(closure) as unknown,
    'a proxy around a closure': (closure) => new Proxy(closure, {}),
    'the prototype': () => ToolCallClosure.prototype,
    'another function’s prototype chain': () => Reflect.construct(Object, [], ToolCallClosure) as unknown,
  };

  test.each(Object.entries(receivers))('%s is refused by every member', (_, receiver) => {
    const { closure, handle } = begun();
    const before = closure.snapshot();
    const other = receiver(closure);
    for (const [name, args] of Object.entries(METHODS)) {
      expect(() => prototype[name]?.apply(other, args(handle)), name).toThrow(TypeError);
    }
    for (const name of GETTERS) expect(() => Reflect.get(ToolCallClosure.prototype, name, other), name).toThrow(TypeError);
    expect(closure.snapshot()).toBe(before);
  });
});

describe('another handle', () => {
  const others: Record<string, [make: (handle: BatchHandle, begin: object) => unknown, claims: number | null]> = {
    'a copy': [(handle) => ({ ...handle }), 1],
    'a frozen copy': [(handle) => Object.freeze({ ...handle }), 1],
    'a clone': [(handle) => structuredClone(handle), 1],
    'a JSON round trip': [(handle) => JSON.parse(JSON.stringify(handle)) as unknown, 1],
    'one that inherits': [(handle) => Object.create(handle) as unknown, 1],
    'a proxy': [(handle) => new Proxy(handle, {}), 1],
    'another closure’s': [() => begun().handle, 1],
    'the whole result of begin': [(_, begin) => begin, 1],
    'a number': [() => 1, null],
    'a function with a number': [() => Object.assign(() => {}, { generation: 7 }), 7],
    'null': [() => null, null],
    'undefined': [() => undefined, null],
    'a claim of zero': [() => ({ generation: 0 }), null],
    'a claim of text': [() => ({ generation: '1' }), null],
    'a claim of a fraction': [() => ({ generation: 1.5 }), null],
    'a claim beyond the safe integers': [() => ({ generation: 2 ** 53 }), null],
  };

  test.each(Object.entries(others))('%s opens nothing', async (_, [make, claims]) => {
    for (const name of STALE) {
      const { closure, handle, begin, loose } = begun();
      const other = make(handle, begin);
      const result = await loose[name]?.(...(METHODS[name]?.(other) as unknown[]));
      expect(result, name).toMatchObject({ accepted: false, reason: 'stale_generation', generation: claims });
      expect(closure.snapshot()?.diagnostics, name).toMatchObject([{ reason: 'stale_generation', generation: claims }]);
      expect(closure.snapshot(), name).toMatchObject({ closed: false, calls: [{ state: 'pending' }] });
    }
  });

  test('one whose number can’t be read throws its own error, or claims nothing where a promise is the answer', async () => {
    for (const name of STALE) {
      const { closure, loose, handle } = begun();
      const before = closure.snapshot();
      const operate = () => loose[name]?.(...(METHODS[name]?.(untouchable(handle)) as unknown[]));
      if (name === 'track' || name === 'sealWhenSettled') {
        expect(await operate()).toMatchObject({ accepted: false, reason: 'stale_generation', generation: null });
      } else {
        expect(operate, name).toThrow('was looked into');
        expect(closure.snapshot()).toBe(before);
      }
    }
  });
});

describe('another snapshot', () => {
  const others: Record<string, (snapshot: ClosedSnapshot, handle: BatchHandle) => unknown> = {
    null: () => null,
    'a number': () => 1,
    'a spread copy': (snapshot) => ({ ...snapshot }),
    'a frozen copy': (snapshot) => Object.freeze({ ...snapshot }),
    'a clone': (snapshot) => structuredClone(snapshot),
    'a JSON round trip': (snapshot) => JSON.parse(JSON.stringify(snapshot)) as unknown,
    'one that inherits': (snapshot) => Object.create(snapshot) as unknown,
    'a proxy': (snapshot) => new Proxy(snapshot, {}),
    'a proxy that lets nobody look': (snapshot) => untouchable(snapshot),
    'a revoked proxy': (snapshot) => revoked(snapshot),
    'its calls': (snapshot) => snapshot.calls,
    'another closure’s': () => {
      const { closure, handle } = begun();
      return closure.close(handle);
    },
    'a refusal': () => begun().closure.close({ generation: 1 } as BatchHandle),
  };

  test.each(Object.entries(others))('%s is refused before it is looked into', (_, make) => {
    const { closure, handle, loose } = begun();
    const other = make(closure.close(handle) as ClosedSnapshot, handle);
    for (const name of ADAPTERS) expect(() => loose[name]?.(other), name).toThrow(/not made by this closure/);
  });

  test('an older one of this closure is let in, an open one is not', () => {
    const { closure, handle, loose } = begun();
    const open = closure.snapshot();
    const closed = closure.close(handle);
    closure.begin([]);
    for (const name of ADAPTERS) {
      expect(loose[name]?.(closed), name).toHaveLength(1);
      expect(() => loose[name]?.(open), name).toThrow(/open batch/);
      expect(() => loose[name]?.(), name).toThrow(/open batch/);
    }
  });
});

test('no internal step goes through a method or getter that a subclass overrides', async () => {
  class Hostile extends ToolCallClosure {}
  for (const name of [...Object.keys(METHODS), ...GETTERS]) {
    const get = () => {
      throw new Error(`${name} was asked`);
    };
    Object.defineProperty(Hostile.prototype, name, { get });
  }
  const closure = new Hostile();
  const call = (name: string, ...args: unknown[]) => prototype[name]?.apply(closure, args);
  const begin = () => call('begin', [{ id: 'a', name: 'n' }, { id: 'b', name: 'n' }]) as { handle: BatchHandle };
  const { handle: first } = begin();
  const waiting = call('sealWhenSettled', first);
  expect(begin()).toMatchObject({ generation: 2, superseded: { generation: 1 } });
  expect(await waiting).toMatchObject({ generation: 1 });
  expect(call('close', first)).toMatchObject({ reason: 'stale_generation' });
  const { handle } = begin();
  expect(await call('track', handle, 'a', 1)).toMatchObject({ accepted: true });
  expect(call('seal', handle)).toMatchObject({ reason: 'pending_calls' });
  for (const name of ['fail', 'cancel', 'succeed']) call(name, handle, 'b', 'text');
  call('settle', handle, 'a', { status: 'error' });
  expect(call('seal', handle)).toBe(call('snapshot'));
  for (const name of ADAPTERS) expect(call(name)).toHaveLength(2);
  expect(Reflect.get(ToolCallClosure.prototype, 'activeGeneration', closure)).toBe(3);
  expect(Reflect.get(ToolCallClosure.prototype, 'droppedDiagnostics', closure)).toBe(0);
});

test('a subclass that adds to a method and calls the original works', () => {
  class Counting extends ToolCallClosure {
    begins = 0;
    override begin(...args: Parameters<ToolCallClosure['begin']>) {
      this.begins += 1;
      return super.begin(...args);
    }
  }
  const closure = new Counting();
  const { handle } = closure.begin([]);
  expect(closure.seal(handle)).toMatchObject({ closed: true });
  expect(closure.begins).toBe(1);
  expect(Object.keys(createToolCallClosure())).toEqual([]);
});
