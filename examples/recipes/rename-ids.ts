/**
 * A history that one provider made, sent to another which refuses its ids: too long (OpenAI: 64, on some routes of Chat
 * Completions 40), with other characters than `[a-zA-Z0-9_-]` (Anthropic), or repeated in a later turn (Anthropic, and some
 * endpoints of Responses). Calls and results are renamed by the same function, so they go on matching.
 *
 * The limit of 64 for Anthropic is what other code assumes; the vendor documents none. Mistral wants nine letters or digits:
 * `idRenamer(/^[a-zA-Z0-9]{9}$/, (n) => String(n).padStart(9, '0'))`.
 */
import type Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';
import type { ResponseInputItem } from 'openai/resources/responses/responses';

export interface IdRenamer {
  /** The id for a call. */
  announce(id: string): string;
  /** The id for a result: that of the newest call with this id, as ids repeat across turns. */
  answer(id: string): string;
}

/** Ids that fit stay. Others are replaced, never cut: long ids share their beginnings. The same history gives the same ids. */
export function idRenamer(fits = /^[a-zA-Z0-9_-]{1,40}$/, mint = (n: number) => `call_${n}`): IdRenamer {
  const taken = new Set<string>();
  const current = new Map<string, string>();
  let n = 0;
  return {
    announce(id) {
      let name = id;
      while (!fits.test(name) || taken.has(name)) name = mint(++n);
      taken.add(name);
      current.set(id, name);
      return name;
    },
    answer: (id) => current.get(id) ?? id,
  };
}

// Each takes a whole history and gives a copy. A live turn needs `announce` alone, on the assistant message before `begin`:
// the adapters echo what was registered.

export const renameChat = (history: OpenAI.Chat.ChatCompletionMessageParam[], { announce, answer }: IdRenamer): typeof history =>
  history.map((message) => {
    if (message.role === 'tool') return { ...message, tool_call_id: answer(message.tool_call_id) };
    if (message.role !== 'assistant' || !message.tool_calls) return message;
    return { ...message, tool_calls: message.tool_calls.map((call) => ({ ...call, id: announce(call.id) })) };
  });

export const renameResponses = (history: ResponseInputItem[], { announce, answer }: IdRenamer): typeof history =>
  history.map((item) => {
    if (!('call_id' in item) || typeof item.call_id !== 'string') return item;
    return { ...item, call_id: item.type?.endsWith('_output') ? answer(item.call_id) : announce(item.call_id) };
  });

export const renameMessages = (history: Anthropic.MessageParam[], { announce, answer }: IdRenamer): typeof history =>
  history.map((message) => {
    if (typeof message.content === 'string' || (message.role !== 'assistant' && message.role !== 'user')) return message;
    const content = message.content.map((block) => {
      if (block.type === 'tool_use') return { ...block, id: announce(block.id) };
      return block.type === 'tool_result' ? { ...block, tool_use_id: answer(block.tool_use_id) } : block;
    });
    return { ...message, content };
  });
