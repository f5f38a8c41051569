import { request } from 'node:http';
import Anthropic, { type ClientOptions as AnthropicOptions } from '@anthropic-ai/sdk';
import OpenAI, { type ClientOptions } from 'openai';
import { describe, expect, onTestFinished, test } from 'vitest';
import { unpairedSurrogateEscape } from './raw-body.js';
import { startStandIn, type Api, type StandIn, type StandInOptions } from './stand-in.js';

/**
 * The stand-in has to be trusted before it can judge the library. Each rule is broken by a request that the real client
 * sends and that would pass without this rule, except where a later check of the same field would catch it too. The
 * requests that are accepted mark the other side of each line.
 */

type Bag = Record<string, unknown>;
type Body = Bag & { rawBody?: string };

interface Case {
  readonly rule: string;
  readonly of: string;
  readonly body: Body;
  readonly options?: StandInOptions;
  /** A response that the service holds first; its id becomes `previous_response_id`. */
  readonly after?: { readonly input: unknown; readonly output: unknown[] };
}

// Chat ---------------------------------------------------------------------------------------------------------------

const user = { role: 'user' as const, content: 'go' };
const chatCall = (id: unknown, name = 'look'): Bag => ({ id, type: 'function', function: { name, arguments: '{}' } });
const announce = (...ids: unknown[]): Bag => ({ role: 'assistant', content: null, tool_calls: ids.map((id) => chatCall(id)) });
const tell = (id: unknown, content: unknown = 'seen'): Bag => ({ role: 'tool', tool_call_id: id, content });
const chat = (...messages: unknown[]): Body => ({ messages: [user, ...messages] });
const many = (n: number): string[] => Array.from({ length: n }, (_, k) => `call_${k}`);
const tenMiB = 10_485_760;

const chatRefused: Case[] = [
  { rule: 'C01', of: 'a high surrogate alone', body: chat(announce('a'), tell('a', 'cut \ud83d')) },
  { rule: 'C01', of: 'a low surrogate alone', body: chat(announce('a'), tell('a', '\ude00 cut')) },
  { rule: 'C01', of: 'a body that is no JSON', body: { rawBody: '{"messages":[' } },
  { rule: 'C02', of: 'a result without id', body: chat(announce('a'), tell('a'), tell(undefined)) },
  { rule: 'C02', of: 'a result with an empty id', body: chat(announce('a'), tell('a'), tell('')) },
  { rule: 'C03', of: 'no calls in tool_calls', body: chat(announce()) },
  { rule: 'C04', of: '129 calls', body: chat(announce(...many(129)), ...many(129).map((id) => tell(id))) },
  { rule: 'C05', of: 'a call without id', body: chat(announce(undefined)) },
  { rule: 'C05', of: 'a call with an empty id', body: chat(announce('')) },
  { rule: 'C06', of: 'a call id of 41', body: chat(announce('x'.repeat(41)), tell('x'.repeat(41))) },
  { rule: 'C06', of: 'a call id of 65 on a newer route', body: chat(announce('x'.repeat(65)), tell('x'.repeat(65))), options: { idMax: 64 } },
  { rule: 'C06', of: 'a result id of 41', body: chat(announce('a'), tell('a'), tell('x'.repeat(41))) },
  { rule: 'C06', of: 'content one character over 10 MiB', body: chat(announce('a'), tell('a', 'x'.repeat(tenMiB + 1))) },
  { rule: 'C07', of: 'a call without name', body: chat({ role: 'assistant', tool_calls: [chatCall('a', '')] }, tell('a')) },
  { rule: 'C08', of: 'null content', body: chat(announce('a'), tell('a', null)) },
  { rule: 'C08', of: 'absent content', body: chat(announce('a'), { role: 'tool', tool_call_id: 'a' }) },
  { rule: 'C08', of: 'an object as content', body: chat(announce('a'), tell('a', { temp: 3 })) },
  { rule: 'C08', of: 'no parts as content', body: chat(announce('a'), tell('a', [])) },
  { rule: 'C09', of: 'a result after no call', body: chat(tell('a')) },
  { rule: 'C09', of: "last turn's result in a later turn", body: chat(announce('a'), tell('a'), user, tell('a')) },
  { rule: 'C10', of: 'a result for an unknown id', body: chat(announce('a'), tell('a'), tell('z')) },
  { rule: 'C11', of: 'a dropped result', body: chat(announce('a', 'b'), tell('a')) },
  { rule: 'C11', of: 'a user message before the results', body: chat(announce('a'), user, tell('a')) },
  { rule: 'C11', of: 'an assistant message before the results', body: chat(announce('a'), announce('b'), tell('b'), tell('a')) },
  { rule: 'C12', of: 'one id announced twice', body: chat(announce('a', 'a'), tell('a')) },
  { rule: 'C12', of: 'one id answered twice', body: chat(announce('a'), tell('a'), tell('a')) },
  { rule: 'shape', of: 'Responses items in messages', body: chat(announce('a'), { type: 'function_call_output', call_id: 'a', output: '' }) },
];

