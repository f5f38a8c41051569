import {
  createToolCallClosure,
  type BatchHandle,
  type ClosedSnapshot,
  type OperationRejection,
  type ToolCallClosure,
} from 'tool-call-closure';
import { describe, expect, test } from 'vitest';
import { fakeSignal } from './support/fake-signal.js';
import { unhandledRejections } from './support/unhandled.js';

const a = { id: 'a', name: 'read' };
const b = { id: 'b', name: 'write' };

type Result = ClosedSnapshot | OperationRejection<'stale_generation'>;

const PENDING = Symbol('pending');
/** What the promise has come to, without waiting for it. */
const now = async (promise: Promise<Result>) => {
  await new Promise((resolve) => setImmediate(resolve));
  return Promise.race([promise, Promise.resolve(PENDING)]);
};

describe('every way a batch can close', () => {
  const ways: [string, (closure: ToolCallClosure, handle: BatchHandle, abort: (why?: unknown) => void) => unknown, object][] = [
    ['the last succeed', (closure, handle) => closure.succeed(handle, 'b', 1), { status: 'complete' }],
    ['the last fail', (closure, handle) => closure.fail(handle, 'b', 'x'), { status: 'complete' }],
    ['the last cancel', (closure, handle) => closure.cancel(handle, 'b'), { status: 'complete' }],
    ['the last settle', (closure, handle) => closure.settle(handle, 'b', { status: 'success', content: 1 }), { status: 'complete' }],
    ['the last track', (closure, handle) => closure.track(handle, 'b', Promise.resolve()), { status: 'complete' }],
    ['a track that fails', (closure, handle) => closure.track(handle, 'b', Promise.reject(new Error('x'))), { status: 'complete' }],
    ['a track that is not kept', (closure, handle) => closure.track(handle, 'b', 1n), { status: 'complete' }],
    ['close', (closure, handle) => closure.close(handle, 'enough'), { code: 'cancelled', message: 'enough' }],
    ['the signal', (_, __, abort) => abort('stop'), { code: 'aborted', message: 'stop' }],
    ['a newer batch', (closure) => closure.begin([a]), { code: 'superseded' }],
    ['a newer batch that is aborted', (closure) => closure.begin([a], { signal: AbortSignal.abort() }), { code: 'superseded' }],
  ];

  test.each(ways)('%s', async (_, finish, closeReason) => {
    const closure = createToolCallClosure();
    const fake = fakeSignal();
    const { handle } = closure.begin([a, b], { signal: fake.signal });
    const waiting = closure.sealWhenSettled(handle);
    closure.succeed(handle, 'a', 'first');
    expect(await now(waiting)).toBe(PENDING);
    expect(closure.snapshot()?.closed).toBe(false);

    await finish(closure, handle, fake.abort);

    const closed = await waiting;
    expect(closed).toMatchObject({ generation: 1, closed: true, closeReason, diagnostics: [] });
    expect(closed).toSatisfy(Object.isFrozen);
    expect(closure.toOpenAIResponses(closed as ClosedSnapshot).map((item) => item.call_id)).toEqual(['a', 'b']);
    if (closure.activeGeneration === 1) expect(closed).toBe(closure.snapshot());
  });

  test('seal, where all calls were settled before', async () => {
    const closure = createToolCallClosure();
    const { handle } = closure.begin([a]);
    closure.succeed(handle, 'a', 1);
    const sealed = closure.seal(handle);
    expect(await closure.sealWhenSettled(handle)).toBe(sealed);
  });

  test.each<[string, (closure: ToolCallClosure) => BatchHandle, object]>([
    ['settled already', (closure) => {
      const { handle } = closure.begin([a]);
      closure.fail(handle, 'a', 'x');
      return handle;
    }, { status: 'complete' }],
    ['without calls', (closure) => closure.begin([]).handle, { status: 'complete' }],
    ['begun with an aborted signal', (closure) => closure.begin([a], { signal: AbortSignal.abort('no') }).handle, { message: 'no' }],
    ['closed already', (closure) => {
      const { handle } = closure.begin([a]);
      closure.close(handle, 'first');
      return handle;
    }, { message: 'first' }],
  ])('at once, for a batch %s', async (_, begin, closeReason) => {
    const closure = createToolCallClosure();
    const handle = begin(closure);
    const waiting = closure.sealWhenSettled(handle);
    // Not only once the promise is looked at.
    const snapshot = closure.snapshot();
    expect(snapshot).toMatchObject({ closed: true, closeReason, diagnostics: [] });
    expect(await waiting).toBe(snapshot);
  });
});

