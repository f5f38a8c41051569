import { createToolCallClosure } from 'tool-call-closure';
import { describe, expect, test } from 'vitest';
import { answerChat, answerMessages, answerResponses, type LostCall, type Recovery } from '../../examples/recipes/unanswered.js';
import { provider, user, type ChatHistory, type Input, type Messages } from './provider.js';

const closure = () => createToolCallClosure();
const lost = expect.stringMatching(/"code":"process_lost".*"side_effect_state":"unknown"/);
const after = { role: 'user' as const, content: 'and now?' };
/** Ids repeat, so the journal names the place as well. */
const journal = (...places: number[]): Recovery => ({
  known: ({ at, id }) => (places.includes(at) ? { status: 'success', content: `${id} at ${at}` } : undefined),
});
/** A process that dies at any point leaves a prefix of the history. */
const prefixes = <Entry>(history: Entry[], from: number) => history.slice(from).map((_, i) => history.slice(0, from + i));

describe('Chat Completions', () => {
  const announce = (...ids: string[]): ChatHistory[number] => ({
    role: 'assistant',
    content: null,
    tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: `tool_${id}`, arguments: '{}' } })),
  });
  const tell = (id: string, content = 'seen'): ChatHistory[number] => ({ role: 'tool', tool_call_id: id, content });

  test('a history that ends on calls', async () => {
    const { judgeChat } = await provider();
    const history = [user, announce('a', 'b')];
    expect(await judgeChat(history)).toBe('C11');
    const repaired = answerChat(closure(), history, { known: ({ name }) => (name === 'tool_b' ? { status: 'success', content: 'known' } : undefined) });
    expect(repaired.slice(2)).toEqual([tell('a', lost), tell('b', 'known')]);
    expect(await judgeChat(repaired)).toBe(null);
  });

  test('turns are told apart, a partial one is completed in the order of its calls, and whole ones stay', async () => {
    const { judgeChat } = await provider();
    const history = [user, announce('a', 'b', 'c'), tell('b'), after, announce('a'), tell('a'), announce('a', 'b'), after];
    const repaired = answerChat(closure(), history, journal(6));
    expect(repaired).toEqual([
      user,
      announce('a', 'b', 'c'),
      tell('a', lost),
      tell('b'),
      tell('c', lost),
      after,
      announce('a'),
      tell('a'),
      announce('a', 'b'),
      tell('a', 'a at 6'),
      tell('b', 'b at 6'),
      after,
    ]);
    expect(await judgeChat(repaired)).toBe(null);
  });

  test('a call that waits for an approval stays open, and is answered next to its siblings later', async () => {
    const { judgeChat } = await provider();
    const waits = ({ id }: LostCall) => id === 'a';
    const repaired = answerChat(closure(), [user, announce('a', 'b')], { waits });
    expect(repaired).toEqual([user, announce('a', 'b'), tell('b', lost)]);
    expect(answerChat(closure(), repaired, { waits })).toEqual(repaired);
    const denied = answerChat(closure(), repaired, { known: () => ({ status: 'cancelled', code: 'denied', sideEffectState: 'not_started' }) });
    expect(denied.slice(2)).toEqual([tell('a', expect.stringContaining('"denied"')), tell('b', lost)]);
    expect(await judgeChat(denied)).toBe(null);
  });

  test('custom calls are answered too', async () => {
    const { judgeChat } = await provider();
    const history: ChatHistory = [user, { role: 'assistant', tool_calls: [{ id: 'a', type: 'custom', custom: { name: 'sql', input: '' } }] }];
    expect(await judgeChat(answerChat(closure(), history))).toBe(null);
  });

  test('whatever was stored when the process died, the provider takes it', async () => {
    const { judgeChat } = await provider();
    const whole = [user, announce('a', 'b'), tell('a'), tell('b'), announce('a'), tell('a'), { role: 'assistant' as const, content: 'done' }, after];
    for (const history of prefixes(whole, 1)) expect(await judgeChat(answerChat(closure(), history))).toBe(null);
    const account = closure();
    expect(answerChat(account, whole)).toEqual(whole);
    expect(account.activeGeneration).toBe(null);
  });
});

