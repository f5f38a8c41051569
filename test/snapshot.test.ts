import { ToolCallClosure } from 'tool-call-closure';
import { describe, expect, it, vi } from 'vitest';
import { deeplyFrozen, named, open } from './support/batch.js';

describe('snapshot', () => {
  it('is null before the first begin', () => {
    expect(new ToolCallClosure().snapshot()).toBeNull();
  });

  it('has the documented keys, is deeply frozen and has ordinary prototypes', () => {
    const { closure, handle } = open(['a', 'b', 'c', 'd']);
    closure.succeed(handle, 'a', 1);
    closure.fail(handle, 'b', 1);
    closure.cancel(handle, 'c');
    closure.cancel(handle, 'ghost');
    for (const view of [closure.snapshot()!, closure.close(handle)]) {
      expect(Object.keys(view)).toEqual(['generation', 'closed', 'closeReason', 'calls', 'diagnostics']);
      if (view.accepted === false) throw new Error('refused');
      for (const call of view.calls) expect(Object.keys(call)).toEqual(['id', 'name', 'state', 'settlement']);
      expect(deeplyFrozen(view)).toBe(true);
    }
    expect(closure.snapshot()!.calls.map(({ state }) => state)).toEqual(['success', 'error', 'cancelled', 'cancelled']);
  });

  it('is the same object while nothing has changed', () => {
    const { closure, handle } = open(['a'], { maxDiagnostics: 1 });
    let view = closure.snapshot();
    const same = () => {
      expect(closure.snapshot()).toBe(view);
    };
    const changed = () => {
      expect(closure.snapshot()).not.toBe(view);
      view = closure.snapshot();
    };
    same();
    closure.succeed(handle, 'a', 1);
    changed();
    closure.succeed(handle, 'a', 1);
    changed();
    // This refusal is counted, not kept.
    closure.succeed(handle, 'a', 1);
    same();
    closure.seal(handle);
    changed();
    closure.close(handle);
    same();
    closure.begin([]);
    changed();
  });

  it('never changes later', () => {
    const { closure, handle } = open(['a', 'b']);
    const views = [closure.snapshot()];
    closure.succeed(handle, 'a', 1);
    views.push(closure.snapshot());
    closure.succeed(handle, 'ghost', 1);
    views.push(closure.snapshot());
    closure.close(handle);
    views.push(closure.snapshot());
    const texts = views.map((view) => JSON.stringify(view));
    closure.succeed(handle, 'b', 1);
    closure.begin(named('a', 'b'));
    closure.fail(handle, 'a', 1);
    expect(views.map((view) => JSON.stringify(view))).toEqual(texts);
    expect(new Set(texts).size).toBe(4);
  });

  it('shares what has not changed: a settlement makes one new call', () => {
    const ids = Array.from({ length: 50 }, (_, i) => `c${i}`);
    const { closure, handle } = open(ids);
    closure.cancel(handle, 'ghost');
    let before = closure.snapshot()!;
    for (const [i, id] of ids.entries()) {
      closure.succeed(handle, id, 1);
      const after = closure.snapshot()!;
      expect(after.calls.filter((call, at) => call !== before.calls[at])).toEqual([after.calls[i]]);
      expect(after.diagnostics).toBe(before.diagnostics);
      before = after;
    }
    expect(closure.seal(handle)).toMatchObject({ closed: true });
    const sealed = closure.snapshot()!;
    expect(sealed.calls.every((call, i) => call === before.calls[i])).toBe(true);
    expect(sealed.diagnostics).toBe(before.diagnostics);
    closure.cancel(handle, 'ghost');
    const refused = closure.snapshot()!;
    expect(refused.calls).toBe(sealed.calls);
    expect(refused.diagnostics[0]).toBe(sealed.diagnostics[0]);
  });

  it('costs pointer copies: what one snapshot has frozen the next does not freeze again', () => {
    const freezes = (size: number) => {
      const ids = Array.from({ length: size }, (_, i) => `c${i}`);
      const { closure, handle } = open(ids);
      closure.snapshot();
      const freeze = vi.spyOn(Object, 'freeze');
      try {
        for (const id of ids.slice(0, 5)) {
          closure.succeed(handle, id, 1);
          closure.snapshot();
        }
        return freeze.mock.calls.length;
      } finally {
        freeze.mockRestore();
      }
    };
    expect(freezes(500)).toBe(freezes(5));
  });

  it('keeps the first refusals, in order, and counts the others', () => {
    const { closure, handle } = open(['a'], { maxDiagnostics: 2 });
    for (const id of ['x', 'y', 'z']) closure.succeed(handle, id, 1);
    closure.seal(handle);
    expect(closure.snapshot()!.diagnostics.map(({ callId }) => callId)).toEqual(['x', 'y']);
    expect(closure.droppedDiagnostics).toBe(2);
  });
});

describe('the object', () => {
  it('has no own enumerable property and no public name beyond the documented ones', () => {
    const closure = new ToolCallClosure();
    expect(Reflect.ownKeys(closure)).toEqual([]);
    expect(Object.getOwnPropertyNames(ToolCallClosure.prototype).sort()).toEqual([
      'activeGeneration', 'begin', 'cancel', 'close', 'constructor', 'droppedDiagnostics', 'fail', 'seal', 'sealWhenSettled',
      'settle', 'snapshot', 'succeed', 'toAnthropicToolResults', 'toOpenAIChatCompletions', 'toOpenAIResponses', 'track',
    ]);
  });

  it('gives the same results for the same calls', () => {
    const run = () => {
      const { closure, handle } = open(['a', 'b']);
      closure.succeed(handle, 'a', { x: 1 });
      closure.close(handle, 'stop');
      return JSON.stringify([closure.snapshot(), closure.toAnthropicToolResults(), closure.begin([])]);
    };
    expect(run()).toBe(run());
  });
});
