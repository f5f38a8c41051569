// What must not compile. Each line below a `@ts-expect-error` is one wrong use; if it compiled, that comment would be the error.
import closurePackage, {
  type BatchHandle,
  type BeginResult,
  type CallSnapshot,
  type ClosedSnapshot,
  type CloseReasonInput,
  createToolCallClosure,
  type OpenSnapshot,
  type Outcome,
  type SettlementResult,
  type Snapshot,
  type SyntheticSettlement,
  type ToolCall,
  ToolCallClosure,
  type UnfinishedReason,
} from 'tool-call-closure';

declare const closure: ToolCallClosure;
declare const handle: BatchHandle;
declare const begun: BeginResult;
declare const calls: readonly ToolCall[];
declare const current: Snapshot | null;
declare const open: OpenSnapshot;
declare const result: SettlementResult;
declare const call: CallSnapshot;

// Options.
// @ts-expect-error null is no options object
createToolCallClosure(null);
// @ts-expect-error an array is no options object
createToolCallClosure([]);
// @ts-expect-error neither is a function
createToolCallClosure(() => 1);
// @ts-expect-error a limit is a number
createToolCallClosure({ maxCalls: '10' });
// @ts-expect-error misspelt
createToolCallClosure({ maxCall: 10 });
// @ts-expect-error the same for the constructor
new ToolCallClosure({ maxIdBytes: true });
// @ts-expect-error and for the default export
closurePackage.createToolCallClosure({ maxNameBytes: 1n });
// @ts-expect-error the default export is an object, not the class
new closurePackage();
// @ts-expect-error a class is not called
ToolCallClosure();

// Handles.
// @ts-expect-error a number does not make a handle
closure.seal({ generation: 1 });
// @ts-expect-error nor does the whole result of begin
closure.seal(begun);
// @ts-expect-error
closure.settle(begun, 'a', { status: 'success', content: 1 });
// @ts-expect-error
closure.succeed({ generation: 1 }, 'a', 1);
// @ts-expect-error
closure.fail(begun, 'a', new Error('x'));
// @ts-expect-error
closure.cancel(begun, 'a');
// @ts-expect-error
closure.track(begun, 'a', Promise.resolve(1));
// @ts-expect-error
closure.close(begun);
// @ts-expect-error
closure.sealWhenSettled(begun);
// @ts-expect-error the bare number
closure.close(1);
// @ts-expect-error no handle
closure.seal();
// @ts-expect-error no handle yet
closure.seal(null);
// @ts-expect-error handles are frozen
handle.generation = 2;
// @ts-expect-error so is the result of begin
begun.handle = handle;
// @ts-expect-error
begun.generation = 2;
// @ts-expect-error and the getters have no setter
closure.activeGeneration = 1;

// begin.
// @ts-expect-error the batch is an argument
closure.begin();
// @ts-expect-error not one call
closure.begin({ id: 'a', name: 'read' });
// @ts-expect-error a call needs a name
closure.begin([{ id: 'a' }]);
// @ts-expect-error and an id
closure.begin([{ name: 'read' }]);
// @ts-expect-error ids are strings
closure.begin([{ id: 1, name: 'read' }]);
// @ts-expect-error an id is not optional, as in streamed deltas
closure.begin([{} as { id?: string; name: string }]);
// @ts-expect-error a Responses item's call_id has to be mapped
closure.begin([{} as { call_id: string; name: string }]);
// @ts-expect-error a Chat call's function.name has to be mapped
closure.begin([{} as { id: string; function: { name: string } }]);
// @ts-expect-error the signal goes into an object
closure.begin(calls, {} as { aborted: boolean; addEventListener(): void; removeEventListener(): void });
// @ts-expect-error a signal has methods
closure.begin(calls, { signal: { aborted: false } });
// @ts-expect-error a controller is no signal
closure.begin(calls, { signal: {} as { signal: object; abort(): void } });
// @ts-expect-error misspelt
closure.begin(calls, { abortSignal: null });
// @ts-expect-error a list of options
closure.begin(calls, []);
// @ts-expect-error superseded may be null
closure.toOpenAIResponses(begun.superseded);

// Outcomes.
// @ts-expect-error a success needs content
closure.settle(handle, 'a', { status: 'success' });
// @ts-expect-error a success takes no code
closure.settle(handle, 'a', { status: 'success', content: 1, code: 'ok' });
// @ts-expect-error nor a message
closure.settle(handle, 'a', { status: 'success', content: 1, message: 'done' });
// @ts-expect-error nor a side-effect state
closure.settle(handle, 'a', { status: 'success', content: 1, sideEffectState: 'completed' });
// @ts-expect-error an error takes no content
closure.settle(handle, 'a', { status: 'error', content: 'text' });
// @ts-expect-error a cancellation takes none either
closure.settle(handle, 'a', { status: 'cancelled', content: 'text' });
// @ts-expect-error no such status
closure.settle(handle, 'a', { status: 'failed', message: 'x' });
// @ts-expect-error the American spelling
closure.settle(handle, 'a', { status: 'canceled' });
// @ts-expect-error a status is needed
closure.settle(handle, 'a', { message: 'x' });
// @ts-expect-error a code is a string
closure.settle(handle, 'a', { status: 'error', code: 500 });
// @ts-expect-error no such state
closure.settle(handle, 'a', { status: 'error', sideEffectState: 'started' });
// @ts-expect-error the value is not an outcome
closure.settle(handle, 'a', 'text');
// @ts-expect-error nor is nothing
closure.settle(handle, 'a', null);
// @ts-expect-error an outcome is needed
closure.settle(handle, 'a');
// @ts-expect-error a wide status needs narrowing
export const wide: Outcome = { status: 'error' as string };
// @ts-expect-error success and error need different fields
export const either: Outcome = { status: 'error' as 'error' | 'success' };