describe('Responses', () => {
  const call = (call_id: string, more: object = {}): Input[number] => ({ type: 'function_call', call_id, name: 'look', arguments: '{}', ...more });
  const output = (call_id: string, text = 'seen'): Input[number] => ({ type: 'function_call_output', call_id, output: text });
  const reasoning: Input[number] = { type: 'reasoning', id: 'rs_1', summary: [] };
  const text: Input[number] = { role: 'assistant', content: 'done' };

  test('a history that ends on calls', async () => {
    const { judgeResponses } = await provider();
    const history = [user, call('a'), call('b')];
    expect(await judgeResponses(history)).toBe('R10');
    const repaired = answerResponses(closure(), history, journal(2));
    expect(repaired).toEqual([...history, output('a', lost), output('b', 'b at 2')]);
    expect(await judgeResponses(repaired)).toBe(null);
  });

  test('missing outputs stand next to the group of their calls, which some endpoints demand', async () => {
    const { judgeResponses } = await provider([], { adjacent: true });
    const history = [user, call('a'), call('b'), call('c'), output('b'), after, call('d'), reasoning, call('e'), after];
    const repaired = answerResponses(closure(), history);
    expect(repaired).toEqual([
      user,
      call('a'),
      call('b'),
      call('c'),
      output('b'),
      output('a', lost),
      output('c', lost),
      after,
      call('d'),
      output('d', lost),
      reasoning,
      call('e'),
      output('e', lost),
      after,
    ]);
    expect(await judgeResponses(repaired)).toBe(null);
  });

  test('a group whose outputs are followed by the next group is completed before that', async () => {
    const { judgeResponses } = await provider([], { adjacent: true });
    const history = [user, call('a'), call('b'), output('b'), call('c'), output('c')];
    const repaired = answerResponses(closure(), history);
    expect(repaired).toEqual([user, call('a'), call('b'), output('b'), output('a', lost), call('c'), output('c')]);
    expect(await judgeResponses(repaired)).toBe(null);
  });

  test('an output far from its call is its answer, and an id that comes again is another call', () => {
    const far = [call('a'), after, output('a')];
    expect(answerResponses(closure(), far)).toEqual(far);
    const again = [call('a'), after, call('a'), output('a')];
    expect(answerResponses(closure(), again, journal(0))).toEqual([call('a'), output('a', 'a at 0'), after, call('a'), output('a')]);
    const last = [call('a'), output('a'), call('a')];
    expect(answerResponses(closure(), last, journal(0))).toEqual([...last, output('a', lost)]);
  });

  test('custom and programmatic calls get the output that they want', async () => {
    const { judgeResponses } = await provider();
    const caller = { type: 'program', caller_id: 'prog_1' };
    const history: Input = [user, { type: 'custom_tool_call', call_id: 'a', name: 'sql', input: '' }, call('b', { caller })];
    const repaired = answerResponses(closure(), history);
    expect(repaired.slice(3)).toMatchObject([{ type: 'custom_tool_call_output' }, { type: 'function_call_output', caller }]);
    expect(await judgeResponses(repaired)).toBe(null);
  });

  test("the provider's own calls, async ones and those that wait for an approval stay as they are", () => {
    const history: Input = [
      user,
      { type: 'web_search_call', id: 'ws_1', status: 'completed' } as Input[number],
      { type: 'mcp_approval_request', id: 'mcpr_1', name: 'drop', arguments: '{}', server_label: 's' },
      call('a', { async: true }),
      call('b'),
    ];
    const account = closure();
    expect(answerResponses(account, history, { waits: ({ id }) => id === 'b' })).toEqual(history);
    expect(account.activeGeneration).toBe(null);
  });

  test('whatever was stored when the process died, the provider takes it', async () => {
    const { judgeResponses } = await provider([], { adjacent: true });
    const whole = [user, call('a'), call('b'), output('a'), output('b'), reasoning, call('c'), output('c'), text, after];
    for (const history of prefixes(whole, 1)) expect(await judgeResponses(answerResponses(closure(), history))).toBe(null);
    expect(answerResponses(closure(), whole)).toEqual(whole);
  });
});