describe('the last settlement', () => {
  test('seals at once, and is accepted as ever', () => {
    const closure = createToolCallClosure();
    const { handle } = closure.begin([a]);
    void closure.sealWhenSettled(handle);
    expect(closure.succeed(handle, 'a', 'done')).toEqual({
      accepted: true,
      generation: 1,
      callId: 'a',
      settlement: { status: 'success', content: 'done', provenance: 'reported' },
    });
    expect(closure.snapshot()).toMatchObject({ closed: true, closeReason: { status: 'complete' } });
    expect(closure.succeed(handle, 'a', 'again')).toMatchObject({ accepted: false, reason: 'run_closed' });
    expect(closure.close(handle, 'too late')).toMatchObject({ closeReason: { status: 'complete' } });
  });

  test('seals nothing where nobody asked', async () => {
    const closure = createToolCallClosure();
    const first = closure.begin([a]).handle;
    const waiting = closure.sealWhenSettled(first);
    // Asked for the first batch, not for the second.
    const { handle } = closure.begin([a]);
    await closure.track(handle, 'a', 'done');
    await waiting;
    expect(closure.snapshot()).toMatchObject({ closed: false, closeReason: null, calls: [{ state: 'success' }] });
    expect(closure.close(handle, 'by hand')).toMatchObject({ closeReason: { message: 'by hand' } });
  });

  test('that throws, or is refused, seals nothing', async () => {
    const closure = createToolCallClosure();
    const { handle } = closure.begin([a, b]);
    const waiting = closure.sealWhenSettled(handle);
    closure.succeed(handle, 'a', 1);
    expect(() => closure.succeed(handle, 'b', 1n)).toThrow(TypeError);
    expect(() => closure.settle(handle, 'b', { status: 'error', code: '' })).toThrow(TypeError);
    expect(closure.succeed(handle, 'a', 2)).toMatchObject({ reason: 'duplicate_settlement' });
    expect(closure.succeed(handle, 'c', 2)).toMatchObject({ reason: 'unknown_call' });
    expect(closure.seal(handle)).toMatchObject({ reason: 'pending_calls' });
    expect(await now(waiting)).toBe(PENDING);
    closure.succeed(handle, 'b', 3);
    expect(((await waiting) as ClosedSnapshot).diagnostics.map((diagnostic) => diagnostic.reason)).toEqual([
      'duplicate_settlement',
      'unknown_call',
      'pending_calls',
    ]);
  });

  test('seals for a wait that its own conversion asked for', async () => {
    const closure = createToolCallClosure();
    const { handle } = closure.begin([a]);
    let waiting: Promise<Result> | undefined;
    const content = { toJSON: () => ((waiting = closure.sealWhenSettled(handle)), 'x') };
    expect(closure.succeed(handle, 'a', content).accepted).toBe(true);
    expect(closure.snapshot()?.closed).toBe(true);
    expect(await waiting).toBe(closure.snapshot());
  });

  test('is refused where a settlement inside its conversion has sealed', async () => {
    const closure = createToolCallClosure();
    const { handle } = closure.begin([a]);
    const waiting = closure.sealWhenSettled(handle);
    const content = { toJSON: () => (closure.fail(handle, 'a', 'nested'), 'outer') };
    // Sealed comes before settled in the order of the gate.
    expect(closure.succeed(handle, 'a', content)).toMatchObject({ accepted: false, reason: 'run_closed' });
    expect(await waiting).toMatchObject({ calls: [{ state: 'error' }], closeReason: { status: 'complete' } });
  });

  test('arrives in any order, and the calls stay in theirs', async () => {
    const closure = createToolCallClosure();
    const ids = ['3', '1', '2'];
    const { handle } = closure.begin(ids.map((id) => ({ id, name: 'n' })));
    const waiting = closure.sealWhenSettled(handle);
    for (const id of ['1', '2', '3']) void closure.track(handle, id, id);
    expect(((await waiting) as ClosedSnapshot).calls.map((call) => call.id)).toEqual(ids);
  });
});

