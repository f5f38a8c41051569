// What must compile, under every compiler and setting of section 12. Nothing here is run.
import closurePackage, {
  type AbortSignalLike,
  type AcceptedSettlement,
  type AnthropicToolResult,
  type BatchHandle,
  type BeginOptions,
  type BeginResult,
  type CallSnapshot,
  type CancelledSettlement,
  type ClosedSnapshot,
  type CloseReason,
  type CloseReasonInput,
  createToolCallClosure,
  type Diagnostic,
  type ErrorSettlement,
  type OpenAIFunctionCallOutput,
  type OpenAIToolMessage,
  type OpenSnapshot,
  type OperationRejection,
  type Outcome,
  type OutcomeStatus,
  type PendingCall,
  type RefusalReason,
  type ReportedFailure,
  type ReportedSettlement,
  type SettledCall,
  type Settlement,
  type SettlementResult,
  type SideEffectState,
  type Snapshot,
  type SuccessSettlement,
  type SyntheticSettlement,
  type ToolCall,
  ToolCallClosure,
  type ToolCallClosureOptions,
  type UnfinishedReason,
} from 'tool-call-closure';
import { holds, type Same } from './support.js';

declare const closure: ToolCallClosure;
declare const handle: BatchHandle;
declare const calls: readonly ToolCall[];
declare const signal: AbortSignalLike;

// One step of an agent loop, as the contract shows it.
export async function step(input: OpenAIFunctionCallOutput[], runTool: (call: ToolCall) => Promise<unknown>) {
  const { handle } = closure.begin(calls, { signal });
  for (const call of calls) void closure.track(handle, call.id, runTool(call));
  const closed = await closure.sealWhenSettled(handle);
  if (closed.accepted === false || closed.generation !== closure.activeGeneration) return;
  holds<Same<typeof closed, ClosedSnapshot>>();
  input.push(...closure.toOpenAIResponses(closed));
}

// Construction: both exports, the default export, a subclass.
export const plain: ToolCallClosure = createToolCallClosure();
export const constructed: ToolCallClosure = new ToolCallClosure({ maxCalls: 2 });
export const viaDefault: ToolCallClosure = closurePackage.createToolCallClosure({ maxIdBytes: 64 });
export const classViaDefault: ToolCallClosure = new closurePackage.ToolCallClosure();
holds<Same<typeof closurePackage.ToolCallClosure, typeof ToolCallClosure>>();
holds<Same<typeof closurePackage.createToolCallClosure, typeof createToolCallClosure>>();

export class Logged extends ToolCallClosure {
  readonly lines: string[] = [];
  override settle(handle: BatchHandle, callId: string, outcome: Outcome): SettlementResult {
    const result = super.settle(handle, callId, outcome);
    this.lines.push(result.accepted ? result.settlement.status : result.reason);
    return result;
  }
}

// Whatever is optional takes undefined; limits take null as well.
createToolCallClosure(undefined);
createToolCallClosure({});
type LimitName = 'maxCalls' | 'maxDiagnostics' | 'maxResultBytes' | 'maxMessageBytes' | 'maxIdBytes' | 'maxNameBytes' | 'maxCodeBytes';
holds<Same<keyof ToolCallClosureOptions, LimitName>>();
createToolCallClosure({
  maxCalls: undefined,
  maxDiagnostics: undefined,
  maxResultBytes: undefined,
  maxMessageBytes: undefined,
  maxIdBytes: undefined,
  maxNameBytes: undefined,
  maxCodeBytes: undefined,
});
createToolCallClosure({
  maxCalls: null,
  maxDiagnostics: null,
  maxResultBytes: null,
  maxMessageBytes: null,
  maxIdBytes: null,
  maxNameBytes: null,
  maxCodeBytes: null,
});
export const limits: ToolCallClosureOptions = { maxCalls: null, maxCodeBytes: 3 };
holds<Same<typeof closure.activeGeneration, number | null>>();
holds<Same<typeof closure.droppedDiagnostics, number>>();

// begin: readonly arrays, wider elements, every form of no signal.
closure.begin([]);
closure.begin([{ id: 'a', name: 'read' }] as const);
const blocks = [{ type: 'tool_use', id: 'a', name: 'read', input: {} }];
closure.begin(blocks);
closure.begin(calls, undefined);
closure.begin(calls, null);
closure.begin(calls, {});
closure.begin(calls, { signal: undefined });
closure.begin(calls, { signal: null });
export const options: BeginOptions = { signal };
export const bareSignal: AbortSignalLike = { aborted: false, addEventListener() {}, removeEventListener() {} };
export const begun: BeginResult = closure.begin(calls, options);
holds<Same<typeof begun.handle, BatchHandle>>();
holds<Same<typeof begun.superseded, ClosedSnapshot | null>>();
if (begun.superseded !== null) closure.toAnthropicToolResults(begun.superseded);

