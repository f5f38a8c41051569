import { describe, expect, test } from 'vitest';
import { mintChatIds, mintResponseIds, mintToolUseIds, usableIds } from '../../examples/recipes/mint-ids.js';
import { callsOfChat, callsOfMessage, callsOfResponse } from '../../examples/recipes/read-calls.js';
import { idRenamer, renameChat, renameMessages, renameResponses } from '../../examples/recipes/rename-ids.js';
import { answerAll, provider, replay, user, type ChatHistory, type Input, type Messages } from './provider.js';

describe('minting ids', () => {
  test('ids that begin takes stay; the others get one that nobody has', () => {
    expect(usableIds(['a', 'b'])).toEqual(['a', 'b']);
    expect(usableIds(['', undefined, null, 7, ' ', 'cut \ud83d', '\u{1f600}'])).toEqual(['minted_1', 'minted_2', 'minted_3', 'minted_4', 'minted_5', 'minted_6', '\u{1f600}']);
    expect(usableIds(['grep:3', 'grep:3', 'grep:3'])).toEqual(['grep:3', 'minted_1', 'minted_2']);
    expect(usableIds(['', 'minted_1', 'a'], ['a', 'minted_3'])).toEqual(['minted_2', 'minted_1', 'minted_4']);
  });

  const faults: [string, unknown[]][] = [
    ['empty', ['', 'a', '']],
    ['clashing', ['grep_3', 'b', 'grep_3']],
    ['absent', [undefined, 'a', null]],
  ];

  test.each(faults)('Chat Completions: ids that are %s', async (_, given) => {
    const tool_calls = given.map((id) => ({ id, type: 'function', function: { name: 'look', arguments: '{}' } }));
    const { chat, judgeChat } = await provider([{ replace: { choices: [{ index: 0, finish_reason: 'tool_calls', message: { role: 'assistant', content: null, tool_calls } }] } }]);
    const choice = (await chat([user])).choices[0]!;
    expect(() => answerAll(callsOfChat(choice)!)).toThrow(TypeError);
    mintChatIds(choice.message);
    const { closure } = answerAll(callsOfChat(choice)!);
    expect(closure.toOpenAIChatCompletions()).toHaveLength(3);
    expect(await judgeChat([user, choice.message, ...closure.toOpenAIChatCompletions()])).toBe(null);
  });

  test.each(faults)('Responses: ids that are %s, with an id of an earlier turn', async (_, given) => {
    const output = given.map((call_id, i) => ({ type: 'function_call', id: `fc_${i}`, call_id, name: 'look', arguments: '{}', status: 'completed' }));
    const { responses, judgeResponses } = await provider([{ replace: { output } }]);
    const response = await responses([user]);
    expect(() => answerAll(callsOfResponse(response)!)).toThrow(TypeError);
    mintResponseIds(response.output, ['minted_1', 'b']);
    const { closure } = answerAll(callsOfResponse(response)!);
    const outputs = closure.toOpenAIResponses();
    expect(new Set([...outputs.map(({ call_id }) => call_id), 'minted_1', 'b']).size).toBe(5);
    expect(await judgeResponses([user, ...replay(response.output), ...outputs])).toBe(null);
  });

  test.each(faults)('Anthropic Messages: ids that are %s, with an id of an earlier turn', async (_, given) => {
    const content = given.map((id) => ({ type: 'tool_use', id, name: 'look', input: {}, caller: { type: 'direct' } }));
    const { messages, judgeMessages } = await provider([{ replace: { content, stop_reason: 'tool_use' } }]);
    const message = await messages([user]);
    expect(() => answerAll(callsOfMessage(message)!)).toThrow(TypeError);
    mintToolUseIds(message.content, ['minted_1']);
    const { closure } = answerAll(callsOfMessage(message)!);
    const earlier: Messages = [
      { role: 'assistant', content: [{ type: 'tool_use', id: 'minted_1', name: 'look', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'minted_1', content: 'seen' }] },
    ];
    const results = { role: 'user' as const, content: closure.toAnthropicToolResults() };
    expect(await judgeMessages([user, ...earlier, { role: 'assistant', content: message.content }, results])).toBe(null);
  });
});

