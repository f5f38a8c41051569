import { type ClosedSnapshot, ToolCallClosure } from 'tool-call-closure';
import { describe, expect, it } from 'vitest';
import { named, open, refuses, wrong } from './support/batch.js';

const ADAPTERS = ['toOpenAIChatCompletions', 'toOpenAIResponses', 'toAnthropicToolResults'] as const;

/** One call of each kind; announced in another order than settled. */
function closedBatch() {
  const { closure, handle } = open(['ok', 'bad', 'denied', 'void', 'open1', 'open2']);
  closure.settle(handle, 'denied', { status: 'cancelled', code: 'denied', message: 'No.', sideEffectState: 'not_started' });
  closure.fail(handle, 'bad', new Error('disk "full"'));
  closure.succeed(handle, 'void', '');
  closure.succeed(handle, 'ok', { rows: 2 });
  closure.close(handle, { status: 'error', code: 'step_limit', message: 'Enough.' });
  return closure;
}

const TEXTS = {
  ok: '{"rows":2}',
  bad: '{"error":{"code":"tool_error","message":"disk \\"full\\""}}',
  denied: '{"error":{"code":"denied","message":"No.","side_effect_state":"not_started"}}',
  void: '',
  open1: '{"error":{"code":"step_limit","message":"Enough.","side_effect_state":"unknown"}}',
  open2: '{"error":{"code":"step_limit","message":"Enough.","side_effect_state":"unknown"}}',
};

describe('adapters', () => {
  it('Chat Completions: tool messages', () => {
    const messages = closedBatch().toOpenAIChatCompletions();
    expect(messages).toEqual(Object.entries(TEXTS).map(([tool_call_id, content]) => ({ role: 'tool', tool_call_id, content })));
    for (const message of messages) expect(Object.keys(message)).toEqual(['role', 'tool_call_id', 'content']);
  });

  it('Responses: function call outputs', () => {
    const items = closedBatch().toOpenAIResponses();
    expect(items).toEqual(Object.entries(TEXTS).map(([call_id, output]) => ({ type: 'function_call_output', call_id, output })));
    for (const item of items) expect(Object.keys(item)).toEqual(['type', 'call_id', 'output']);
  });

  it('Anthropic: tool results, marked as errors unless successful', () => {
    const blocks = closedBatch().toAnthropicToolResults();
    expect(blocks).toEqual(
      Object.entries(TEXTS).map(([tool_use_id, content]) => ({
        type: 'tool_result', tool_use_id, content, ...(['ok', 'void'].includes(tool_use_id) ? {} : { is_error: true }),
      })),
    );
    expect(blocks.map((block) => Object.keys(block).length)).toEqual([3, 4, 4, 3, 4, 4]);
    expect(Object.keys(blocks[1]!)).toEqual(['type', 'tool_use_id', 'content', 'is_error']);
  });

  it('echo ids exactly and never give an empty error text', () => {
    const closure = new ToolCallClosure();
    const { handle } = closure.begin([{ id: ' functions.Bash:0\n', name: 'n' }]);
    closure.fail(handle, ' functions.Bash:0\n', '');
    closure.seal(handle);
    expect(closure.toAnthropicToolResults()).toEqual([
      { type: 'tool_result', tool_use_id: ' functions.Bash:0\n', content: '{"error":{"code":"tool_error","message":""}}', is_error: true },
    ]);
  });

  it('carry the side effects that a reported error names', () => {
    const { closure, handle } = open(['a', 'b']);
    closure.settle(handle, 'a', { status: 'error', sideEffectState: 'completed' });
    closure.settle(handle, 'b', { status: 'error', sideEffectState: 'unknown' });
    closure.seal(handle);
    expect(closure.toOpenAIResponses().map(({ output }) => JSON.parse(output) as unknown)).toEqual(
      ['completed', 'unknown'].map((side_effect_state) => ({ error: { code: 'error', message: 'Tool call failed.', side_effect_state } })),
    );
  });

  it('put no unpaired surrogate into a body', () => {
    const { closure, handle } = open(['a', 'b', 'c', 'd']);
    closure.succeed(handle, 'a', 'ok \ud83d');
    closure.succeed(handle, 'b', { v: 'ok \ud83d' });
    closure.fail(handle, 'c', 'bad \udc00');
    closure.close(handle, 'stop \ud83d');
    for (const adapter of ADAPTERS) {
      for (const body of JSON.stringify(closure[adapter]()).matchAll(/(\\+)ud[89a-f]../gi)) {
        // An even run of backslashes is text about an escape, not an escape.
        expect(body[1]!.length % 2).toBe(0);
      }
    }
  });
});