describe('who waits', () => {
  test('two who wait share one promise, also after the batch has closed', async () => {
    const closure = createToolCallClosure();
    const { handle } = closure.begin([a]);
    const first = closure.sealWhenSettled(handle);
    expect(closure.sealWhenSettled(handle)).toBe(first);
    closure.succeed(handle, 'a', 1);
    expect(closure.sealWhenSettled(handle)).toBe(first);
    const [one, two] = await Promise.all([first, closure.sealWhenSettled(handle)]);
    expect(one).toBe(two);
    expect(closure.snapshot()?.diagnostics).toEqual([]);
  });

  test('one whose batch is superseded gets the view of that batch, and no diagnostic is left', async () => {
    const closure = createToolCallClosure();
    const { handle } = closure.begin([a, b]);
    const waiting = closure.sealWhenSettled(handle);
    closure.succeed(handle, 'a', 'kept');
    const next = closure.begin([a]);
    expect(await waiting).toBe(next.superseded);
    expect(next.superseded?.calls.map((call) => call.state)).toEqual(['success', 'cancelled']);
    expect(closure.snapshot()).toMatchObject({ generation: 2, closed: false, diagnostics: [] });
  });

  test('one whose batch is superseded hears of it under the smallest limits too', async () => {
    const closure = createToolCallClosure({ maxCodeBytes: 1, maxMessageBytes: 1 });
    const waiting = closure.sealWhenSettled(closure.begin([a]).handle);
    closure.begin([a]);
    // A built-in code needs no room; the message is truncated, and dots need three bytes.
    expect(await waiting).toMatchObject({ closeReason: { code: 'superseded', message: 'T' } });
  });

  test('one whose batch was closed, then replaced, keeps its view', async () => {
    const closure = createToolCallClosure();
    const { handle } = closure.begin([a]);
    const waiting = closure.sealWhenSettled(handle);
    const closed = closure.close(handle, 'first');
    closure.begin([b]);
    expect(await waiting).toBe(closed);
  });

  test('each batch has its own', async () => {
    const closure = createToolCallClosure();
    const waiting = [1, 2, 3].map(() => closure.sealWhenSettled(closure.begin([a]).handle));
    closure.begin([]);
    expect((await Promise.all(waiting)).map((result) => result.generation)).toEqual([1, 2, 3]);
  });

  test('the view is that of the closing: later refusals are not in it', async () => {
    const closure = createToolCallClosure();
    const { handle } = closure.begin([a]);
    const waiting = closure.sealWhenSettled(handle);
    const closed = closure.close(handle);
    await closure.track(handle, 'a', 'late');
    expect(await waiting).toBe(closed);
    expect((await waiting as ClosedSnapshot).diagnostics).toEqual([]);
    expect(closure.snapshot()?.diagnostics).toHaveLength(1);
  });

  test('a tool that ignores its abort holds nobody up', async () => {
    const closure = createToolCallClosure();
    const { handle } = closure.begin([a, b], { signal: AbortSignal.timeout(10) });
    void closure.track(handle, 'a', new Promise(() => {}));
    void closure.track(handle, 'b', 'quick');
    expect(await closure.sealWhenSettled(handle)).toMatchObject({
      closeReason: { status: 'cancelled', code: 'timeout', sideEffectState: 'unknown' },
      calls: [{ settlement: { code: 'timeout', provenance: 'synthetic' } }, { settlement: { content: 'quick' } }],
    });
  });

  test('a signal whose removal throws or calls back costs nothing', async () => {
    const closure = createToolCallClosure();
    let handle: BatchHandle;
    let waiting: Promise<Result>[];
    for (const remove of [
      () => {
        throw new Error('no removal');
      },
      (listener: () => void) => listener(),
      () => void waiting.push(closure.sealWhenSettled(handle)),
    ]) {
      waiting = [];
      ({ handle } = closure.begin([a], { signal: fakeSignal({ remove }).signal }));
      waiting.push(closure.sealWhenSettled(handle));
      expect(closure.succeed(handle, 'a', 1).accepted).toBe(true);
      for (const result of await Promise.all(waiting)) expect(result).toMatchObject({ closeReason: { status: 'complete' } });
    }
  });
});