describe('renaming ids', () => {
  const long = 'ws_'.padEnd(51, 'x');
  const foreign = ['list_dir:0', `${long}1`, `${long}2`, 'call_1', 'call_x|fc_y'];

  test('ids that fit stay, long ones with a common beginning stay apart, and the same history gives the same ids', () => {
    const { announce, answer } = idRenamer();
    const names = foreign.map(announce);
    expect(names).toEqual(['call_1', 'call_2', 'call_3', 'call_4', 'call_5']);
    expect(foreign.map(answer)).toEqual(names);
    expect(foreign.map(idRenamer().announce)).toEqual(names);
    expect(['toolu_a', 'toolu_a'].map(idRenamer().announce)).toEqual(['toolu_a', 'call_1']);
    expect(answer('never announced')).toBe('never announced');
  });

  test("another provider's form", () => {
    const { announce } = idRenamer(/^[a-zA-Z0-9]{9}$/, (n) => String(n).padStart(9, '0'));
    expect(['call_abc', 'D681PevKs', 'functions.x:0'].map(announce)).toEqual(['000000001', 'D681PevKs', '000000002']);
  });

  // Two turns with the same ids, as Kimi sends them.
  const turns = [foreign, foreign];

  test('Chat Completions', async () => {
    const history: ChatHistory = [user, ...turns.flatMap((ids): ChatHistory => [
      { role: 'assistant', content: null, tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'look', arguments: '{}' } })) },
      ...ids.map((id) => ({ role: 'tool' as const, tool_call_id: id, content: id })),
    ])];
    const { judgeChat } = await provider();
    const before = structuredClone(history);
    expect(await judgeChat(history)).toBe('C06');
    const renamed = renameChat(history, idRenamer());
    expect(await judgeChat(renamed)).toBe(null);
    expect(history).toEqual(before);
    expect(renamed.flatMap((message) => (message.role === 'tool' ? [message.content] : []))).toEqual(turns.flat());
  });

  test('Responses', async () => {
    const history: Input = [user, ...turns.flatMap((ids): Input => [
      ...ids.map((call_id) => ({ type: 'function_call' as const, call_id, name: 'look', arguments: '{}' })),
      ...ids.map((call_id) => ({ type: 'function_call_output' as const, call_id, output: call_id })),
    ])];
    const { judgeResponses } = await provider();
    expect(await judgeResponses(history)).toBe('R11');
    expect(await judgeResponses(renameResponses(history, idRenamer(/^.{1,64}$/)))).toBe(null);
  });

  test('Anthropic Messages', async () => {
    const history: Messages = [user, ...turns.flatMap((ids): Messages => [
      { role: 'assistant', content: ids.map((id) => ({ type: 'tool_use', id, name: 'look', input: {} })) },
      { role: 'user', content: [...ids.map((id) => ({ type: 'tool_result' as const, tool_use_id: id, content: id })), { type: 'text', text: 'go on' }] },
    ])];
    const { judgeMessages } = await provider();
    expect(await judgeMessages(history)).toBe('M05');
    expect(await judgeMessages(renameMessages(history, idRenamer()))).toBe(null);
  });

  test('in a live turn the assistant message alone is renamed, before begin', async () => {
    const { chat, judgeChat } = await provider([[{ id: `${long}1`, name: 'look' }, { id: `${long}2`, name: 'look' }]]);
    const choice = (await chat([user])).choices[0]!;
    const { announce } = idRenamer();
    for (const call of choice.message.tool_calls!) call.id = announce(call.id);
    const { closure } = answerAll(callsOfChat(choice)!);
    expect(await judgeChat([user, choice.message, ...closure.toOpenAIChatCompletions()])).toBe(null);
  });
});
