import { createToolCallClosure, ToolCallClosure } from 'tool-call-closure';
import { describe, expect, it } from 'vitest';
import { deeplyFrozen, named, open, refuses, wrong } from './support/batch.js';

const SUPERSEDED = {
  status: 'cancelled',
  code: 'superseded',
  message: 'Tool call was superseded by a newer generation.',
  sideEffectState: 'unknown',
};

describe('begin', () => {
  it('counts generations from 1 and returns a frozen generation, handle and superseded', () => {
    const closure = createToolCallClosure();
    expect(closure.activeGeneration).toBeNull();
    const first = closure.begin(named('a'));
    expect(first).toEqual({ generation: 1, handle: { generation: 1 }, superseded: null });
    expect(Object.keys(first)).toEqual(['generation', 'handle', 'superseded']);
    expect(deeplyFrozen(first)).toBe(true);
    expect(closure.begin([]).generation).toBe(2);
    expect(closure.activeGeneration).toBe(2);
  });

  it('keeps the active generation after closing', () => {
    const { closure, handle } = open(['a']);
    closure.close(handle);
    expect(closure.activeGeneration).toBe(1);
  });

  it('registers every call as pending, in announcement order, with nothing but id and name', () => {
    const closure = new ToolCallClosure();
    const block = { type: 'tool_use', id: 'toolu_1', name: 'read', input: { path: 'x' } };
    closure.begin([block, { id: ' b ', name: ' spaced ' }]);
    expect(closure.snapshot()).toEqual({
      generation: 1,
      closed: false,
      closeReason: null,
      calls: [
        { id: 'toolu_1', name: 'read', state: 'pending', settlement: null },
        { id: ' b ', name: ' spaced ', state: 'pending', settlement: null },
      ],
      diagnostics: [],
    });
  });

  it('takes the names of object properties as ids like any other', () => {
    const ids = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];
    const { closure, handle } = open(ids);
    expect(closure.succeed(handle, 'valueOf', 1)).toMatchObject({ reason: 'unknown_call' });
    for (const id of ids) closure.succeed(handle, id, id);
    closure.seal(handle);
    expect(closure.toOpenAIResponses().map(({ call_id, output }) => [call_id, output])).toEqual(ids.map((id) => [id, id]));
  });

  it('detaches: what the caller changes later is not seen', () => {
    const closure = new ToolCallClosure();
    const calls = named('a', 'b');
    closure.begin(calls);
    calls[0]!.id = 'changed';
    calls.pop();
    expect(closure.snapshot()?.calls.map(({ id }) => id)).toEqual(['a', 'b']);
  });

  it('accepts an empty batch, which seals to an empty payload', () => {
    const { closure, handle } = open([]);
    expect(closure.seal(handle)).toMatchObject({ closed: true, closeReason: { status: 'complete' }, calls: [] });
    expect(closure.toOpenAIResponses()).toEqual([]);
  });

  it('supersedes an open batch: pending calls get a synthetic settlement, reported ones stay', () => {
    const { closure, handle } = open(['a', 'b', 'c']);
    closure.succeed(handle, 'b', 'done');
    const reported = closure.snapshot()!.calls[1];
    const { superseded } = closure.begin(named('a'));
    const settlement = { ...SUPERSEDED, provenance: 'synthetic' };
    expect(superseded).toEqual({
      generation: 1,
      closed: true,
      closeReason: SUPERSEDED,
      calls: [
        { id: 'a', name: 'tool_a', state: 'cancelled', settlement },
        { id: 'b', name: 'tool_b', state: 'success', settlement: { status: 'success', content: 'done', provenance: 'reported' } },
        { id: 'c', name: 'tool_c', state: 'cancelled', settlement },
      ],
      diagnostics: [],
    });
    expect(deeplyFrozen(superseded)).toBe(true);
    expect(superseded!.calls[1]).toBe(reported);
    expect(Object.keys(superseded!.calls[0]!.settlement)).toEqual(['status', 'code', 'message', 'provenance', 'sideEffectState']);
    expect(closure.toOpenAIChatCompletions(superseded!).map(({ tool_call_id }) => tool_call_id)).toEqual(['a', 'b', 'c']);
  });

  it('supersedes a fully reported but unsealed batch without touching its calls', () => {
    const { closure, handle } = open(['a']);
    closure.succeed(handle, 'a', 1);
    const calls = closure.snapshot()!.calls;
    const { superseded } = closure.begin([]);
    expect(superseded).toMatchObject({ closed: true, closeReason: SUPERSEDED });
    expect(superseded!.calls[0]).toBe(calls[0]);
  });

  it('truncates the superseding message to the limit', () => {
    const { closure } = open(['a'], { maxMessageBytes: 12 });
    expect(closure.begin([]).superseded?.closeReason).toMatchObject({ message: 'Tool call...', code: 'superseded' });
  });

  it.each(['closed', 'sealed'])('supersedes nothing if the previous batch is %s', (how) => {
    const { closure, handle } = open([]);
    if (how === 'closed') closure.close(handle);
    else closure.seal(handle);
    expect(closure.begin(named('a')).superseded).toBeNull();
  });

  it('starts every generation with empty diagnostics, and drops those before the first', () => {
    const closure = new ToolCallClosure({ maxDiagnostics: 1 });
    closure.succeed(wrong({ generation: 1 }), 'a', 1);
    closure.succeed(wrong({ generation: 1 }), 'a', 1);
    expect([closure.snapshot(), closure.droppedDiagnostics]).toEqual([null, 0]);
    const { handle } = closure.begin(named('a'));
    expect(closure.snapshot()!.diagnostics).toEqual([]);
    closure.succeed(handle, 'ghost', 1);
    closure.succeed(handle, 'ghost', 1);
    expect(closure.snapshot()!.diagnostics).toHaveLength(1);
    expect(closure.droppedDiagnostics).toBe(1);
    closure.begin([]);
    expect(closure.snapshot()!.diagnostics).toEqual([]);
    expect(closure.droppedDiagnostics).toBe(0);
  });

  it('treats ids of different generations as different calls', () => {
    const closure = new ToolCallClosure();
    const old = closure.begin(named('a')).handle;
    const { handle } = closure.begin(named('a'));
    expect(closure.succeed(old, 'a', 'late')).toMatchObject({ accepted: false, reason: 'stale_generation', generation: 1 });
    expect(closure.snapshot()!.calls[0]!.state).toBe('pending');
    expect(closure.succeed(handle, 'a', 'own').accepted).toBe(true);
  });
});

