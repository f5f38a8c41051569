/**
 * A stored history that holds calls without a result, after a crash or a restart: the provider refuses it until each has
 * one. Per turn: register what is missing, settle what a journal knows, close the rest, put the results next to their calls.
 *
 * Pass a closure without an open batch; `begin` would supersede it. Ids that `begin` refuses are minted first: see
 * `mint-ids.ts`. A call that was cut off while it was streamed needs a result as well, if it is replayed. Anthropic: if a
 * server tool of the same turn has no result either, take the text out of the next user message; only results may follow.
 */
import type Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';
import type { ResponseInputItem } from 'openai/resources/responses/responses';
import type { ClosedSnapshot, Outcome, ToolCall, ToolCallClosure } from 'tool-call-closure';
import { outputsFor } from './custom-calls.js';
import { isResponseCall, type ChatCall, type ResponseCall, type ResponseItem } from './read-calls.js';

/** `at`: where in the history the message or item stands that announced it. The id alone may occur in several turns. */
export type LostCall = ToolCall & { readonly at: number };

export interface Recovery {
  /** What the journal knows of the call, if anything. */
  readonly known?: (call: LostCall) => Outcome | undefined;
  /** Whether it waits for an approval. It is left open, so the history can't be sent before the answer is there. */
  readonly waits?: (call: LostCall) => boolean;
}

/** The missing results of one turn; `null` if none is missing. */
function recover(closure: ToolCallClosure, unanswered: LostCall[], { known, waits }: Recovery): ClosedSnapshot | null {
  const calls = unanswered.filter((call) => !waits?.(call));
  if (calls.length === 0) return null;
  const { handle } = closure.begin(calls);
  for (const call of calls) {
    const outcome = known?.(call);
    if (outcome) closure.settle(handle, call.id, outcome);
  }
  // Whether its effects happened is not known, and the default side-effect state says so to the model.
  const message = 'The process ended before the tool answered.';
  const closed = closure.close(handle, { status: 'error', code: 'process_lost', message });
  if (closed.accepted === false) throw new Error('a callback has begun another batch');
  return closed;
}

type ChatHistory = OpenAI.Chat.ChatCompletionMessageParam[];

export function answerChat(closure: ToolCallClosure, history: ChatHistory, recovery: Recovery = {}): ChatHistory {
  const repaired: ChatHistory = [];
  for (let at = 0, end: number; at < history.length; at = end) {
    const message = history[at]!;
    // Only the tool messages directly after it are its results.
    for (end = at + 1; history[end]?.role === 'tool'; ) end += 1;
    const results = history.slice(at + 1, end).flatMap((result) => (result.role === 'tool' ? [result] : []));
    const calls: readonly ChatCall[] = (message.role === 'assistant' && message.tool_calls) || [];
    const unanswered = calls
      .filter(({ id }) => !results.some((result) => result.tool_call_id === id))
      .map((call) => ({ id: call.id, name: call.type === 'custom' ? call.custom.name : call.function.name, at }));
    const closed = recover(closure, unanswered, recovery);
    if (closed) {
      results.push(...closure.toOpenAIChatCompletions(closed));
      // In the order of the calls, because some compatible servers pair by position.
      const place = ({ tool_call_id }: (typeof results)[number]) => calls.findIndex(({ id }) => id === tool_call_id);
      results.sort((a, b) => place(a) - place(b));
    }
    repaired.push(message, ...results);
  }
  return repaired;
}

type Input = ResponseInputItem[];

export function answerResponses(closure: ToolCallClosure, history: Input, recovery: Recovery = {}): Input {
  const items: readonly ResponseItem[] = history;
  const isOutput = (i: number) => items[i]?.type?.endsWith('_call_output') === true;
  const isCall = (i: number) => i < items.length && isResponseCall(items[i]!);
  // An output may stand anywhere after its call. Read from the end, it belongs to the nearest call before it.
  const outputs = new Set<unknown>();
  const open = new Set<number>();
  for (let i = items.length - 1; i >= 0; i -= 1) {
    if (isOutput(i)) outputs.add(items[i]!.call_id);
    else if (isCall(i) && !outputs.delete(items[i]!.call_id)) open.add(i);
  }
  let group: (LostCall & { call: ResponseCall })[] = [];
  return history.flatMap((item, at) => {
    if (open.has(at)) {
      const call = items[at] as ResponseCall;
      group.push({ id: call.call_id, name: call.name, at, call });
    }
    // After the calls that stand together and the outputs they have: some endpoints let nothing else stand between.
    if (isOutput(at + 1) || (isCall(at + 1) && !isOutput(at))) return [item];
    const calls = group.map(({ call }) => call);
    const closed = recover(closure, group, recovery);
    group = [];
    return closed ? [item, ...(outputsFor(calls, closure.toOpenAIResponses(closed)) as Input)] : [item];
  });
}

type Messages = Anthropic.MessageParam[];
type Blocks = Exclude<Anthropic.MessageParam['content'], string>;

export function answerMessages(closure: ToolCallClosure, history: Messages, recovery: Recovery = {}): Messages {
  const blocks = ({ content }: Anthropic.MessageParam): Blocks =>
    typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  /** Messages of one role in a row are one turn, so results stand in any of the next user messages. */
  const answered = (at: number) => {
    let i = at + 1;
    while (history[i]?.role === 'assistant') i += 1;
    const start = i;
    while (history[i]?.role === 'user') i += 1;
    const told = history.slice(start, i).flatMap(blocks);
    return new Set(told.flatMap((block) => (block.type === 'tool_result' ? [block.tool_use_id] : [])));
  };
  let missing: Blocks = [];
  return history.flatMap((message, at): Messages => {
    if (message.role === 'user') {
      if (missing.length === 0) return [message];
      // Into the user message that is there, and before any text.
      const content = blocks(message);
      const results = content.filter(({ type }) => type === 'tool_result');
      const added = { ...message, content: [...results, ...missing, ...content.filter(({ type }) => type !== 'tool_result')] };
      missing = [];
      return [added];
    }
    const ids = answered(at);
    // Calls of other block types are run by the provider.
    const calls = blocks(message).flatMap((block) =>
      block.type === 'tool_use' && !ids.has(block.id) ? [{ id: block.id, name: block.name, at }] : [],
    );
    const closed = recover(closure, calls, recovery);
    if (!closed) return [message];
    missing = closure.toAnthropicToolResults(closed);
    if (history[at + 1]?.role === 'user') return [message];
    const own: Anthropic.MessageParam = { role: 'user', content: missing };
    missing = [];
    return [message, own];
  });
}