describe('Anthropic Messages', () => {
  const use = (id: string) => ({ type: 'tool_use' as const, id, name: 'look', input: {} });
  const result = (id: string, content = 'seen') => ({ type: 'tool_result' as const, tool_use_id: id, content });
  const failed = (id: string) => ({ ...result(id, lost), is_error: true });
  const text = (text: string) => ({ type: 'text' as const, text });
  const model = (...content: (ReturnType<typeof use> | ReturnType<typeof text>)[]): Messages[number] => ({ role: 'assistant', content });
  const told = (...content: (ReturnType<typeof result> | ReturnType<typeof text>)[]): Messages[number] => ({ role: 'user', content });

  test('a history that ends on calls', async () => {
    const { judgeMessages } = await provider();
    const history = [user, model(text('I look.'), use('a'), use('b'))];
    expect(await judgeMessages(history)).toBe('M07');
    const repaired = answerMessages(closure(), history);
    expect(repaired).toEqual([...history, told(failed('a'), failed('b'))]);
    expect(await judgeMessages(repaired)).toBe(null);
  });

  test('results go into the user message that is there, after its results and before any text', async () => {
    const { judgeMessages } = await provider();
    const history = [user, model(use('a'), use('b')), told(result('b'), text('and now?')), model(use('c')), after];
    const repaired = answerMessages(closure(), history, journal(3));
    expect(repaired).toEqual([
      user,
      model(use('a'), use('b')),
      told(result('b'), failed('a'), text('and now?')),
      model(use('c')),
      told(result('c', 'c at 3'), text('and now?')),
    ]);
    expect(await judgeMessages(repaired)).toBe(null);
  });

  test('a turn in several messages', async () => {
    const { judgeMessages } = await provider();
    const split = [user, model(use('a')), model(use('b')), told(result('a')), told(result('b')), after];
    expect(answerMessages(closure(), split)).toEqual(split);
    const histories = [
      [user, model(use('a')), model(use('b')), told(result('a'))],
      [user, model(use('a')), model(use('b')), told(result('b'))],
      [user, model(use('a')), model(use('b')), after],
      [user, model(use('a')), model(text('stopped')), after],
      [user, model(use('a'), use('b')), told(result('a')), after],
    ];
    for (const history of histories) expect(await judgeMessages(answerMessages(closure(), history))).toBe(null);
  });

  test("the provider's own calls and those that wait for an approval stay as they are", () => {
    const history: Messages = [
      user,
      { role: 'assistant', content: [{ type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }, use('a')] },
    ];
    const account = closure();
    expect(answerMessages(account, history, { waits: ({ id }) => id === 'a' })).toEqual(history);
    expect(account.activeGeneration).toBe(null);
    expect(answerMessages(account, history).at(-1)).toEqual(told(failed('a')));
  });

  test('whatever was stored when the process died, the provider takes it', async () => {
    const { judgeMessages } = await provider();
    const whole = [user, model(use('a'), use('b')), told(result('a'), result('b')), model(use('c')), told(result('c')), model(text('done')), after];
    for (const history of prefixes(whole, 1)) expect(await judgeMessages(answerMessages(closure(), history))).toBe(null);
    expect(answerMessages(closure(), whole)).toEqual(whole);
  });
});

test('a callback that begins another batch is found out', () => {
  const account = closure();
  const history: Messages = [{ role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'look', input: {} }] }];
  const known = () => void account.begin([]);
  expect(() => answerMessages(account, history, { known })).toThrow('another batch');
});
