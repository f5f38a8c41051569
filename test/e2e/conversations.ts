import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import type { ClosedSnapshot, ToolCall, ToolCallClosure } from 'tool-call-closure';
import type { Api, StandIn } from '../support/stand-in.js';

/** A host's side of one conversation, the same for each API: what differs between them is in this file alone. */
export interface Conversation {
  say(text: string): void;
  /** Sends the history, takes the answer into it and returns the calls to register. `rename` changes ids in both. */
  ask(rename?: (id: string) => string): Promise<ToolCall[]>;
  /** Puts the results of a closed batch where the API wants them. */
  answer(closed: ClosedSnapshot): void;
  /** A second conversation that goes on from here. */
  fork(): Conversation;

  /** For the wrong ways: the results as they are, a text in the place of a result, and adding what is not right. */
  results(closed: ClosedSnapshot): object[];
  text(text: string): object;
  add(items: object[]): void;
}

export interface Driver {
  readonly name: string;
  readonly api: Api;
  /** A provider that is stricter than the API it copies. */
  readonly adjacent?: true;
  /** Whether the host replays the calls itself and so may rename them. */
  readonly hostHoldsHistory: boolean;
  /** Whether the API takes an id again that an earlier turn used. */
  readonly takesRepeatedIds: boolean;
  start(standIn: StandIn, closure: ToolCallClosure): Conversation;
  /** The texts of all results in a request body, in order. */
  seen(body: unknown): string[];
}

const quiet = { apiKey: 'none', maxRetries: 0 };
const same = (id: string): string => id;

// Chat Completions ---------------------------------------------------------------------------------------------------

type ChatHistory = OpenAI.Chat.ChatCompletionMessageParam[];

export const chat: Driver = {
  name: 'chat.completions',
  api: 'chat',
  hostHoldsHistory: true,
  takesRepeatedIds: true,
  start: (standIn, closure) => chatConversation(new OpenAI({ baseURL: standIn.openaiBaseURL, ...quiet }), closure, []),
  seen: (body) => (body as { messages: ChatHistory }).messages.flatMap((m) => (m.role === 'tool' ? [m.content as string] : [])),
};

function chatConversation(client: OpenAI, closure: ToolCallClosure, messages: ChatHistory): Conversation {
  return {
    say: (content) => messages.push({ role: 'user', content }),
    async ask() {
      const { choices } = await client.chat.completions.create({ model: 'm', messages });
      const { message } = choices[0]!;
      messages.push(message);
      return (message.tool_calls ?? []).flatMap((call) => (call.type === 'function' ? [{ id: call.id, name: call.function.name }] : []));
    },
    answer: (closed) => messages.push(...closure.toOpenAIChatCompletions(closed)),
    fork: () => chatConversation(client, closure, [...messages]),
    results: (closed) => closure.toOpenAIChatCompletions(closed),
    text: (content) => ({ role: 'user', content }),
    add: (items) => messages.push(...(items as ChatHistory)),
  };
}

// Responses ----------------------------------------------------------------------------------------------------------

type Input = OpenAI.Responses.ResponseInputItem[];

const seenInput = (body: unknown): string[] =>
  (body as { input: Input }).input.flatMap((item) => (item.type === 'function_call_output' ? [item.output as string] : []));

export const responses: Driver = {
  name: 'responses, history held by the host',
  api: 'responses',
  hostHoldsHistory: true,
  takesRepeatedIds: false,
  start: (standIn, closure) => responsesConversation(new OpenAI({ baseURL: standIn.openaiBaseURL, ...quiet }), closure, []),
  seen: seenInput,
};

export const responsesHeld: Driver = {
  ...responses,
  name: 'responses, history held by the service',
  hostHoldsHistory: false,
  start: (standIn, closure) => responsesConversation(new OpenAI({ baseURL: standIn.openaiBaseURL, ...quiet }), closure, [], null),
};

export const responsesAdjacent: Driver = { ...responses, name: 'responses, outputs demanded next to their calls', adjacent: true };

/** `previous` is undefined if the host holds the history; otherwise `input` is what the service has not seen yet. */
function responsesConversation(client: OpenAI, closure: ToolCallClosure, input: Input, previous?: string | null): Conversation {
  return {
    say: (content) => input.push({ role: 'user', content }),
    async ask(rename = same) {
      const response = await client.responses.create({ model: 'm', input, ...(previous && { previous_response_id: previous }) });
      // Not every output item type of the SDK is an input item type, so the host says which ones it replays.
      const output = response.output
        .filter((item) => item.type === 'message' || item.type === 'function_call')
        .map((item) => (item.type === 'function_call' ? { ...item, call_id: rename(item.call_id) } : item));
      if (previous === undefined) {
        input.push(...output);
      } else {
        input = [];
        previous = response.id;
      }
      return output.flatMap((item) => (item.type === 'function_call' ? [{ id: item.call_id, name: item.name }] : []));
    },
    answer: (closed) => input.push(...closure.toOpenAIResponses(closed)),
    fork: () => responsesConversation(client, closure, [...input], previous),
    results: (closed) => closure.toOpenAIResponses(closed),
    text: (content) => ({ role: 'user', content }),
    add: (items) => input.push(...(items as Input)),
  };
}

// Anthropic Messages -------------------------------------------------------------------------------------------------

type Messages = Anthropic.MessageParam[];
type Send = (messages: Messages) => Promise<{ content: Anthropic.ContentBlock[] }>;

export const messages: Driver = {
  name: 'messages',
  api: 'anthropic',
  hostHoldsHistory: true,
  takesRepeatedIds: false,
  start: (standIn, closure) => {
    const client = new Anthropic({ baseURL: standIn.anthropicBaseURL, ...quiet });
    return anthropicConversation((history) => client.messages.create({ model: 'm', max_tokens: 64, messages: history }), closure, []);
  },
  seen: (body) =>
    (body as { messages: Messages }).messages.flatMap(({ content }) =>
      typeof content === 'string' ? [] : content.flatMap((block) => (block.type === 'tool_result' ? [block.content as string] : [])),
    ),
};

export const betaMessages: Driver = {
  ...messages,
  name: 'beta.messages',
  start: (standIn, closure) => {
    const client = new Anthropic({ baseURL: standIn.anthropicBaseURL, ...quiet });
    // The beta's blocks have types of their own; those that are used here have the same fields.
    const send = (history: Messages) => client.beta.messages.create({ model: 'm', max_tokens: 64, messages: history }) as unknown as ReturnType<Send>;
    return anthropicConversation(send, closure, []);
  },
};

function anthropicConversation(send: Send, closure: ToolCallClosure, history: Messages): Conversation {
  return {
    say: (content) => history.push({ role: 'user', content }),
    async ask(rename = same) {
      const message = await send(history);
      const content = message.content.map((block) => (block.type === 'tool_use' ? { ...block, id: rename(block.id) } : block));
      history.push({ role: 'assistant', content });
      return content.filter((block) => block.type === 'tool_use');
    },
    answer: (closed) => history.push({ role: 'user', content: closure.toAnthropicToolResults(closed) }),
    fork: () => anthropicConversation(send, closure, [...history]),
    results: (closed) => closure.toAnthropicToolResults(closed),
    text: (text) => ({ type: 'text', text }),
    add: (items) => history.push({ role: 'user', content: items as Anthropic.ContentBlockParam[] }),
  };
}
