import { describe, expect, test } from 'vitest';
import { outputsFor } from '../../examples/recipes/custom-calls.js';
import { callsOfChat, callsOfMessage, callsOfResponse } from '../../examples/recipes/read-calls.js';
import { answerAll, provider, replay, user } from './provider.js';

const ids = (calls: { id: string }[] | null) => calls?.map(({ id }) => id);

describe('Chat Completions', () => {
  const fn = (id: string) => ({ id, type: 'function', function: { name: 'look', arguments: '{}' } });
  const custom = (id: string) => ({ id, type: 'custom', custom: { name: 'sql', input: 'select 1' } });
  const ask = async (finish_reason: string, message: object) => {
    const { chat, judgeChat } = await provider([{ replace: { choices: [{ index: 0, finish_reason, message: { role: 'assistant', content: null, ...message } }] } }]);
    const choice = (await chat([user])).choices[0]!;
    return { choice, judgeChat, calls: callsOfChat(choice) };
  };

  test.each(['tool_calls', 'stop'])('function and custom calls are read and answered where the reason is %s', async (reason) => {
    const { choice, calls, judgeChat } = await ask(reason, { tool_calls: [fn('call_a'), custom('call_b')] });
    expect(calls).toMatchObject([
      { id: 'call_a', name: 'look', call: { function: { arguments: '{}' } } },
      { id: 'call_b', name: 'sql', call: { custom: { input: 'select 1' } } },
    ]);
    const { closure } = answerAll(calls!);
    expect(await judgeChat([user, choice.message, ...closure.toOpenAIChatCompletions()])).toBe(null);
  });

  test.each(['length', 'content_filter'])('a turn cut off by %s is not answered', async (reason) => {
    expect((await ask(reason, { tool_calls: [fn('call_a')] })).calls).toBe(null);
    expect((await ask(reason, { content: 'half a sen' })).calls).toEqual([]);
  });

  test('a text and the deprecated function_call are no calls', async () => {
    expect((await ask('stop', { content: 'done' })).calls).toEqual([]);
    expect((await ask('function_call', { function_call: { name: 'look', arguments: '{}' } })).calls).toEqual([]);
  });

  test('a call without type, as some servers send it, is a function call', async () => {
    const { calls } = await ask('tool_calls', { tool_calls: [{ id: 'call_a', function: { name: 'look', arguments: '{}' } }] });
    expect(calls).toMatchObject([{ id: 'call_a', name: 'look' }]);
  });
});

describe('Responses', () => {
  const fn = (call_id: string, more: object = {}) => ({ type: 'function_call', id: `fc_${call_id}`, call_id, name: 'look', arguments: '{}', status: 'completed', ...more });
  const custom = (call_id: string, more: object = {}) => ({ type: 'custom_tool_call', id: `ctc_${call_id}`, call_id, name: 'sql', input: 'select 1', ...more });
  const ask = async (output: object[], more: object = {}) => {
    const { responses, judgeResponses } = await provider([{ replace: { output, ...more } }]);
    const response = await responses([user]);
    return { response, judgeResponses, calls: callsOfResponse(response) };
  };

  test('calls are named by call_id; hosted, answered and async ones are left out', async () => {
    const { response, calls, judgeResponses } = await ask([
      { type: 'web_search_call', id: 'ws_1', status: 'completed' },
      { type: 'mcp_call', id: 'mcp_1', name: 'look', arguments: '{}', server_label: 's', output: 'seen' },
      fn('call_ran'),
      { type: 'function_call_output', id: 'fco_1', call_id: 'call_ran', output: 'seen', status: 'completed' },
      fn('call_later', { async: true }),
      fn('call_a'),
    ]);
    expect(ids(calls)).toEqual(['call_a']);
    const { closure } = answerAll(calls!);
    expect(await judgeResponses([user, ...replay(response.output), ...closure.toOpenAIResponses()])).toBe(null);
  });

  test.each([
    ['a response that is incomplete', [fn('call_a')], { status: 'incomplete' }],
    ['a call that is incomplete', [fn('call_a', { status: 'incomplete' })], {}],
    ['a call in progress', [fn('call_b'), fn('call_a', { status: 'in_progress' })], {}],
  ])('%s is not answered', async (_, output, more) => {
    expect((await ask(output, more)).calls).toBe(null);
  });

  test('a text that was cut off holds no calls', async () => {
    expect((await ask([], { status: 'incomplete' })).calls).toEqual([]);
  });

  test('a custom call and the calls of a program get the output that they want', async () => {
    const caller = { type: 'program', caller_id: 'prog_1' };
    const { response, calls, judgeResponses } = await ask([fn('call_a'), custom('call_b'), fn('call_c', { caller }), custom('call_d', { caller })]);
    expect(ids(calls)).toEqual(['call_a', 'call_b', 'call_c', 'call_d']);
    const { closure } = answerAll(calls!);
    const history = [user, ...replay(response.output)];
    // As the adapter gives them, they are refused.
    expect(await judgeResponses([...history, ...closure.toOpenAIResponses()])).toBe('R09');

    const outputs = outputsFor(calls!.map(({ call }) => call), closure.toOpenAIResponses());
    expect(outputs).toEqual([
      { type: 'function_call_output', call_id: 'call_a', output: 'look seen' },
      { type: 'custom_tool_call_output', call_id: 'call_b', output: 'sql seen' },
      { type: 'function_call_output', call_id: 'call_c', output: 'look seen', caller },
      { type: 'custom_tool_call_output', call_id: 'call_d', output: 'sql seen', caller },
    ]);
    const sent = outputs.map(({ caller: _, ...output }) => output);
    expect(await judgeResponses([...history, ...sent])).toBe('R14');
    expect(await judgeResponses([...history, ...outputs])).toBe(null);
  });
});

describe('Anthropic Messages', () => {
  const use = (id: string) => ({ type: 'tool_use', id, name: 'look', input: {}, caller: { type: 'direct' } });
  const ask = async (stop_reason: string, content: object[]) => {
    const { messages, judgeMessages } = await provider([{ replace: { stop_reason, content } }]);
    const message = await messages([user]);
    return { message, judgeMessages, calls: callsOfMessage(message) };
  };

  test("the provider's own tools are left out", async () => {
    const { message, calls, judgeMessages } = await ask('tool_use', [
      { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} },
      { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] },
      use('toolu_a'),
      use('toolu_b'),
    ]);
    expect(ids(calls)).toEqual(['toolu_a', 'toolu_b']);
    const { closure } = answerAll(calls!);
    const content = message.content as [];
    expect(await judgeMessages([user, { role: 'assistant', content }, { role: 'user', content: closure.toAnthropicToolResults() }])).toBe(null);
  });

  test.each(['max_tokens', 'model_context_window_exceeded', 'refusal'])('a turn that ended by %s is not answered', async (reason) => {
    expect((await ask(reason, [use('toolu_a')])).calls).toBe(null);
  });

  test('a text and a pause hold no calls', async () => {
    expect((await ask('max_tokens', [{ type: 'text', text: 'half a sen' }])).calls).toEqual([]);
    expect((await ask('pause_turn', [{ type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }])).calls).toEqual([]);
  });
});
