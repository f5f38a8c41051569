import type { Api, Json } from './providers.js';

export interface Batch {
  /** Call ids in the order of the model's reply. */
  readonly announced: readonly string[];
  /** What directly follows it in the history, in order. */
  readonly answered: readonly { readonly id: string; readonly text: string }[];
}

/** Reads the batches and their results back from a request body, as the provider received it; nothing of the library is used. */
export function batchesIn(api: Api, body: Json): Batch[] {
  const items = (body[api === 'responses' ? 'input' : 'messages'] as Json[]).flatMap((item) => (api === 'anthropic' ? blocksOf(item) : [item]));
  const batches: { announced: string[]; answered: { id: string; text: string }[] }[] = [];
  let answering = true;
  for (const item of items) {
    const ids = announcedBy(api, item);
    const result = resultIn(api, item);
    if (ids.length > 0) {
      if (answering) batches.push({ announced: [], answered: [] });
      answering = false;
      batches.at(-1)!.announced.push(...ids);
    } else {
      answering = true;
      if (result) batches.at(-1)!.answered.push(result);
    }
  }
  return batches;
}

const blocksOf = (message: Json): Json[] => (Array.isArray(message['content']) ? (message['content'] as Json[]) : [message]);

function announcedBy(api: Api, item: Json): string[] {
  if (api === 'chat') return ((item['tool_calls'] ?? []) as Json[]).map((call) => String(call['id']));
  if (item['type'] === 'function_call') return [String(item['call_id'])];
  if (item['type'] === 'tool_use') return [String(item['id'])];
  return [];
}

function resultIn(api: Api, item: Json): { id: string; text: string } | null {
  if (api === 'chat' && item['role'] === 'tool') return { id: String(item['tool_call_id']), text: String(item['content']) };
  if (item['type'] === 'function_call_output') return { id: String(item['call_id']), text: String(item['output']) };
  if (item['type'] === 'tool_result') return { id: String(item['tool_use_id']), text: String(item['content']) };
  return null;
}
