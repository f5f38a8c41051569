/**
 * Read the calls to register out of each API's response.
 *
 * Register exactly the calls that your process executes, of a turn that you will replay: one that is left out leaves the
 * turn unanswered, and one that the provider runs itself must have no result of yours. A stream is read like this too,
 * but only once it has been assembled and has ended.
 */
import type Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';
// openai 4.104 also has `OpenAI.Responses.Response`; this path is there from 4.87 to 7.
import type { Response } from 'openai/resources/responses/responses';
import type { ToolCall } from 'tool-call-closure';

/** What `begin` reads, with the provider's own object for the arguments. `begin` ignores the latter. */
export type Announced<Call> = ToolCall & { readonly call: Call };

/** `null`: the model was cut off while it called. Neither run nor replay that turn; ask again with a larger budget. */
export type Reading<Call> = Announced<Call>[] | null;

// Chat Completions ---------------------------------------------------------------------------------------------------

export type ChatCall =
  | { id: string; type: 'function'; function: { name: string; arguments: string } }
  | { id: string; type: 'custom'; custom: { name: string; input: string } };

export function callsOfChat({ finish_reason: why, message }: OpenAI.Chat.ChatCompletion.Choice): Reading<ChatCall> {
  const calls: readonly ChatCall[] = message.tool_calls ?? [];
  // 'tool_calls' is not demanded: with a forced `tool_choice` the reason is 'stop'.
  if (calls.length > 0 && (why === 'length' || why === 'content_filter')) return null;
  // The API has no other result message than `role: 'tool'`, so that custom calls are answered by it too is likely, but
  // no vendor text says so. The deprecated `message.function_call` has no id and is left out.
  return calls.map((call) => ({ id: call.id, name: call.type === 'custom' ? call.custom.name : call.function.name, call }));
}

// Responses ----------------------------------------------------------------------------------------------------------

export type ResponseCall = {
  type: 'function_call' | 'custom_tool_call';
  call_id: string;
  name: string;
  /** Function calls: JSON text. */
  arguments?: string;
  /** Custom calls: free text. */
  input?: string;
  /** Dispatch on it as well as on the name. */
  namespace?: string;
  status?: string;
  /** Must be copied to the output: see `custom-calls.ts`. */
  caller?: { type: 'direct' } | { type: 'program'; caller_id: string } | null;
  async?: boolean;
};
export type ResponseItem = { type?: string | null; call_id?: string | null };

// Shell, patch and computer calls want outputs of their own shapes; hosted ones (web search, MCP …) want none. An async
// call may stay open: register it with the batch in which you mean to answer it.
export const isResponseCall = (item: ResponseItem): item is ResponseCall =>
  (item.type === 'function_call' || item.type === 'custom_tool_call') && (item as ResponseCall).async !== true;

export function callsOfResponse({ status, output }: Response): Reading<ResponseCall> {
  const items: readonly ResponseItem[] = output;
  // A call that the service has run has its output in the same array.
  const answered = new Set(items.flatMap(({ type, call_id }) => (type?.endsWith('_output') ? [call_id] : [])));
  const calls = items.filter(isResponseCall).filter((call) => !answered.has(call.call_id));
  const cut = status !== 'completed' || calls.some((call) => (call.status ?? 'completed') !== 'completed');
  if (calls.length > 0 && cut) return null;
  // `call_id`, not `id`: the latter names the item, and the types can't tell them apart.
  return calls.map((call) => ({ id: call.call_id, name: call.name, call }));
}

// Anthropic Messages -------------------------------------------------------------------------------------------------

const cutOff: readonly unknown[] = ['max_tokens', 'model_context_window_exceeded', 'refusal'];

export function callsOfMessage({ stop_reason, content }: Anthropic.Message): Reading<Anthropic.ToolUseBlock> {
  // `server_tool_use` and `mcp_tool_use` are run by the provider. After 'pause_turn' there are no calls either: send the
  // content back as it is. If a `tool_use` has a `caller` other than 'direct', the reply may hold nothing but results.
  const calls = content.flatMap((block) => (block.type === 'tool_use' ? [block] : []));
  if (calls.length > 0 && cutOff.includes(stop_reason)) return null;
  return calls.map((call) => ({ id: call.id, name: call.name, call }));
}
