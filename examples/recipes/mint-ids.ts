/**
 * Some compatible servers send calls without an id, or two calls with one. `begin` refuses them, and must: an id made up
 * for the batch alone would not stand in the assistant message, so the result would match no call. Give the message itself
 * new ids, before `begin` and before it goes into the history; then both sides agree.
 *
 * Two calls with one id may also be one call delivered twice (a host that keeps every delta of a stream): merge those first.
 */
import type Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';
import type { ResponseOutputItem } from 'openai/resources/responses/responses';

/**
 * The ids themselves where `begin` takes them, else new ones. The same input gives the same ids. `taken`: the ids of earlier
 * turns, where the API wants them unique over the whole request.
 */
export function usableIds(given: readonly unknown[], taken: Iterable<string> = []): string[] {
  const used = new Set<unknown>(taken);
  const reserved = new Set([...used, ...given]);
  let n = 0;
  return given.map((id) => {
    let usable = id;
    // Blank, or with half a surrogate pair: no JSON text can carry that.
    const broken = typeof id !== 'string' || id.trim() === '' || /\p{Surrogate}/u.test(id);
    if (broken || used.has(id)) do usable = `minted_${++n}`; while (reserved.has(usable));
    used.add(usable);
    return usable as string;
  });
}

/** Chat Completions want ids unique within one message. */
export function mintChatIds(message: OpenAI.Chat.ChatCompletionMessage): void {
  const calls = message.tool_calls ?? [];
  usableIds(calls.map(({ id }) => id)).forEach((id, i) => (calls[i]!.id = id));
}

/** Responses: `call_id`. The item's `id` is the service's own. Whether OpenAI takes a `call_id` again is not known; others don't. */
export function mintResponseIds(output: ResponseOutputItem[], taken: Iterable<string>): void {
  const items: { type: string; call_id?: string | null }[] = output;
  const calls = items.filter(({ type }) => type === 'function_call' || type === 'custom_tool_call');
  usableIds(calls.map(({ call_id }) => call_id), taken).forEach((id, i) => (calls[i]!.call_id = id));
}

/** Anthropic wants ids unique over the whole request. */
export function mintToolUseIds(content: Anthropic.ContentBlock[], taken: Iterable<string>): void {
  const calls = content.flatMap((block) => (block.type === 'tool_use' ? [block] : []));
  usableIds(calls.map(({ id }) => id), taken).forEach((id, i) => (calls[i]!.id = id));
}