describe.each(ADAPTERS)('%s', (adapter) => {
  it('is a pure read: fresh, unfrozen and the same each time', () => {
    const closure = closedBatch();
    const view = closure.snapshot();
    const [first, second] = [closure[adapter](), closure[adapter]()];
    expect(first).toEqual(second);
    expect(first).not.toBe(second);
    expect(first[0]).not.toBe(second[0]);
    expect(Object.isFrozen(first) || first.some((element) => Object.isFrozen(element))).toBe(false);
    first.length = 0;
    Object.assign(second[0]!, { content: 'changed' });
    expect(closure[adapter]()).toHaveLength(6);
    expect(JSON.stringify(closure[adapter]())).not.toContain('changed');
    expect(closure.snapshot()).toBe(view);
  });

  it('exports by default the current snapshot, and older closed ones of this closure when asked', () => {
    const closure = closedBatch();
    const view = closure.snapshot() as ClosedSnapshot;
    const payload = closure[adapter]();
    expect(closure[adapter](undefined)).toEqual(payload);
    const { handle } = closure.begin(named('a'));
    const { superseded } = closure.begin([]);
    expect(closure[adapter](view)).toEqual(payload);
    expect(closure[adapter](superseded!)).toHaveLength(1);
    closure.close(handle);
    expect(closure[adapter](view)).toEqual(payload);
  });

  it('refuses an open batch, and says what to do', () => {
    const { closure, handle } = open(['a', 'b']);
    closure.succeed(handle, 'a', 1);
    refuses(closure, () => closure[adapter](), TypeError, 'seal', 'close');
    refuses(closure, () => closure[adapter](wrong(closure.snapshot())), TypeError, 'seal', 'close');
  });

  it('refuses an old open snapshot of a batch that is closed by now', () => {
    const { closure, handle } = open(['a']);
    const view = closure.snapshot();
    closure.close(handle);
    refuses(closure, () => closure[adapter](wrong(view)), TypeError, 'seal', 'close');
  });

  it('refuses every snapshot that this closure did not make', () => {
    const closure = closedBatch();
    const view = closure.snapshot() as ClosedSnapshot;
    const revocable = Proxy.revocable(view, {});
    revocable.revoke();
    const { handle } = open([]);
    const strangers = [
      null, 0, '', 'x', true, {}, [], () => 0, { ...view }, structuredClone(view), JSON.parse(JSON.stringify(view)),
      new Proxy(view, {}), revocable.proxy, Object.create(view), closedBatch().snapshot(), closure.close(handle), view.calls,
    ];
    for (const stranger of strangers) refuses(closure, () => closure[adapter](wrong(stranger)), TypeError, 'snapshot');
  });

  it('reads no property of a stranger', () => {
    const unread = new Proxy({}, { get() { throw new Error('read'); }, has() { throw new Error('read'); }, getPrototypeOf() { throw new Error('read'); } });
    const { closure } = open([]);
    refuses(closure, () => closure[adapter](wrong(unread)), TypeError, 'snapshot');
  });

  it('refuses before the first begin', () => {
    const closure = new ToolCallClosure();
    refuses(closure, () => closure[adapter](), TypeError, 'snapshot');
  });
});
