// Caller code that throws, at every point of every operation, alone and after an operation inside; and the stack limit.

import { type BatchHandle, createToolCallClosure, type ToolCallClosure } from 'tool-call-closure';
import { expect, test } from 'vitest';
import { NESTED, type Op, OPS, TRACKS } from './model/alphabet.js';
import { states } from './model/states.js';
import { World } from './model/world.js';

const few = process.env.MUTATION !== undefined;
const base = states().filter((_, i) => !few || i % 5 === 3);
/** What a throw might undo, or be blamed for. */
const inside = NESTED.filter((op) => !('on' in op) && ['begin', 'settle', 'close', 'seal', 'abort'].includes(op.do));

/** Where the contract lets no throw out: there the operation goes on, with what `meant` and `meantAbort` say. */
function isKept(op: Op, point: string): boolean {
  if (point === 'signal.removeEventListener()') return true;
  switch (op.do) {
    case 'fail':
    case 'cancel':
      return point !== 'handle.generation';
    case 'abort':
    case 'track':
    case 'sealWhenSettled':
      return true;
    case 'begin':
      return /^(signal\.reason$|reason\.|prototype of reason|message\.)/.test(point);
    default:
      return false;
  }
}

/** The world compares the state with the model's, where an operation that let the throw out has done nothing. */
async function throwAt(path: readonly Op[], op: Op, at: number, nested?: Op): Promise<void> {
  const world = new World(path);
  let out = false;
  let points: readonly string[] = [];
  await world.later({
    op,
    inside: nested === undefined ? [] : [[at, { op: nested }]],
    throwsAt: at,
    told: (seen, answer) => {
      points = seen;
      out = answer === World.INJECTED;
    },
  });
  await world.end();
  const point = points[at] as string;
  expect(out, `${JSON.stringify(op)} at ${point}`).toBe(!isKept(op, point));
}

test('a throw at every point, alone and after an operation inside', { timeout: 300_000 }, async () => {
  let cases = 0;
  for (const { path } of base) {
    for (const op of [...OPS, ...TRACKS]) {
      const points = (await new World(path).later({ op })).length;
      for (let at = 0; at < points; at += 1) {
        for (const nested of [undefined, ...inside]) {
          await throwAt(path, op, at, nested);
          cases += 1;
        }
      }
    }
  }
  console.log(`throws: ${cases} cases`);
  expect(cases).toBeGreaterThanOrEqual(few ? 1 : 69_800);
});

interface Stage {
  readonly closure: ToolCallClosure;
  readonly handle: BatchHandle;
  /** What a waiting seal came to. */
  sealed: unknown;
}

const CALLS = [
  { id: 'a', name: 'x' },
  { id: 'b', name: 'y' },
];

function stage(settled: readonly string[], waits = false): Stage {
  const closure = createToolCallClosure();
  const listeners = new Set<() => void>();
  const signal = {
    aborted: false,
    reason: 'stopped',
    addEventListener: (_: 'abort', listener: () => void) => void listeners.add(listener),
    removeEventListener: (_: 'abort', listener: () => void) => void listeners.delete(listener),
  };
  const { handle } = closure.begin(CALLS, { signal });
  const stage: Stage = { closure, handle, sealed: undefined };
  if (waits) void closure.sealWhenSettled(handle).then((sealed) => (stage.sealed = sealed));
  for (const id of settled) closure.succeed(handle, id, 'done');
  return stage;
}

const error = { status: 'error', code: 'c', message: 'm', sideEffectState: 'unknown' } as const;

const NEAR_THE_LIMIT: Record<string, [set: () => Stage, operate: (stage: Stage) => unknown]> = {
  settle: [() => stage(['a']), ({ closure, handle }) => closure.settle(handle, 'b', error)],
  'settle, refused': [() => stage(['a']), ({ closure, handle }) => closure.settle(handle, 'a', error)],
  'settle, sealing': [() => stage(['a'], true), ({ closure, handle }) => closure.settle(handle, 'b', error)],
  close: [() => stage(['a'], true), ({ closure, handle }) => closure.close(handle, error)],
  seal: [() => stage(['a', 'b']), ({ closure, handle }) => closure.seal(handle)],
  'seal, refused': [() => stage(['a']), ({ closure, handle }) => closure.seal(handle)],
  'sealWhenSettled, sealing': [() => stage(['a', 'b']), ({ closure, handle }) => void closure.sealWhenSettled(handle)],
  'begin, superseding': [() => stage(['a'], true), ({ closure }) => closure.begin(CALLS)],
};

const CALM = 25;

/**
 * Falls down to the limit, and attempts something in each frame on the way up, until it has gone well often enough. The
 * unused numbers make frames of another size, so that the limit is met at finer steps.
 */
const DIVES = [
  function dive(attempt: () => boolean): number {
    let calm = 0;
    try {
      calm = dive(attempt);
    } catch {}
    if (calm === CALM) return calm;
    return attempt() ? calm + 1 : 0;
  },
  function dive(attempt: () => boolean, a = 1, b = 2, c = 3): number {
    let calm = 0;
    try {
      calm = dive(attempt, c, a, b);
    } catch {}
    if (calm === CALM) return calm;
    return attempt() ? calm + 1 : 0;
  },
];

test.each(Object.entries(NEAR_THE_LIMIT))('%s near the stack limit happens wholly or not at all', async (_, [set, operate]) => {
  const normal = set();
  const before = JSON.stringify(normal.closure.snapshot());
  const result = JSON.stringify(operate(normal));
  const after = JSON.stringify(normal.closure.snapshot());
  await Promise.resolve();
  const sealed = JSON.stringify(normal.sealed);
  // A dive that the engine has not compiled yet can come up past the limit in one step, so there are several.
  let overflowed = 0;
  for (const dive of [...DIVES, ...DIVES, ...DIVES]) {
    // Nothing can be built or checked down there.
    const stages = Array.from({ length: 1_000 }, set);
    const came: unknown[] = stages.map(() => 'nothing yet');
    const threw: unknown[] = stages.map(() => null);
    let tries = 0;
    const attempt = () => {
      const stage = stages[tries] as Stage;
      tries += 1;
      try {
        came[tries - 1] = operate(stage);
        return true;
      } catch (error) {
        threw[tries - 1] = error;
        return false;
      }
    };
    expect(dive(attempt)).toBe(CALM);
    overflowed += threw.filter((error) => error !== null).length;
    await Promise.resolve();
    for (const [i, stage] of stages.slice(0, tries).entries()) {
      const failed = threw[i] !== null;
      if (failed) expect(threw[i]).toBeInstanceOf(RangeError);
      expect(JSON.stringify(stage.closure.snapshot())).toBe(failed ? before : after);
      expect(JSON.stringify(stage.sealed)).toBe(failed ? undefined : sealed);
      expect(JSON.stringify(came[i])).toBe(failed ? '"nothing yet"' : result);
    }
  }
  expect(overflowed).toBeGreaterThanOrEqual(9);
});