const chatAccepted: Omit<Case, 'rule'>[] = [
  { of: 'a full batch', body: chat(announce('a', 'b'), tell('a'), tell('b')) },
  { of: 'results in another order', body: chat(announce('a', 'b'), tell('b'), tell('a')) },
  { of: 'an empty result', body: chat(announce('a'), tell('a', '')) },
  { of: 'text parts', body: chat(announce('a'), tell('a', [{ type: 'text', text: 'seen' }])) },
  { of: 'a whole emoji and a written-out escape', body: chat(announce('a'), tell('a', '\u{1F600} "\\ud83d"')) },
  { of: 'the same ids in two turns', body: chat(announce('a'), tell('a'), announce('a'), tell('a')) },
  { of: '128 calls', body: chat(announce(...many(128)), ...many(128).map((id) => tell(id))) },
  { of: 'ids of 40', body: chat(announce('x'.repeat(40)), tell('x'.repeat(40))) },
  { of: 'ids of 64 on a newer route', body: chat(announce('x'.repeat(64)), tell('x'.repeat(64))), options: { idMax: 64 } },
  { of: 'a custom call', body: chat({ role: 'assistant', tool_calls: [{ id: 'a', type: 'custom', custom: { name: 'n', input: '' } }] }, tell('a')) },
];

// Responses ----------------------------------------------------------------------------------------------------------

const call = (call_id: unknown, more: Bag = {}): Bag => ({ type: 'function_call', call_id, name: 'look', arguments: '{}', ...more });
const output = (call_id: unknown, more: Bag = {}): Bag => ({ type: 'function_call_output', call_id, output: 'seen', ...more });
const input = (...items: unknown[]): Body => ({ input: [user, ...items] });
const program = { type: 'program', caller_id: 'prog_1' };
const customCall = { type: 'custom_tool_call', call_id: 'a', name: 'n', input: '' };
const heldCall = { input: 'go', output: [call('a', { id: 'fc_1' })] };
const adjacent: StandInOptions = { adjacent: true };

