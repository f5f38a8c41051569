import { createToolCallClosure, type ToolCall } from 'tool-call-closure';
import type { Json, Provider } from './providers.js';

/**
 * For a stored history that ends on calls without results, because the process that ran them is gone: gives each of them
 * one, so that the provider takes the history again. Returns how many there were.
 */
export function answerLostCalls(provider: Provider, history: Json[]): number {
  const calls = unanswered(history);
  if (calls.length === 0) return 0;
  const closure = createToolCallClosure();
  const { handle } = closure.begin(calls);
  const closed = closure.close(handle, {
    status: 'error',
    code: 'process_lost',
    message: 'The process was lost while this call was open. It was not run again.',
  });
  if (closed.accepted === false) throw new Error(closed.reason);
  history.push(...provider.results(closure, closed));
  return calls.length;
}

/** The calls that nothing later in the history answers, in order; for the shapes of all three APIs. */
function unanswered(history: readonly Json[]): ToolCall[] {
  const open = new Map<unknown, ToolCall>();
  const items = history.flatMap((item) => (Array.isArray(item['content']) ? [item, ...(item['content'] as Json[])] : [item]));
  for (const item of items) {
    const announce = (id: unknown, name: unknown): unknown => open.set(id, { id: String(id), name: String(name) });
    for (const call of (item['tool_calls'] ?? []) as { id: string; function: { name: string } }[]) announce(call.id, call.function.name);
    if (item['type'] === 'function_call') announce(item['call_id'], item['name']);
    if (item['type'] === 'tool_use') announce(item['id'], item['name']);

    if (item['role'] === 'tool') open.delete(item['tool_call_id']);
    if (item['type'] === 'function_call_output') open.delete(item['call_id']);
    if (item['type'] === 'tool_result') open.delete(item['tool_use_id']);
  }
  return [...open.values()];
}
