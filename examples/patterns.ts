import type { ToolCall, ToolCallClosure } from 'tool-call-closure';
import { agentStep, type Conversation, type RunTool } from './agent-step.js';
import { takeOver } from './recipes/take-over.js';

// What agent loops have to do sooner or later, each as short as it can be. The results go to the Responses API here; the other
// two adapters fit in the same places.

/** Timeout: calls without a result at the deadline become `cancelled`, code `timeout`, also where the tool hangs. */
export async function timeout(
  conversation: Conversation,
  turn: object[],
  calls: ToolCall[],
  runTool: RunTool,
  run: AbortController,
  ms: number,
) {
  // Not AbortSignal.any, whose timeout Node.js 20 may collect before it fires.
  const deadline = AbortSignal.timeout(ms);
  const expire = () => run.abort(deadline.reason);
  deadline.addEventListener('abort', expire);
  try {
    return await agentStep(conversation, turn, calls, runTool, run.signal);
  } finally {
    deadline.removeEventListener('abort', expire);
  }
}

/** Replacement: a new request takes over at once. The old turn stays in the history, so its calls get their results first. */
export function replacement({ closure, input, appended }: Conversation, oldRun: AbortController, content: string) {
  const owed = takeOver(closure, appended); // from here on the old step appends nothing
  oldRun.abort();
  if (owed !== null) input.push(...closure.toOpenAIResponses(owed));
  input.push({ role: 'user', content });
}

/** Steering: the user writes while tools run. Abort the run, let its step append the results, then add the message. */
export async function steering(run: AbortController, step: Promise<boolean>, { input }: Conversation, content: string) {
  run.abort({ code: 'steered', message: 'The user sent a new message.' });
  const current = await step;
  if (current) input.push({ role: 'user', content });
  return current; // if false, the run that took over has the conversation: give the message to it
}

/** Approval: a call that was denied is reported as not started, so the model knows that nothing happened. */
export async function approval(
  closure: ToolCallClosure,
  calls: ToolCall[],
  approve: (call: ToolCall, signal: AbortSignal) => Promise<boolean>, // resolves, also when the signal aborts
  runTool: RunTool,
  signal: AbortSignal,
) {
  const { handle } = closure.begin(calls, { signal });
  for (const call of calls) {
    const approved = await approve(call, signal);
    if (signal.aborted) break; // the batch is closed: nothing more may start
    if (approved) {
      void closure.track(handle, call.id, runTool(call, signal));
    } else {
      const message = 'The user denied this call.';
      closure.settle(handle, call.id, { status: 'cancelled', code: 'denied', message, sideEffectState: 'not_started' });
    }
  }
  return closure.sealWhenSettled(handle);
}

/** Step limit: the loop ends before it runs these calls, and the history still ends on a complete turn. */
export function stepLimit(conversation: Conversation, calls: ToolCall[]) {
  const { closure, input } = conversation;
  const { generation, handle } = closure.begin(calls);
  closure.close(handle, { code: 'step_limit', message: 'No steps are left.', sideEffectState: 'not_started' });
  input.push(...closure.toOpenAIResponses());
  conversation.appended = generation;
}

/** Queue: tools run one at a time, and after an abort the model learns which of them never started. */
export async function queue(closure: ToolCallClosure, calls: ToolCall[], runTool: RunTool, signal: AbortSignal) {
  const waiting = [...calls];
  const tellNotStarted = () => {
    for (const { id } of waiting.splice(0)) {
      const message = 'The run was aborted before this call started.';
      closure.settle(handle, id, { status: 'cancelled', code: 'aborted', message, sideEffectState: 'not_started' });
    }
  };
  signal.addEventListener('abort', tellNotStarted); // before begin, so that it runs before the batch closes
  const { handle } = closure.begin(calls, signal.aborted ? null : { signal });
  const work = async () => {
    for (let call; (call = waiting.shift()); ) await closure.track(handle, call.id, runTool(call, signal));
  };
  if (signal.aborted) tellNotStarted();
  else void work();
  const closed = await closure.sealWhenSettled(handle);
  waiting.length = 0; // closed in another way: nothing more may start
  signal.removeEventListener('abort', tellNotStarted);
  return closed;
}