const responsesRefused: Case[] = [
  { rule: 'R01', of: 'a high surrogate before another escape', body: input(call('a'), output('a', { output: '\ud83d\n' })) },
  { rule: 'R01', of: 'a body that is no JSON', body: { rawBody: 'input' } },
  { rule: 'R02', of: 'a Chat tool message', body: input(tell('a')) },
  { rule: 'R03', of: 'an empty call_id', body: input(call(''), output('')) },
  { rule: 'R04', of: 'a call_id of 65', body: input(call('x'.repeat(65)), output('x'.repeat(65))) },
  { rule: 'R05', of: 'an output with neither call_id nor name', body: input(output(undefined)) },
  { rule: 'R06', of: 'an absent output', body: input(call('a'), output('a', { output: undefined })) },
  { rule: 'R07', of: 'null as output', body: input(call('a'), output('a', { output: null })) },
  { rule: 'R07', of: 'an object as output', body: input(call('a'), output('a', { output: {} })) },
  { rule: 'R08', of: 'output one character over 10 MiB', body: input(call('a'), output('a', { output: 'x'.repeat(tenMiB + 1) })) },
  { rule: 'R09', of: 'an output for an unknown call', body: input(output('z')) },
  { rule: 'R09', of: 'an output before its call', body: input(output('a'), call('a')) },
  { rule: 'R09', of: "the item's id instead of its call_id", body: input(call('a', { id: 'fc_1' }), output('fc_1')) },
  { rule: 'R09', of: 'a function output for a custom call', body: input(customCall, output('a')) },
  { rule: 'R10', of: 'a dropped output', body: input(call('a'), call('b'), output('a')) },
  { rule: 'R10', of: 'a held call without output', body: input(), after: heldCall },
  { rule: 'R11', of: 'a second output', body: input(call('a'), output('a'), output('a')) },
  { rule: 'R11', of: 'the same call_id in two turns', body: input(call('a'), output('a'), call('a'), output('a')) },
  {
    rule: 'R11',
    of: 'an output for a call answered in the held history',
    body: input(output('a')),
    after: { input: [call('a'), output('a')], output: [] },
  },
  { rule: 'R12', of: "a call's call_id as its item id", body: input(call('call_1', { id: 'call_1' }), output('call_1')) },
  {
    rule: 'R13',
    of: 'an item id that the service holds already',
    body: input(call('b', { id: 'fc_1' }), output('b'), output('a')),
    after: heldCall,
  },
  { rule: 'R14', of: 'a programmatic call answered without its caller', body: input(call('a', { caller: program }), output('a')) },
  { rule: 'R15', of: 'a message between call and output', body: input(call('a'), user, output('a')), options: adjacent },
  {
    rule: 'R15',
    of: 'a call between outputs',
    body: input(call('a'), call('b'), output('a'), call('c'), output('b'), output('c')),
    options: adjacent,
  },
  { rule: 'previous', of: 'a response that the service does not hold', body: { ...input(), previous_response_id: 'resp_none' } },
  { rule: 'shape', of: 'a call without call_id', body: input(call(undefined)) },
];

const responsesAccepted: Omit<Case, 'rule'>[] = [
  { of: 'a full batch', body: input(call('a', { id: 'fc_1' }), call('b', { id: 'fc_2' }), output('a'), output('b')) },
  { of: 'outputs in another order', body: input(call('a'), call('b'), output('b'), output('a')) },
  { of: 'a message between call and output', body: input(call('a'), user, output('a')) },
  { of: 'an empty output', body: input(call('a'), output('a', { output: '' })) },
  { of: 'parts as output', body: input(call('a'), output('a', { output: [{ type: 'input_text', text: 'seen' }] })) },
  { of: 'an injected, named output', body: input(output(null, { name: 'look' })) },
  { of: 'a call_id of 64', body: input(call('x'.repeat(64)), output('x'.repeat(64))) },
  { of: 'an asynchronous call left open', body: input(call('a', { async: true })) },
  { of: 'a hosted call', body: input({ type: 'web_search_call', id: 'ws_1', status: 'completed' }) },
  { of: 'a caller copied', body: input(call('a', { caller: program }), output('a', { caller: program })) },
  { of: 'a custom call and its output', body: input(customCall, output('a', { type: 'custom_tool_call_output' })) },
  { of: 'a held call answered', body: input(output('a')), after: heldCall },
  { of: 'a held call that the service answered', body: input(), after: { input: 'go', output: [call('a'), output('a')] } },
  {
    of: 'a held group answered at once',
    body: { input: [output('b'), output('a'), user] },
    after: { input: 'go', output: [call('a'), call('b')] },
    options: adjacent,
  },
];

// Anthropic ----------------------------------------------------------------------------------------------------------

const text = (t = 'and now?'): Bag => ({ type: 'text', text: t });
const use = (id: unknown): Bag => ({ type: 'tool_use', id, name: 'look', input: {} });
const result = (id: unknown, more: Bag = {}): Bag => ({ type: 'tool_result', tool_use_id: id, content: 'seen', ...more });
const says = (...content: unknown[]): Bag => ({ role: 'assistant', content });
const gives = (...content: unknown[]): Bag => ({ role: 'user', content });
const turns = (...messages: unknown[]): Body => ({ messages: [user, ...messages] });
const search = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} };
const found = { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] };

