import { TerminalError } from '@restatedev/restate-sdk';
import type { ClosedSnapshot, ToolCall, ToolCallClosure } from 'tool-call-closure';

export type Json = Record<string, unknown>;
export type Api = 'chat' | 'responses' | 'anthropic';

/** What a conversation keeps of one model reply. */
export interface Turn {
  /** The items as the history holds them. */
  readonly said: readonly Json[];
  readonly calls: readonly ToolCall[];
}

export interface Provider {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  request(history: readonly Json[]): Json;
  read(reply: Json): Turn;
  results(closure: ToolCallClosure, closed: ClosedSnapshot): readonly Json[];
}

export const providers: Readonly<Record<Api, Provider>> = {
  chat: {
    path: '/v1/chat/completions',
    request: (history) => ({ model: 'stand-in', messages: history }),
    read: (reply) => {
      const { message } = (reply['choices'] as { message: Json }[])[0]!;
      const calls = (message['tool_calls'] ?? []) as { id: string; function: { name: string } }[];
      return { said: [message], calls: calls.map((call) => ({ id: call.id, name: call.function.name })) };
    },
    results: (closure, closed) => closure.toOpenAIChatCompletions(closed),
  },
  responses: {
    path: '/v1/responses',
    request: (history) => ({ model: 'stand-in', store: false, input: history }),
    read: (reply) => {
      const said = reply['output'] as Json[];
      const calls = said.filter((item) => item['type'] === 'function_call') as { call_id: string; name: string }[];
      return { said, calls: calls.map((call) => ({ id: call.call_id, name: call.name })) };
    },
    results: (closure, closed) => closure.toOpenAIResponses(closed),
  },
  anthropic: {
    path: '/v1/messages',
    headers: { 'anthropic-version': '2023-06-01' },
    request: (history) => ({ model: 'stand-in', max_tokens: 1024, messages: history }),
    read: (reply) => {
      const content = reply['content'] as Json[];
      const calls = content.filter((block) => block['type'] === 'tool_use') as { id: string; name: string }[];
      return { said: [{ role: 'assistant', content }], calls: calls.map(({ id, name }) => ({ id, name })) };
    },
    results: (closure, closed) => [{ role: 'user', content: closure.toAnthropicToolResults(closed) }],
  },
};

/** One model request. A refusal is final; everything else (no connection, a server fault) is for the engine to try again. */
export async function ask(provider: Provider, body: string): Promise<Turn> {
  const response = await fetch(`${process.env['PROVIDER_URL']}${provider.path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...provider.headers },
    body,
  });
  const text = await response.text();
  if (response.status >= 400 && response.status < 500) throw new TerminalError(`the provider refused the request: ${text}`);
  if (!response.ok) throw new Error(`the provider answered ${response.status}: ${text}`);
  return provider.read(JSON.parse(text) as Json);
}
