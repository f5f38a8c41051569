import type { ToolCall, ToolCallClosure } from 'tool-call-closure';

/** Runs one tool. It is async, checks `signal.aborted` before any effect, and may fail, hang or ignore the signal. */
export type RunTool<Call extends ToolCall = ToolCall> = (call: Call, signal: AbortSignal) => Promise<unknown>;

/**
 * One step of an agent loop: runs the calls that the model announced and appends exactly one result for each to `input`.
 * `false` if a newer step took over meanwhile, which then owns the next request.
 */
export async function agentStep<Call extends ToolCall>(
  closure: ToolCallClosure,
  input: object[],
  calls: readonly Call[],
  runTool: RunTool<Call>,
  signal: AbortSignal,
): Promise<boolean> {
  const { handle } = closure.begin(calls, { signal });
  for (const call of calls) void closure.track(handle, call.id, runTool(call, signal));
  const closed = await closure.sealWhenSettled(handle);
  if (closed.accepted === false || closed.generation !== closure.activeGeneration) return false;
  input.push(...closure.toOpenAIResponses(closed));
  return true;
}