const anthropicRefused: Case[] = [
  { rule: 'M01', of: 'a high surrogate alone', body: turns(says(use('a')), gives(result('a', { content: 'cut \ud83d' }))) },
  { rule: 'M01', of: 'a body that is no JSON', body: { rawBody: '' } },
  { rule: 'M02', of: 'a result in an assistant message', body: turns(says(use('a')), gives(result('a')), says(result('a'))) },
  { rule: 'M03', of: 'a call in a user message', body: turns(gives(use('a'))) },
  { rule: 'M04', of: 'a result without id', body: turns(says(use('a')), gives(result('a'), result(undefined))) },
  { rule: 'M05', of: 'a call id with a colon', body: turns(says(use('list_dir:0')), gives(result('list_dir:0'))) },
  { rule: 'M05', of: 'a result id with a bar', body: turns(says(use('a')), gives(result('a'), result('a|b'))) },
  { rule: 'M05', of: 'an empty id', body: turns(says(use('')), gives(result(''))) },
  { rule: 'M06', of: 'one id in two turns', body: turns(says(use('a')), gives(result('a')), says(use('a')), gives(result('a'))) },
  { rule: 'M07', of: 'a dropped result', body: turns(says(use('a'), use('b')), gives(result('a'))) },
  { rule: 'M07', of: 'no turn after the call', body: turns(says(use('a'))) },
  { rule: 'M07', of: 'text before the results', body: turns(says(use('a')), gives(text(), result('a'))) },
  { rule: 'M07', of: 'text between the results', body: turns(says(use('a'), use('b')), gives(result('a'), text(), result('b'))) },
  { rule: 'M07', of: 'a user message before the results', body: turns(says(use('a')), user, gives(result('a'))) },
  { rule: 'M07', of: 'text after the call', body: turns(says(use('a'), text()), gives(result('a'))) },
  { rule: 'M08', of: 'a result for an unknown id', body: turns(says(use('a')), gives(result('a'), result('z'))) },
  { rule: 'M08', of: "last turn's result in a later turn", body: turns(says(use('a')), gives(result('a')), says(use('b')), gives(result('a'))) },
  { rule: 'M08', of: 'a result for a server tool', body: turns(says(search, found), gives(result('srvtoolu_1'))) },
  { rule: 'M08', of: 'a result in the first turn', body: { messages: [gives(result('a'))] } },
  { rule: 'M09', of: 'a second result', body: turns(says(use('a')), gives(result('a'), result('a'))) },
  { rule: 'M10', of: 'an error without content', body: turns(says(use('a')), gives(result('a', { is_error: true, content: undefined }))) },
  { rule: 'M10', of: 'an error with empty content', body: turns(says(use('a')), gives(result('a', { is_error: true, content: '' }))) },
  { rule: 'M10', of: 'an error without parts', body: turns(says(use('a')), gives(result('a', { is_error: true, content: [] }))) },
  { rule: 'M11', of: 'an empty text block', body: turns(says(text()), gives(text(''))) },
  { rule: 'M11', of: 'an empty text block in a result', body: turns(says(use('a')), gives(result('a', { content: [text('')] }))) },
  { rule: 'M12', of: 'text after results while a server tool waits', body: turns(says(search, use('a')), gives(result('a'), text())) },
  { rule: 'M13', of: 'an object as content', body: turns(says(use('a')), gives(result('a', { content: {} }))) },
  { rule: 'shape', of: 'a user turn without content', body: turns(says(text()), gives()) },
];

const anthropicAccepted: Omit<Case, 'rule'>[] = [
  { of: 'a full batch', body: turns(says(text(), use('a'), use('b')), gives(result('a'), result('b'))) },
  { of: 'results in another order', body: turns(says(use('a'), use('b')), gives(result('b'), result('a'))) },
  { of: 'text after the results', body: turns(says(use('a')), gives(result('a'), text())) },
  { of: 'a user message after the results', body: turns(says(use('a')), gives(result('a')), user) },
  { of: 'results in two messages', body: turns(says(use('a'), use('b')), gives(result('a')), gives(result('b'))) },
  { of: 'calls in two messages', body: turns(says(use('a')), says(use('b')), gives(result('a'), result('b'))) },
  { of: 'an empty result', body: turns(says(use('a')), gives(result('a', { content: '' }))) },
  { of: 'a result without content', body: turns(says(use('a')), gives({ type: 'tool_result', tool_use_id: 'a' })) },
  { of: 'an error with content', body: turns(says(use('a')), gives(result('a', { is_error: true }))) },
  { of: 'results only while a server tool waits', body: turns(says(search, use('a')), gives(result('a'))) },
  { of: 'text after results of a finished server tool', body: turns(says(search, found, use('a')), gives(result('a'), text())) },
];

