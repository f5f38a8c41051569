import type Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';

/** A call that the scripted model makes. `arguments` given as a string goes out as it is, so that it can be broken JSON. */
export interface ScriptedCall {
  readonly id: string;
  readonly name: string;
  readonly arguments?: unknown;
}

/** What the model answers: a final text, a batch of calls, or fields that replace those of an otherwise final answer. */
export type Reply = string | readonly ScriptedCall[] | { readonly replace: Readonly<Record<string, unknown>> };

const model = 'stand-in';

export function chatReply(reply: Reply, n: number): OpenAI.Chat.ChatCompletion {
  const { text, calls, replace } = parts(reply);
  return {
    id: `chatcmpl-${n}`,
    object: 'chat.completion',
    created: 0,
    model,
    choices: [
      {
        index: 0,
        logprobs: null,
        finish_reason: calls.length > 0 ? 'tool_calls' : 'stop',
        message: {
          role: 'assistant',
          content: text,
          refusal: null,
          ...(calls.length > 0 && {
            tool_calls: calls.map((call) => ({
              id: call.id,
              type: 'function' as const,
              function: { name: call.name, arguments: jsonText(call.arguments) },
            })),
          }),
        },
      },
    ],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    ...replace,
  };
}

export function responsesReply(reply: Reply, n: number): Omit<OpenAI.Responses.Response, 'output_text'> {
  const { text, calls, replace } = parts(reply);
  return {
    id: `resp_${n}`,
    object: 'response',
    created_at: 0,
    model,
    status: 'completed',
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    parallel_tool_calls: true,
    temperature: null,
    tool_choice: 'auto',
    tools: [],
    top_p: null,
    output:
      text !== null
        ? [
            {
              id: `msg_${n}`,
              type: 'message',
              role: 'assistant',
              status: 'completed',
              content: [{ type: 'output_text', text, annotations: [] }],
            },
          ]
        : calls.map((call, k) => ({
            // An item id is never the call's id: hosts that mix them up must fail here as they do in the field.
            id: `fc_${n}x${k}`,
            type: 'function_call',
            call_id: call.id,
            name: call.name,
            arguments: jsonText(call.arguments),
            status: 'completed',
          })),
    ...replace,
  };
}

export function anthropicReply(reply: Reply, n: number): Anthropic.Message {
  const { text, calls, replace } = parts(reply);
  return {
    id: `msg_${n}`,
    type: 'message',
    role: 'assistant',
    model,
    container: null,
    diagnostics: null,
    content:
      text !== null
        ? [{ type: 'text', text, citations: null }]
        : calls.map((call) => ({
            type: 'tool_use',
            id: call.id,
            name: call.name,
            input: call.arguments ?? {},
            caller: { type: 'direct' },
          })),
    stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    stop_details: null,
    usage: {
      cache_creation: null,
      cache_creation_input_tokens: null,
      cache_read_input_tokens: null,
      inference_geo: null,
      input_tokens: 1,
      output_tokens: 1,
      output_tokens_details: null,
      server_tool_use: null,
      service_tier: 'standard',
      speed: null,
    },
    ...replace,
  };
}

function parts(reply: Reply): { text: string | null; calls: readonly ScriptedCall[]; replace: Readonly<Record<string, unknown>> } {
  if (typeof reply === 'string') return { text: reply, calls: [], replace: {} };
  if ('replace' in reply) return { text: 'done', calls: [], replace: reply.replace };
  return { text: null, calls: reply, replace: {} };
}

function jsonText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? {});
}