// Shorthands.
// @ts-expect-error content is needed, if only undefined
closure.succeed(handle, 'a');
// @ts-expect-error an error is needed
closure.fail(handle, 'a');
// @ts-expect-error a code is a string
closure.fail(handle, 'a', new Error('x'), 500);
// @ts-expect-error null is no code here
closure.fail(handle, 'a', new Error('x'), null);
// @ts-expect-error
closure.cancel(handle, 'a', 'text', 500);
// @ts-expect-error a call id is a string
closure.succeed(handle, 1, 'text');
// @ts-expect-error the call is no id
closure.cancel(handle, calls[0]);
// @ts-expect-error a value is needed
closure.track(handle, 'a');
// @ts-expect-error a promise of a result is no result
closure.track(handle, 'a', 1).accepted;

// Results.
// @ts-expect-error a refusal has no settlement
result.settlement;
// @ts-expect-error an acceptance has no reason
result.reason;
if (!result.accepted) {
  // @ts-expect-error settle never gives pending_calls
  if (result.reason === 'pending_calls') throw result;
}
const closed = closure.close(handle);
// @ts-expect-error a refusal has no calls
closed.calls;
// @ts-expect-error and is nothing to export
closure.toOpenAIResponses(closed);
if (closed.accepted === false) {
  // @ts-expect-error close is refused only when stale
  if (closed.reason === 'pending_calls') throw closed;
  // @ts-expect-error a refusal is nothing to export
  closure.toOpenAIResponses(closed);
}
// @ts-expect-error a promise of a snapshot is nothing to export
closure.toOpenAIResponses(closure.sealWhenSettled(handle));

// Close reasons.
// @ts-expect-error other primitives are no reason
closure.close(handle, 404);
// @ts-expect-error
closure.close(handle, true);
// @ts-expect-error success is no reason
closure.close(handle, { status: 'success' });
// @ts-expect-error only seal completes
closure.close(handle, { status: 'complete' });
// @ts-expect-error a close cannot know that the effects happened
closure.close(handle, { sideEffectState: 'completed' });
// @ts-expect-error a code is a string
closure.close(handle, { code: 1 });
// @ts-expect-error misspelt
closure.close(handle, { sideEffect: 'unknown' });
// @ts-expect-error a list is no reason
export const list: CloseReasonInput = ['text'];
// @ts-expect-error what was caught has to be looked at first
closure.close(handle, new Object() as unknown);

// Snapshots and adapters.
// @ts-expect-error there may be none
current.generation;
// @ts-expect-error it may be open
closure.toOpenAIChatCompletions(current);
// @ts-expect-error it is open
closure.toOpenAIChatCompletions(open);
// @ts-expect-error
closure.toOpenAIResponses(open);
// @ts-expect-error
closure.toAnthropicToolResults(open);
// @ts-expect-error null is no snapshot
closure.toAnthropicToolResults(null);
// @ts-expect-error the handle is no snapshot
closure.toAnthropicToolResults(handle);
// @ts-expect-error a pending call has no settlement
call.settlement.status;
if (call.state === 'error') {
  // @ts-expect-error an error has no content
  call.settlement.content;
}
if (call.state === 'success') {
  // @ts-expect-error a success has no code
  call.settlement.code;
}
if (current?.closed) {
  // @ts-expect-error a closed snapshot has no pending call
  if (current.calls.some(({ state }) => state === 'pending')) throw current;
  // @ts-expect-error complete has no code
  current.closeReason.code;
  // @ts-expect-error deeply frozen
  current.calls.length = 0;
  // @ts-expect-error
  current.diagnostics.length = 0;
  // @ts-expect-error
  current.closed = false;
}
// @ts-expect-error so is an open one
open.calls.push(call);
// @ts-expect-error
open.diagnostics.length = 0;
// @ts-expect-error a call keeps its id
call.id = 'x';
if (call.state === 'cancelled') {
  // @ts-expect-error
  call.settlement.message = 'x';
}
if (call.state === 'success') {
  // @ts-expect-error
  call.settlement.content = 'x';
}
if (result.accepted) {
  // @ts-expect-error results are frozen
  result.settlement = result.settlement;
} else {
  // @ts-expect-error
  result.reason = 'run_closed';
}
// @ts-expect-error synthetic settlements never say completed
export const lost: SyntheticSettlement['sideEffectState'] = 'completed';
// @ts-expect-error nor do close reasons
export const done: UnfinishedReason['sideEffectState'] = 'completed';
// @ts-expect-error a refusal never passes for a closed snapshot
export const refused: ClosedSnapshot = { ...({} as ClosedSnapshot), accepted: false };

// Nothing private shows.
// @ts-expect-error
closure.limits;