// Outcomes.
closure.settle(handle, 'a', { status: 'success', content: { rows: 3 } });
closure.settle(handle, 'a', { status: 'success', content: null });
closure.settle(handle, 'a', { status: 'success', content: 'text', code: undefined, message: undefined });
closure.settle(handle, 'a', { status: 'error' });
closure.settle(handle, 'a', { status: 'error', code: 'denied', message: new Error('no'), sideEffectState: 'completed' });
closure.settle(handle, 'a', { status: 'cancelled', code: null, message: null, sideEffectState: null });
closure.settle(handle, 'a', { status: 'cancelled', code: undefined, message: undefined, sideEffectState: undefined });
declare const failed: boolean;
closure.settle(handle, 'a', { status: failed ? 'error' : 'cancelled', message: 'either' });
export const outcome: Outcome = failed ? { status: 'error', content: undefined } : { status: 'success', content: 1 };
closure.settle(handle, 'a', outcome);
closure.succeed(handle, 'a', undefined as unknown);
closure.fail(handle, 'a', 'caught' as unknown);
closure.fail(handle, 'a', undefined, undefined);
closure.cancel(handle, 'a');
closure.cancel(handle, 'a', undefined, undefined);
closure.cancel(handle, 'a', { any: 'value' }, 'denied');
holds<Same<ReturnType<ToolCallClosure['settle']>, SettlementResult>>();
holds<Same<ReturnType<ToolCallClosure['succeed']>, SettlementResult>>();
holds<Same<ReturnType<ToolCallClosure['fail']>, SettlementResult>>();
holds<Same<ReturnType<ToolCallClosure['cancel']>, SettlementResult>>();
holds<Same<ReturnType<ToolCallClosure['track']>, Promise<SettlementResult>>>();

// A result narrows by `accepted`, and a refusal knows its reasons.
export function settled(result: SettlementResult): string {
  if (result.accepted) {
    holds<Same<typeof result, AcceptedSettlement>>();
    holds<Same<typeof result.settlement, ReportedSettlement>>();
    return result.settlement.status;
  }
  holds<Same<typeof result.reason, 'stale_generation' | 'run_closed' | 'unknown_call' | 'duplicate_settlement'>>();
  holds<Same<typeof result.callId, string | null>>();
  holds<Same<typeof result.observedStatus, OutcomeStatus | 'invalid' | null>>();
  switch (result.reason) {
    case 'stale_generation':
    case 'run_closed':
    case 'unknown_call':
    case 'duplicate_settlement':
      return result.reason;
  }
}

// close, seal, sealWhenSettled.
closure.close(handle);
closure.close(handle, undefined);
closure.close(handle, null);
closure.close(handle, 'out of budget');
closure.close(handle, new TypeError('bad'));
closure.close(handle, {});
closure.close(handle, { status: 'error', code: 'step_limit', message: 1, sideEffectState: 'not_started' });
closure.close(handle, { status: null, code: null, message: null, sideEffectState: null });
closure.close(handle, { status: undefined, code: undefined, message: undefined, sideEffectState: undefined });
export const reasons: readonly CloseReasonInput[] = [null, undefined, 'text', new Error('x'), { code: 'timeout' }];
holds<Same<ReturnType<ToolCallClosure['close']>, ClosedSnapshot | OperationRejection<'stale_generation'>>>();
holds<
  Same<ReturnType<ToolCallClosure['seal']>, ClosedSnapshot | OperationRejection<'stale_generation' | 'pending_calls'>>
>();
holds<
  Same<
    Awaited<ReturnType<ToolCallClosure['sealWhenSettled']>>,
    ClosedSnapshot | OperationRejection<'stale_generation'>
  >
>();

const sealed = closure.seal(handle);
if (sealed.accepted === false) {
  holds<Same<typeof sealed.reason, 'stale_generation' | 'pending_calls'>>();
} else {
  holds<Same<typeof sealed, ClosedSnapshot>>();
  closure.toOpenAIChatCompletions(sealed);
}
const closed = closure.close(handle, 'done');
if (closed.accepted !== false) closure.toAnthropicToolResults(closed);
if ('reason' in closed) holds<Same<typeof closed.reason, 'stale_generation'>>();

