import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import type { ResponseInputItem, ResponseOutputItem } from 'openai/resources/responses/responses';
import { createToolCallClosure, type ClosedSnapshot, type OperationRejection, type ToolCall, type ToolCallClosure } from 'tool-call-closure';
import { expect, onTestFinished } from 'vitest';
import { startStandIn, type Reply, type StandInOptions } from '../support/stand-in.js';

export type ChatHistory = OpenAI.Chat.ChatCompletionMessageParam[];
export type Input = ResponseInputItem[];
export type Messages = Anthropic.MessageParam[];

/** The stand-in with the real clients on it. It answers as scripted and is done after that. */
export async function provider(model: readonly Reply[] = [], options: StandInOptions = {}) {
  const standIn = await startStandIn({ script: ({ turn }) => model[turn] ?? 'done', ...options });
  onTestFinished(() => standIn.close());
  const quiet = { apiKey: 'none', maxRetries: 0 };
  const openai = new OpenAI({ baseURL: standIn.openaiBaseURL, ...quiet });
  const anthropic = new Anthropic({ baseURL: standIn.anthropicBaseURL, ...quiet });

  /** The rule that the request broke, `null` if it was accepted. */
  const verdict = async (request: Promise<unknown>): Promise<string | null> => {
    await request.catch((error: unknown) => expect(error).toMatchObject({ status: 400 }));
    return standIn.requests.at(-1)!.rule;
  };
  const chat = (messages: ChatHistory) => openai.chat.completions.create({ model: 'm', messages });
  const responses = (input: Input, previous?: string) => openai.responses.create({ model: 'm', input, ...(previous && { previous_response_id: previous }) });
  const messages = (history: Messages) => anthropic.messages.create({ model: 'm', max_tokens: 64, messages: history });
  return {
    chat,
    responses,
    messages,
    judgeChat: (history: ChatHistory) => verdict(chat(history)),
    judgeResponses: (input: Input, previous?: string) => verdict(responses(input, previous)),
    judgeMessages: (history: Messages) => verdict(messages(history)),
  };
}

export const user = { role: 'user' as const, content: 'go' };
/** Not every output item of the SDK is an input item by type, although the service takes its own items back. */
export const replay = (output: ResponseOutputItem[]) => output as Input;

export function closed(result: ClosedSnapshot | OperationRejection): ClosedSnapshot {
  return result.accepted === false ? expect.fail(result.reason) : result;
}

export function answerAll(calls: readonly ToolCall[], closure: ToolCallClosure = createToolCallClosure()) {
  const { handle } = closure.begin(calls);
  for (const { id, name } of calls) closure.succeed(handle, id, `${name} seen`);
  return { closure, snapshot: closed(closure.seal(handle)) };
}
