import { createToolCallClosure, type Outcome } from 'tool-call-closure';
import { describe, expect, test } from 'vitest';

const a = { id: 'a', name: 'write' };

const settled = (outcome: unknown) => {
  const closure = createToolCallClosure();
  const { handle } = closure.begin([a]);
  return { closure, handle, result: closure.settle(handle, 'a', outcome as Outcome) };
};

describe.each(['error', 'cancelled'] as const)('sideEffectState of a reported %s', (status) => {
  test.each(['unknown', 'not_started', 'completed'] as const)('%s is kept, and the model is told', (sideEffectState) => {
    const { closure, handle, result } = settled({ status, code: 'denied', message: 'The user said no.', sideEffectState });
    const settlement = { status, code: 'denied', message: 'The user said no.', provenance: 'reported', sideEffectState };
    expect(result).toEqual({ accepted: true, generation: 1, callId: 'a', settlement });
    expect(Object.keys(result.accepted ? result.settlement : {})).toEqual(Object.keys(settlement));

    closure.seal(handle);
    const text = `{"error":{"code":"denied","message":"The user said no.","side_effect_state":"${sideEffectState}"}}`;
    expect(closure.toOpenAIChatCompletions()).toEqual([{ role: 'tool', tool_call_id: 'a', content: text }]);
    expect(closure.toOpenAIResponses()).toEqual([{ type: 'function_call_output', call_id: 'a', output: text }]);
    expect(closure.toAnthropicToolResults()).toEqual([
      { type: 'tool_result', tool_use_id: 'a', content: text, is_error: true },
    ]);
  });

  test.each([
    ['absent', {}],
    ['undefined', { sideEffectState: undefined }],
    ['null', { sideEffectState: null }],
  ])('%s leaves no key, and nothing is said', (_, fields) => {
    const { closure, handle, result } = settled({ status, code: 'c', message: 'm', ...fields });
    const settlement = { status, code: 'c', message: 'm', provenance: 'reported' };
    expect(result).toMatchObject({ settlement });
    expect(Object.keys(result.accepted ? result.settlement : {})).toEqual(Object.keys(settlement));
    closure.seal(handle);
    expect(closure.toOpenAIResponses()[0]?.output).toBe('{"error":{"code":"c","message":"m"}}');
  });

  test.each(['', 'started', 'COMPLETED', 'success', 0, false, {}, ['unknown'], Symbol('unknown')])(
    'case %#: another value is a TypeError, and the call stays pending',
    (sideEffectState) => {
      const closure = createToolCallClosure();
      const { handle } = closure.begin([a]);
      const before = closure.snapshot();
      expect(() => closure.settle(handle, 'a', { status, sideEffectState } as Outcome)).toThrow(TypeError);
      expect(closure.snapshot()).toBe(before);
    },
  );

  test('is read last, once, and only where the report is taken', () => {
    const log: string[] = [];
    const outcome = new Proxy({ status, code: 'c', message: 'm', sideEffectState: 'completed' }, {
      get(target, key) {
        log.push(String(key));
        return Reflect.get(target, key) as unknown;
      },
    });
    const { closure, handle } = settled(outcome);
    expect(log).toEqual(['status', 'code', 'message', 'sideEffectState']);
    log.length = 0;
    expect(closure.settle(handle, 'a', outcome as Outcome)).toMatchObject({ reason: 'duplicate_settlement' });
    expect(log).toEqual(['status']);
  });
});

test('a success has none, and is not asked for one', () => {
  const outcome = {
    status: 'success',
    content: 'x',
    get sideEffectState() {
      throw new Error('it was read');
    },
  };
  expect(settled(outcome).result).toMatchObject({ settlement: { status: 'success', content: 'x', provenance: 'reported' } });
});

test('fail and cancel say nothing of side effects', () => {
  const closure = createToolCallClosure();
  const { handle } = closure.begin([a, { id: 'b', name: 'n' }]);
  closure.fail(handle, 'a', { message: 'm', sideEffectState: 'completed' });
  closure.cancel(handle, 'b', { message: 'm', sideEffectState: 'completed' });
  for (const call of closure.snapshot()?.calls ?? []) expect(Object.keys(call.settlement ?? {})).not.toContain('sideEffectState');
});

test('closing leaves what was reported, and says unknown or not_started of the rest', () => {
  for (const [reason, state] of [
    [undefined, 'unknown'],
    [{ sideEffectState: 'unknown' }, 'unknown'],
    [{ sideEffectState: 'not_started' }, 'not_started'],
  ] as const) {
    const closure = createToolCallClosure();
    const { handle } = closure.begin([a, { id: 'b', name: 'n' }]);
    closure.settle(handle, 'a', { status: 'error', sideEffectState: 'completed' });
    closure.close(handle, reason);
    expect(closure.toOpenAIResponses().map(({ output }) => /"side_effect_state":"(\w+)"/.exec(output)?.[1])).toEqual([
      'completed',
      state,
    ]);
  }
});

test('a close reason cannot claim that the effects happened', () => {
  const closure = createToolCallClosure();
  const { handle } = closure.begin([a]);
  expect(() => closure.close(handle, { sideEffectState: 'completed' } as never)).toThrow(TypeError);
  expect(closure.snapshot()?.closed).toBe(false);
});

test('a result that was not kept is told as completed', async () => {
  const closure = createToolCallClosure({ maxResultBytes: 10 });
  const { handle } = closure.begin([a]);
  void closure.track(handle, 'a', 'x'.repeat(11));
  await closure.sealWhenSettled(handle);
  const [block] = closure.toAnthropicToolResults();
  expect(block?.is_error).toBe(true);
  const { error } = JSON.parse(block?.content ?? '') as { error: Record<string, string> };
  expect(error).toMatchObject({ code: 'invalid_result', side_effect_state: 'completed' });
  expect(error.message).toMatch(/^The tool completed, but its result was not kept: .*maxResultBytes/);
});
