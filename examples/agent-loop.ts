/**
 * The main job, against the real clients of three provider APIs: a model announces three tool calls; one tool answers,
 * one throws, one hangs; the run is aborted. Each call still gets exactly one result, so the next request is accepted.
 *
 * There is no key and no network here: a loopback stand-in plays the provider and applies its rules for tool results.
 */
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { type ToolCall, ToolCallClosure } from 'tool-call-closure';
import { startStandIn } from '../test/support/stand-in.js';

const provider = await startStandIn({
  script: ({ turn }) =>
    turn === 0
      ? ['read_file', 'query_db', 'crawl_site'].map((name, i) => ({ id: `call_${i + 1}`, name, arguments: {} }))
      : 'Two of the three tools gave an answer. I go on with these.',
});
const openai = new OpenAI({ apiKey: 'none', baseURL: provider.openaiBaseURL, maxRetries: 0 });
const anthropic = new Anthropic({ apiKey: 'none', baseURL: provider.anthropicBaseURL, maxRetries: 0 });

const model = 'stand-in';
const question = { role: 'user', content: 'Look it up.' } as const;

/** A request that may be refused: `null`, or what the provider said. */
const refusal = (request: Promise<unknown>) => request.then(() => null, (error: Error) => error.message);

/** What differs between the APIs: how calls are announced, and how results are sent. */
interface Conversation {
  title: string;
  /** Asks the model, and gives the calls that it announced. */
  ask(): Promise<ToolCall[]>;
  /** Puts the model's turn into the history, once its calls are registered. */
  store(): void;
  /** The results of the closed batch, as this API wants them. */
  results(closure: ToolCallClosure): object[];
  /** Sends results; gives the refusal, or `null` if they were accepted. */
  send(results: object[]): Promise<string | null>;
}

function chatCompletions(): Conversation {
  const messages: OpenAI.Chat.ChatCompletionMessageParam[] = [question];
  let turn: OpenAI.Chat.ChatCompletionMessage;
  return {
    title: 'OpenAI Chat Completions',
    async ask() {
      const { choices } = await openai.chat.completions.create({ model, messages });
      turn = choices[0]!.message;
      const calls = turn.tool_calls ?? [];
      return calls.flatMap((call) => (call.type === 'function' ? [{ id: call.id, name: call.function.name }] : []));
    },
    store: () => void messages.push(turn),
    results: (closure) => closure.toOpenAIChatCompletions(),
    send: (results) => refusal(openai.chat.completions.create({ model, messages: [...messages, ...(results as typeof messages)] })),
  };
}

function responses(): Conversation {
  const input: OpenAI.Responses.ResponseInputItem[] = [question];
  let turn: typeof input;
  return {
    title: 'OpenAI Responses',
    async ask() {
      const { output } = await openai.responses.create({ model, input, store: false });
      turn = output as typeof input;
      // `call_id`, not `id`: the latter names the item.
      return output.flatMap((item) => (item.type === 'function_call' ? [{ id: item.call_id, name: item.name }] : []));
    },
    store: () => void input.push(...turn),
    results: (closure) => closure.toOpenAIResponses(),
    send: (results) => refusal(openai.responses.create({ model, input: [...input, ...(results as typeof input)], store: false })),
  };
}

function anthropicMessages(): Conversation {
  const messages: Anthropic.MessageParam[] = [question];
  let turn: Anthropic.MessageParam;
  return {
    title: 'Anthropic Messages',
    async ask() {
      const { content } = await anthropic.messages.create({ model, max_tokens: 100, messages });
      turn = { role: 'assistant', content };
      return content.filter((block) => block.type === 'tool_use');
    },
    store: () => void messages.push(turn),
    results: (closure) => closure.toAnthropicToolResults(),
    send: (results) =>
      refusal(anthropic.messages.create({ model, max_tokens: 100, messages: [...messages, { role: 'user', content: results as Anthropic.ToolResultBlockParam[] }] })),
  };
}

const expectations: [what: string, holds: boolean][] = [];
const expect = (what: string, holds: boolean) => {
  expectations.push([what, holds]);
  console.log(`  ${holds ? 'ok' : 'FAILED'}: ${what}`);
};

async function run(conversation: Conversation) {
  console.log(`\n${conversation.title}`);
  const calls = await conversation.ask();
  const closure = new ToolCallClosure();
  const controller = new AbortController();
  const { handle } = closure.begin(calls, { signal: controller.signal });
  conversation.store();

  let answerLate!: (page: string) => void;
  const tools: Record<string, () => Promise<unknown>> = {
    read_file: async () => ({ lines: 42 }),
    query_db: async () => {
      throw new Error('relation "users" does not exist');
    },
    // It ignores the abort, and answers when nobody waits any more.
    crawl_site: () => new Promise((resolve) => (answerLate = resolve)),
  };
  const arrivals = calls.map(({ id, name }) => closure.track(handle, id, tools[name]!()));
  await Promise.all(arrivals.slice(0, 2));

  controller.abort({ code: 'user_stop', message: 'The user stopped the run.' });
  const closed = await closure.sealWhenSettled(handle);
  if (closed.accepted === false || closed.generation !== closure.activeGeneration) throw new Error('no other batch was begun');

  console.table(
    Object.fromEntries(
      closed.calls.map(({ id, name, state, settlement }) => [
        id,
        { tool: name, outcome: state, provenance: settlement.provenance, code: settlement.status === 'success' ? '' : settlement.code },
      ]),
    ),
  );
  const results = conversation.results(closure);
  for (const result of results) console.log(`  ${JSON.stringify(result)}`);

  const partial = await conversation.send(results.slice(0, 2));
  console.log(`  without the hung call: ${partial}`);
  const rule = provider.requests.at(-1)!.rule;
  expect(`the provider refuses a follow-up that leaves a call open (rule ${rule})`, ['C11', 'R10', 'M07'].includes(rule ?? ''));
  expect('the provider accepts the whole batch', (await conversation.send(results)) === null);

  answerLate('<html>');
  const late = await arrivals[2]!;
  expect(`the late result is refused: ${late.accepted ? '' : late.reason}`, !late.accepted && late.reason === 'run_closed');
  expect('and changes nothing that was sent', JSON.stringify(conversation.results(closure)) === JSON.stringify(results));
  const provenances = closed.calls.map(({ settlement }) => `${settlement.status} ${settlement.provenance}`);
  expect('one answer, one error, one synthetic cancellation', provenances.join() === 'success reported,error reported,cancelled synthetic');
}

for (const conversation of [chatCompletions(), responses(), anthropicMessages()]) await run(conversation);
await provider.close();

const failed = expectations.filter(([, holds]) => !holds);
console.log(`\n${expectations.length - failed.length} of ${expectations.length} expectations hold.`);
process.exitCode = failed.length === 0 && expectations.length === 15 ? 0 : 1;
