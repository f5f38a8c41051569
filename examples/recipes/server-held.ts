/**
 * Responses with `previous_response_id`: the service holds the calls, so the next request is refused unless it carries a
 * result for each of them, also where the run was aborted or replaced and its loop sends nothing any more.
 */
import type { ClosedSnapshot, ToolCallClosure } from 'tool-call-closure';

/**
 * Ends the run that answers the held response, and gives the batch whose results the next request owes; `null` if it owes
 * none. Keep it until a request with it was accepted: the closure remembers its newest batch alone. `sent` is the generation
 * whose results were sent last, or 0. What OpenAI says to a second output for a call is not known; other endpoints refuse it.
 */
export function takeOver(closure: ToolCallClosure, sent: number): ClosedSnapshot | null {
  const last = closure.snapshot();
  // The empty batch makes the old run's handle stale: its tools' late results are refused, and its loop sees a newer
  // generation and stops.
  const { superseded } = closure.begin([]);
  const owed = superseded ?? (last?.closed ? last : null);
  return owed !== null && owed.generation > sent ? owed : null;
}