describe('a handle that is not of the newest batch', () => {
  const unreadable = {
    get generation() {
      throw new Error('no generation');
    },
  };
  test.each<[string, unknown, number | null]>([
    ['undefined', undefined, null],
    ['null', null, null],
    ['a string', 'handle', null],
    ['a copy', { generation: 1 }, 1],
    ['a bad generation', { generation: 0 }, null],
    ['unreadable', unreadable, null],
  ])('%s: resolves with the refusal, and it is a diagnostic', async (_, handle, generation) => {
    const refusal = { reason: 'stale_generation', callId: null, generation, observedStatus: null };
    const closure = createToolCallClosure();
    const wait = () => closure.sealWhenSettled(handle as BatchHandle);

    expect(await wait()).toEqual({ accepted: false, ...refusal });
    closure.begin([]);
    const waiting = wait();
    expect(closure.snapshot()).toMatchObject({ closed: false, diagnostics: [refusal] });
    expect(await waiting).toEqual({ accepted: false, ...refusal });
    expect(await waiting).toSatisfy(Object.isFrozen);
    expect(wait()).not.toBe(waiting);
    expect(closure.snapshot()?.diagnostics).toEqual([refusal, refusal]);
  });

  test('a superseded one is refused, also where it waited before', async () => {
    const closure = createToolCallClosure();
    const { handle } = closure.begin([a]);
    const waiting = closure.sealWhenSettled(handle);
    closure.begin([a]);
    expect(await closure.sealWhenSettled(handle)).toMatchObject({ accepted: false, reason: 'stale_generation', generation: 1 });
    expect(await waiting).toMatchObject({ closed: true, generation: 1 });
  });

  test('is read once, and what its getter does wins', async () => {
    let reads = 0;
    const closure = createToolCallClosure();
    const { handle } = closure.begin([a]);
    const forged = {
      get generation() {
        reads += 1;
        closure.close(handle, 'nested');
        return 9;
      },
    };
    expect(await closure.sealWhenSettled(forged as never)).toMatchObject({ accepted: false, generation: 9 });
    expect(reads).toBe(1);
    expect(closure.snapshot()).toMatchObject({ closeReason: { message: 'nested' }, diagnostics: [{ generation: 9 }] });
  });
});

test('nothing that a wait comes to is an unhandled rejection', async () => {
  const count = await unhandledRejections(async () => {
    const closure = createToolCallClosure();
    for (const finish of [
      (handle: BatchHandle) => closure.close(handle),
      (handle: BatchHandle) => closure.track(handle, 'a', Promise.reject(new Error('x'))),
      () => closure.begin([b]),
    ]) {
      const { handle } = closure.begin([a]);
      void closure.sealWhenSettled(handle);
      await finish(handle);
      void closure.sealWhenSettled(handle);
      void closure.sealWhenSettled(null as never);
    }
  });
  expect(count).toBe(0);
});
