import type { ToolCall, ToolCallClosure } from 'tool-call-closure';

/** Runs one tool. It is async, checks `signal.aborted` before any effect, and may fail, hang or ignore the signal. */
export type RunTool<Call extends ToolCall = ToolCall> = (call: Call, signal: AbortSignal) => Promise<unknown>;

export interface Conversation {
  readonly closure: ToolCallClosure;
  /** The items of the next request. */
  readonly input: object[];
  /** The generation whose results were appended last; 0 before the first. `replacement` looks at it. */
  appended: number;
}

/**
 * One step of an agent loop: appends `turn`, the assistant's items, runs the calls in it, and appends exactly one result for each.
 * Whoever appends a batch's results sets `appended` to its generation. `false` if a newer `begin` took over meanwhile: whoever called it appends these results, and owns the next request.
 */
export async function agentStep<Call extends ToolCall>(
  conversation: Conversation,
  turn: readonly object[],
  calls: readonly Call[],
  runTool: RunTool<Call>,
  signal: AbortSignal,
): Promise<boolean> {
  const { closure, input } = conversation;
  const { handle } = closure.begin(calls, { signal });
  input.push(...turn); // not before: if begin throws, the history has no call that nobody answers
  for (const call of calls) void closure.track(handle, call.id, runTool(call, signal));
  const closed = await closure.sealWhenSettled(handle);
  if (closed.accepted === false || closed.generation !== closure.activeGeneration) return false;
  input.push(...closure.toOpenAIResponses(closed));
  conversation.appended = closed.generation;
  return true;
}