describe('begin refuses, and registers nothing', () => {
  const NOTHING = 'nothing was registered';
  const good = { id: 'good', name: 'good' };
  const revoked = Proxy.revocable([], {});
  revoked.revoke();

  it.each<[string, unknown, typeof TypeError | typeof RangeError, string[]]>([
    ['undefined', undefined, TypeError, ['calls']],
    ['null', null, TypeError, ['calls']],
    ['an object', { length: 0 }, TypeError, ['calls']],
    ['a string', 'ab', TypeError, ['calls']],
    ['a set', new Set(), TypeError, ['calls']],
    ['a negative length', new Proxy([], { get: () => -1 }), TypeError, ['calls.length']],
    ['a length that is no integer', new Proxy([], { get: () => 0.5 }), TypeError, ['calls.length']],
    ['a length that is no number', new Proxy([], { get: () => '1' }), TypeError, ['calls.length']],
    ['an unsafe length', new Proxy([], { get: () => 2 ** 53 }), TypeError, ['calls.length']],
    ['more than maxCalls', [good, good, good, good], RangeError, ['maxCalls', '3']],
    ['a hole', [good, , good], TypeError, ['calls[1]']],
    ['null as an element', [null], TypeError, ['calls[0]']],
    ['a string as an element', ['x'], TypeError, ['calls[0]']],
    ['an array as an element', [good, ['id', 'name']], TypeError, ['calls[1]']],
    ['a function as an element', [() => 0], TypeError, ['calls[0]']],
    ['no id', [{ name: 'n' }], TypeError, ['calls[0].id']],
    ['a null id', [good, { id: null, name: 'n' }], TypeError, ['calls[1].id']],
    ['a number as an id', [{ id: 7, name: 'n' }], TypeError, ['calls[0].id']],
    ['a String object as an id', [{ id: new String('a'), name: 'n' }], TypeError, ['calls[0].id']],
    ['an empty id', [good, good, { id: '', name: 'n' }].slice(1), TypeError, ['calls[1].id']],
    ['a blank id', [{ id: ' \n\u00a0\ufeff', name: 'n' }], TypeError, ['calls[0].id']],
    ['a lone surrogate in an id', [{ id: 'x\ud83d', name: 'n' }], TypeError, ['calls[0].id']],
    ['an id over the limit', [{ id: 'é'.repeat(5), name: 'n' }], RangeError, ['calls[0].id', 'maxIdBytes', '9']],
    ['a repeated id', [good, { id: 'b', name: 'n' }, good], TypeError, ['"good"', 'calls[0]', 'calls[2]']],
    ['no name', [{ id: 'a' }], TypeError, ['calls[0].name']],
    ['a blank name', [{ id: 'a', name: '\t' }], TypeError, ['calls[0].name']],
    ['a lone surrogate in a name', [{ id: 'a', name: '\udc00' }], TypeError, ['calls[0].name']],
    ['a name over the limit', [good, { id: 'a', name: 'n'.repeat(8) }], RangeError, ['calls[1].name', 'maxNameBytes', '7']],
  ])('%s', (_, calls, kind, culprits) => {
    const { closure, handle } = open(['a', 'b'], { maxCalls: 3, maxIdBytes: 9, maxNameBytes: 7 });
    closure.succeed(handle, 'a', 1);
    closure.succeed(handle, 'ghost', 1);
    refuses(closure, () => closure.begin(wrong(calls)), kind, ...culprits, NOTHING);
    // The running batch is untouched, and the number was not used up.
    expect(closure.succeed(handle, 'b', 1).accepted).toBe(true);
    expect(closure.begin([]).generation).toBe(2);
  });

  it('a revoked proxy, with the error of the engine', () => {
    const { closure } = open(['a']);
    refuses(closure, () => closure.begin(wrong(revoked.proxy)), TypeError);
  });

  it('too many calls before any of them is read', () => {
    const closure = new ToolCallClosure({ maxCalls: 1 });
    const unread = { get id(): string { throw new Error('read'); }, name: 'n' };
    refuses(closure, () => closure.begin([unread, unread]), RangeError, 'maxCalls');
  });

  it('a repeated id before the name of its second call is read', () => {
    const closure = new ToolCallClosure();
    const second = { id: 'a', get name(): string { throw new Error('read'); } };
    refuses(closure, () => closure.begin([...named('a'), second]), TypeError, '"a"');
  });

  it('a batch during whose reading another one began', () => {
    const { closure } = open(['a']);
    const calls = [{ id: 'x', get name() { closure.begin(named('inner')); return 'x'; } }];
    expect(() => closure.begin(calls)).toThrow(/^(?=.*nothing was registered)/);
    expect(() => closure.begin(calls)).toThrow(TypeError);
    expect(closure.snapshot()).toMatchObject({ generation: 3, calls: [{ id: 'inner' }] });
  });

  it('a call that is no good, for that reason, also where reading it began another batch', () => {
    const { closure } = open(['a']);
    const calls = [{ id: 'x', get name() { closure.begin(named('inner')); return ' '; } }];
    expect(() => closure.begin(calls)).toThrow('calls[0].name');
    expect(closure.snapshot()).toMatchObject({ generation: 2, closed: false, calls: [{ id: 'inner' }] });
  });

  it('but not one during whose reading the old batch was settled or closed', () => {
    const { closure, handle } = open(['a', 'b']);
    const calls = [{ id: 'x', get name() { closure.close(handle, 'inner'); return 'x'; } }];
    expect(closure.begin(calls)).toMatchObject({ generation: 2, superseded: null });
  });
});