// Snapshots narrow by `closed`, calls by `state`, settlements by `status` and `provenance`.
export function shown(snapshot: Snapshot | null): readonly string[] {
  if (snapshot === null) return [];
  holds<Same<typeof snapshot, OpenSnapshot | ClosedSnapshot>>();
  holds<Same<typeof snapshot.diagnostics, readonly Diagnostic[]>>();
  if (snapshot.closed) {
    holds<Same<typeof snapshot, ClosedSnapshot>>();
    holds<Same<typeof snapshot.closeReason, CloseReason>>();
    closure.toOpenAIChatCompletions(snapshot);
    return snapshot.calls.map((call) => call.settlement.status);
  }
  holds<Same<typeof snapshot.closeReason, null>>();
  return snapshot.calls.map(described);
}

function described(call: CallSnapshot): string {
  switch (call.state) {
    case 'pending':
      holds<Same<typeof call, PendingCall>>();
      holds<Same<typeof call.settlement, null>>();
      return call.name;
    case 'success':
      holds<Same<typeof call.settlement, SuccessSettlement>>();
      return call.settlement.content;
    case 'error':
      holds<Same<typeof call.settlement, ErrorSettlement>>();
      return call.settlement.code;
    case 'cancelled':
      holds<Same<typeof call.settlement, CancelledSettlement>>();
      return call.settlement.message;
  }
}

export function effects(settlement: Settlement): SideEffectState | undefined {
  if (settlement.status === 'success') {
    holds<Same<typeof settlement, SuccessSettlement>>();
    return undefined;
  }
  if (settlement.provenance === 'synthetic') {
    holds<Same<typeof settlement.sideEffectState, 'unknown' | 'not_started'>>();
    return settlement.sideEffectState;
  }
  holds<Same<typeof settlement.provenance, 'reported'>>();
  return settlement.sideEffectState;
}

export function why(reason: CloseReason): string {
  if (reason.status === 'complete') return reason.status;
  holds<Same<typeof reason, UnfinishedReason>>();
  holds<Same<typeof reason.sideEffectState, 'unknown' | 'not_started'>>();
  return reason.code;
}

holds<Same<SettledCall['state'], OutcomeStatus>>();
holds<Same<SettledCall['settlement'], Settlement>>();
holds<Same<ErrorSettlement, ReportedFailure<'error'> | SyntheticSettlement<'error'>>>();
holds<Same<SideEffectState, 'unknown' | 'not_started' | 'completed'>>();
holds<
  Same<RefusalReason, 'stale_generation' | 'run_closed' | 'unknown_call' | 'duplicate_settlement' | 'pending_calls'>
>();
holds<Same<OperationRejection['reason'], RefusalReason>>();

// What is handed out, field by field.
holds<Same<ReturnType<ToolCallClosure['snapshot']>, Snapshot | null>>();
holds<Same<AcceptedSettlement['generation'], number>>();
holds<Same<AcceptedSettlement['callId'], string>>();
holds<Same<Diagnostic['generation'], number | null>>();
holds<Same<OpenAIToolMessage, { role: 'tool'; tool_call_id: string; content: string }>>();
holds<Same<OpenAIFunctionCallOutput, { type: 'function_call_output'; call_id: string; output: string }>>();
holds<Same<AnthropicToolResult, { type: 'tool_result'; tool_use_id: string; content: string; is_error?: true }>>();

// Adapters: the current snapshot by default, plain mutable arrays of plain mutable objects.
const messages: OpenAIToolMessage[] = closure.toOpenAIChatCompletions();
messages.push(...closure.toOpenAIChatCompletions(undefined));
for (const message of messages) message.content = message.content.trim();
const outputs: OpenAIFunctionCallOutput[] = closure.toOpenAIResponses();
export const callers = outputs.map((output, i) => ({ ...output, caller: i }));
const results: AnthropicToolResult[] = closure.toAnthropicToolResults();
for (const result of results) if (result.is_error) delete result.is_error;
// Type aliases, not interfaces: they pass where a record with an index signature is asked for.
export const records: Record<string, unknown>[] = [...messages, ...outputs, ...results];

// An exported value whose type is inferred must be nameable in the consumer's own declarations.
export const inferred = closure.begin(calls);
export const inferredHandle = closure.begin(calls).handle;
export const inferredSnapshot = closure.snapshot();
export const inferredResult = closure.succeed(handle, 'a', 1);
export const inferredSuccesses = closed.accepted === false ? [] : closed.calls.map(succeeded);

function succeeded(call: SettledCall) {
  return call.state === 'success' ? call : null;
}