// Order --------------------------------------------------------------------------------------------------------------

/** Two faults in one request. As at the services, the shape of each part is judged before calls are paired with results. */
const firstOfTwo: Record<Api, Case[]> = {
  chat: [
    { rule: 'C02', of: 'a result without id and content', body: chat({ role: 'tool' }) },
    { rule: 'C06', of: 'a long id that nothing announced', body: chat(announce('a'), tell('x'.repeat(41))) },
    { rule: 'C08', of: 'null content for an unknown id', body: chat(announce('a'), tell('z', null)) },
    { rule: 'C04', of: '129 calls without ids', body: chat(announce(...many(129).map(() => undefined))) },
    { rule: 'C12', of: 'a repeated id of a call without name', body: chat({ role: 'assistant', tool_calls: [chatCall('a'), chatCall('a', '')] }) },
    { rule: 'C11', of: 'an open call before a message without ids', body: chat(announce('a'), announce(undefined)) },
  ],
  responses: [
    { rule: 'R02', of: 'a Chat tool message with an empty call_id', body: input({ ...tell('a'), call_id: '' }) },
    { rule: 'R04', of: 'a long call_id with a wrong item id', body: input(call('x'.repeat(65), { id: 'call_1' })) },
    { rule: 'R06', of: 'an output without anything', body: input({ type: 'function_call_output' }) },
    { rule: 'R07', of: 'null as output of an unknown call', body: input(output('z', { output: null })) },
    { rule: 'R11', of: 'a second output without its caller', body: input(call('a', { caller: program }), output('a', { caller: program }), output('a')) },
    { rule: 'R09', of: 'an unknown output while a call is open', body: input(call('a'), output('z')) },
  ],
  anthropic: [
    { rule: 'M05', of: 'an ill-formed id of an error without content', body: turns(says(use('a')), gives(result('a|b', { is_error: true, content: '' }))) },
    { rule: 'M06', of: 'a repeated id while its call is open', body: turns(says(use('a'), use('a'))) },
    { rule: 'M09', of: 'an unknown id answered twice', body: turns(says(use('a')), gives(result('z'), result('z'))) },
    { rule: 'M08', of: 'an unknown id instead of the call', body: turns(says(use('a')), gives(result('z'))) },
    { rule: 'M07', of: 'a dropped result while a server tool waits', body: turns(says(search, use('a')), gives(text())) },
  ],
};

// Drivers ------------------------------------------------------------------------------------------------------------

interface Client {
  readonly api: Api;
  readonly refused: readonly Case[];
  readonly accepted: readonly Omit<Case, 'rule'>[];
  readonly BadRequestError: typeof OpenAI.BadRequestError | typeof Anthropic.BadRequestError;
  /** What the client sends; the bodies are wrong on purpose, so their types are given up here. */
  send(standIn: StandIn, body: Bag): Promise<unknown>;
}

const quiet = { apiKey: 'none', maxRetries: 0 };
const openai = ({ openaiBaseURL }: StandIn, options: ClientOptions = {}): OpenAI =>
  new OpenAI({ baseURL: openaiBaseURL, ...quiet, ...options });
const anthropic = ({ anthropicBaseURL }: StandIn, options: AnthropicOptions = {}): Anthropic =>
  new Anthropic({ baseURL: anthropicBaseURL, ...quiet, ...options });
const limits = { model: 'm', max_tokens: 64 };

const clients: Record<string, Client> = {
  'openai chat.completions': {
    api: 'chat',
    refused: chatRefused,
    accepted: chatAccepted,
    BadRequestError: OpenAI.BadRequestError,
    send: (standIn, body) => openai(standIn).chat.completions.create({ model: 'm', ...body } as never),
  },
  'openai responses': {
    api: 'responses',
    refused: responsesRefused,
    accepted: responsesAccepted,
    BadRequestError: OpenAI.BadRequestError,
    send: (standIn, body) => openai(standIn).responses.create({ model: 'm', ...body } as never),
  },
  'anthropic messages': {
    api: 'anthropic',
    refused: anthropicRefused,
    accepted: anthropicAccepted,
    BadRequestError: Anthropic.BadRequestError,
    send: (standIn, body) => anthropic(standIn).messages.create({ ...limits, ...body } as never),
  },
  'anthropic beta.messages': {
    api: 'anthropic',
    refused: anthropicRefused,
    accepted: anthropicAccepted,
    BadRequestError: Anthropic.BadRequestError,
    send: (standIn, body) => anthropic(standIn).beta.messages.create({ ...limits, ...body } as never),
  },
};

