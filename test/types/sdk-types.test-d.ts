/**
 * Compiled, never run: results go into the installed SDKs' parameters, and their calls into `begin`, without a cast, a
 * spread or a map wherever the fields agree.
 */
import type Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';
import type { ClosedSnapshot, ToolCallClosure } from 'tool-call-closure';

declare const closure: ToolCallClosure;
declare const closed: ClosedSnapshot;

// Results, as a whole array and pushed into a history.
export const chatMessages: OpenAI.Chat.ChatCompletionMessageParam[] = closure.toOpenAIChatCompletions(closed);
chatMessages.push(...closure.toOpenAIChatCompletions(closed));
export const chatBody: OpenAI.Chat.ChatCompletionCreateParams = { model: 'm', messages: closure.toOpenAIChatCompletions() };

export const input: OpenAI.Responses.ResponseInput = closure.toOpenAIResponses(closed);
input.push(...closure.toOpenAIResponses(closed));
export const responsesBody: OpenAI.Responses.ResponseCreateParams = { model: 'm', input: closure.toOpenAIResponses() };

export const content: Anthropic.ContentBlockParam[] = closure.toAnthropicToolResults(closed);
content.push(...closure.toAnthropicToolResults(closed), { type: 'text', text: 'And now?' });
export const message: Anthropic.MessageParam = { role: 'user', content: closure.toAnthropicToolResults() };
export const betaMessage: Anthropic.Beta.BetaMessageParam = { role: 'user', content: closure.toAnthropicToolResults() };

// Calls: Anthropic's blocks as they are.
declare const toolUse: Anthropic.ToolUseBlock[];
declare const betaToolUse: Anthropic.Beta.BetaToolUseBlock[];
declare const answer: Anthropic.Message;
closure.begin(toolUse);
closure.begin(betaToolUse);
closure.begin(answer.content.filter((block) => block.type === 'tool_use'));

// OpenAI's name the fields differently, and passing them by mistake must not compile.
declare const chatCalls: OpenAI.Chat.ChatCompletionMessageFunctionToolCall[];
declare const functionCalls: OpenAI.Responses.ResponseFunctionToolCall[];
// @ts-expect-error the name is in `function.name`
closure.begin(chatCalls);
// @ts-expect-error `id` names the item, `call_id` the call
closure.begin(functionCalls);
closure.begin(chatCalls.map(({ id, function: { name } }) => ({ id, name })));
closure.begin(functionCalls.map(({ call_id: id, name }) => ({ id, name })));

// One API's results are no other API's.
// @ts-expect-error a Chat message is no input item
input.push(...closure.toOpenAIChatCompletions(closed));
// @ts-expect-error an output item is no Chat message
chatMessages.push(...closure.toOpenAIResponses(closed));
// @ts-expect-error a Chat message is no content block
content.push(...closure.toOpenAIChatCompletions(closed));
// @ts-expect-error a result block is no message
chatMessages.push(...closure.toAnthropicToolResults(closed));
