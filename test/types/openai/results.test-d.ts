// Results go into an OpenAI request, and calls come out of a response, without a cast or a spread of our own objects.
// Compiled against every openai major that the contract names, so only names that all of them have are used.
import type OpenAI from 'openai';
// By their path: the namespace `OpenAI.Responses` of 4.87 lacks these names.
import type { Response, ResponseInput, ResponseInputItem } from 'openai/resources/responses/responses';
import { createToolCallClosure, type ToolCall } from 'tool-call-closure';

const closure = createToolCallClosure();
declare const client: OpenAI;

// Chat Completions: results into `messages`.
export const message: OpenAI.Chat.Completions.ChatCompletionToolMessageParam[] = closure.toOpenAIChatCompletions();
export const messages: OpenAI.Chat.Completions.ChatCompletionMessageParam[] = closure.toOpenAIChatCompletions();
messages.push(...closure.toOpenAIChatCompletions());
export const chat = client.chat.completions.create({ model: 'any', messages: closure.toOpenAIChatCompletions() });
export const chatParams: OpenAI.Chat.Completions.ChatCompletionCreateParams = { model: 'any', messages };

// Chat Completions: calls into `begin`. The name stands one level deeper, so they have to be mapped.
export function chatCalls(completion: OpenAI.Chat.Completions.ChatCompletion): ToolCall[] {
  const calls: ToolCall[] = [];
  for (const call of completion.choices[0]?.message.tool_calls ?? []) {
    if (call.type === 'function') calls.push({ id: call.id, name: call.function.name });
  }
  closure.begin(calls);
  // @ts-expect-error a Chat call has no `name` of its own
  closure.begin(completion.choices[0]?.message.tool_calls ?? []);
  return calls;
}

// Responses: results into `input`.
export const output: ResponseInputItem.FunctionCallOutput[] = closure.toOpenAIResponses();
export const input: ResponseInput = closure.toOpenAIResponses();
export const items: ResponseInputItem[] = closure.toOpenAIResponses();
items.push(...closure.toOpenAIResponses());
export const response = client.responses.create({ model: 'any', input: closure.toOpenAIResponses() });

// Responses: calls into `begin`. The item's `id` is not the call's.
export function responseCalls({ output }: Response): ToolCall[] {
  const calls: ToolCall[] = [];
  for (const item of output) if (item.type === 'function_call') calls.push({ id: item.call_id, name: item.name });
  closure.begin(calls);
  // @ts-expect-error not every item of a response is a call
  closure.begin(output);
  return calls;
}

// The wrong payload for the API does not compile.
// @ts-expect-error Responses items are no chat messages
export const noMessages: OpenAI.Chat.Completions.ChatCompletionMessageParam[] = closure.toOpenAIResponses();
// @ts-expect-error chat messages are no Responses items
export const noInput: ResponseInput = closure.toOpenAIChatCompletions();
// @ts-expect-error nor are Anthropic blocks
export const noBlocks: ResponseInput = closure.toAnthropicToolResults();