async function start(options?: StandInOptions): Promise<StandIn> {
  const standIn = await startStandIn(options);
  onTestFinished(() => standIn.close());
  return standIn;
}

async function run({ api, send }: Client, { body, options, after }: Omit<Case, 'rule'>): Promise<{ standIn: StandIn; sent: Promise<unknown> }> {
  const standIn = await start(after ? { ...options, script: () => ({ replace: { output: after.output } }) } : options);
  if (after) {
    const { id } = (await send(standIn, { input: after.input })) as { id: string };
    body = { ...body, previous_response_id: id };
  }
  return { standIn, sent: body.rawBody === undefined ? send(standIn, body) : sendRaw(standIn, api, body.rawBody) };
}

/** The clients write valid JSON only, so a broken body is put in place of theirs; they still read the answer. */
function sendRaw(standIn: StandIn, api: Api, rawBody: string): Promise<unknown> {
  const fetchRaw = (url: string | URL | Request, init?: RequestInit): Promise<Response> => fetch(url, { ...init, body: rawBody });
  return api === 'anthropic'
    ? anthropic(standIn, { fetch: fetchRaw }).messages.create({ ...limits, messages: [] })
    : openai(standIn, { fetch: fetchRaw }).post(api === 'chat' ? '/chat/completions' : '/responses', { body: {} });
}

describe.each(Object.entries(clients))('%s', (_name, client) => {
  test.each([...client.refused, ...firstOfTwo[client.api]])('$rule refuses $of', async (example) => {
    const { standIn, sent } = await run(client, example);
    const error = await sent.then(
      () => expect.fail('was accepted'),
      (reason: unknown) => reason as InstanceType<typeof OpenAI.BadRequestError>,
    );
    expect(error).toBeInstanceOf(client.BadRequestError);
    expect(error).toMatchObject({ status: 400, type: 'invalid_request_error' });
    expect(error.headers.get('x-rule')).toBe(example.rule);
    expect(error.requestID).toMatch(/^req_/);
    expect(standIn.requests.at(-1)).toMatchObject({ api: client.api, status: 400, rule: example.rule });
  });

  test.each(client.accepted)('accepts $of', async (example) => {
    const { standIn, sent } = await run(client, example);
    await sent;
    expect(standIn.requests.map(({ status, rule, message }) => ({ status, rule, message }))).toEqual(
      standIn.requests.map(() => ({ status: 200, rule: null, message: null })),
    );
  });
});

test('every rule of the tables is broken by an example', () => {
  const ids = (prefix: string, n: number): string[] => Array.from({ length: n }, (_, k) => `${prefix}${String(k + 1).padStart(2, '0')}`);
  const covered = new Set([...chatRefused, ...responsesRefused, ...anthropicRefused].map(({ rule }) => rule));
  expect([...ids('C', 12), ...ids('R', 15), ...ids('M', 13)].filter((rule) => !covered.has(rule))).toEqual([]);
});

// Envelope -----------------------------------------------------------------------------------------------------------

test('OpenAI errors carry param and code', async () => {
  const standIn = await start();
  const sent = openai(standIn).chat.completions.create({ model: 'm', messages: [{ role: 'assistant', tool_calls: [] }] });
  await expect(sent).rejects.toMatchObject({ param: 'messages[0].tool_calls', code: 'empty_array' });
});

test('Anthropic errors carry the request id in header and body', async () => {
  const standIn = await start();
  const sent = anthropic(standIn).messages.create({ ...limits, messages: [{ role: 'user', content: [{ type: 'text', text: '' }] }] });
  await expect(sent).rejects.toMatchObject({ requestID: 'req_1', error: { type: 'error', request_id: 'req_1' } });
});

