/**
 * A new request takes over while a run is on. The history, or the service that holds it (`previous_response_id`), has the old
 * run's calls, so the new request is refused unless it carries a result for each of them.
 */
import type { ClosedSnapshot, ToolCallClosure } from 'tool-call-closure';

/**
 * Ends the run, and gives the batch whose results the next request owes; `null` if it owes none. Keep it until a request with
 * it was accepted: the closure remembers its newest batch alone. `sent` is the generation whose results were sent (or appended)
 * last, 0 before the first. What OpenAI says to a second output for a call is not known; other endpoints refuse it.
 */
export function takeOver(closure: ToolCallClosure, sent: number): ClosedSnapshot | null {
  const last = closure.snapshot();
  // The empty batch makes the old run's handle stale: its tools' late results are refused, and its loop sees a newer
  // generation and stops.
  const { superseded } = closure.begin([]);
  // `superseded` is null also where the old batch has closed, and its loop did not come to send it any more.
  const owed = superseded ?? (last?.closed ? last : null);
  return owed !== null && owed.generation > sent ? owed : null;
}