test('the clients read a scripted model: calls first, then text', async () => {
  const standIn = await start({ script: ({ turn }) => (turn === 0 ? [{ id: 'a', name: 'look', arguments: { at: 'sky' } }] : 'done') });
  const client = openai(standIn);
  const messages = [user];

  const asked = await client.chat.completions.create({ model: 'm', messages });
  expect(asked.choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { content: null } });
  expect(asked.choices[0]?.message.tool_calls).toEqual([{ id: 'a', type: 'function', function: { name: 'look', arguments: '{"at":"sky"}' } }]);
  const ended = await client.chat.completions.create({ model: 'm', messages });
  expect(ended.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'done' } });

  const response = await client.responses.create({ model: 'm', input: 'go' });
  expect(response).toMatchObject({ status: 'completed', output: [{ type: 'function_call', call_id: 'a', name: 'look' }] });
  const last = await client.responses.create({
    model: 'm',
    input: [{ type: 'function_call_output', call_id: 'a', output: '' }],
    previous_response_id: response.id,
  });
  expect(last.output_text).toBe('done');

  const message = await anthropic(standIn).messages.create({ ...limits, messages });
  expect(message).toMatchObject({ stop_reason: 'tool_use', content: [{ type: 'tool_use', id: 'a', input: { at: 'sky' } }] });
  const final = await anthropic(standIn).messages.create({ ...limits, messages });
  expect(final).toMatchObject({ stop_reason: 'end_turn', content: [{ type: 'text', text: 'done' }] });
});

test.each(['2023-06-01', '2026-10-21'])('anthropic-version %s is accepted', async (version) => {
  const standIn = await start();
  await anthropic(standIn, { defaultHeaders: { 'anthropic-version': version } }).messages.create({ ...limits, messages: [user] });
  expect(standIn.requests).toMatchObject([{ status: 200 }]);
});

test.each(['2022-01-01', null])('anthropic-version %s is refused', async (version) => {
  const standIn = await start();
  const sent = anthropic(standIn, { defaultHeaders: { 'anthropic-version': version } }).messages.create({ ...limits, messages: [user] });
  await expect(sent).rejects.toBeInstanceOf(Anthropic.BadRequestError);
  expect(standIn.requests).toMatchObject([{ status: 400, rule: 'version' }]);
});

test('the query that beta clients before 1.0 add is accepted', async () => {
  const standIn = await start();
  await anthropic(standIn).post('/v1/messages?beta=true', { body: { ...limits, messages: [user] } });
  expect(standIn.requests).toMatchObject([{ url: '/v1/messages?beta=true', status: 200 }]);
});

test('a body over the limit is refused with 413, whether or not its length is announced', async () => {
  const standIn = await start({ maxBodyBytes: 1000 });
  const content = 'x'.repeat(1000);
  const sent = anthropic(standIn).messages.create({ ...limits, messages: [{ role: 'user', content }] });
  await expect(sent).rejects.toMatchObject({ status: 413, type: 'request_too_large' });
  await expect(openai(standIn).responses.create({ model: 'm', input: content })).rejects.toMatchObject({ status: 413 });

  const status = await new Promise<number | undefined>((resolve, reject) => {
    const sending = request(`${standIn.openaiBaseURL}/responses`, { method: 'POST' }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    sending.on('error', reject);
    for (let k = 0; k < 100; k++) sending.write(content);
    sending.end();
  });
  expect(status).toBe(413);
});

test('an unknown path is 404', async () => {
  const standIn = await start();
  await expect(openai(standIn).post('/embeddings', { body: {} })).rejects.toBeInstanceOf(OpenAI.NotFoundError);
});

test('nothing listens after close', async () => {
  const standIn = await startStandIn();
  await standIn.close();
  await expect(fetch(standIn.openaiBaseURL)).rejects.toThrow();
});

test.each([
  [String.raw`"\ud83d\ude00"`, null],
  [String.raw`"\\ud83d"`, null],
  [String.raw`"\\\ud83d"`, 'high surrogate without a low one at character 3'],
  [String.raw`"\uD83D\uD83D\uDE00"`, 'high surrogate followed by another escape at character 1'],
  [String.raw`"\ud83d\n"`, 'high surrogate without a low one at character 1'],
  [String.raw`"\u0041\ude00"`, 'low surrogate without a high one at character 7'],
])('escapes in %s', (text, fault) => {
  expect(unpairedSurrogateEscape(text)).toBe(fault);
});
