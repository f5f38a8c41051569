import * as input from './input.js';
import { anthropicToolResults, openAIChatCompletions, openAIResponses } from './payloads.js';
import type {
  AnthropicToolResult,
  BatchHandle,
  BeginOptions,
  BeginResult,
  CallSnapshot,
  ClosedSnapshot,
  CloseReason,
  CloseReasonInput,
  Diagnostic,
  OpenAIFunctionCallOutput,
  OpenAIToolMessage,
  OperationRejection,
  Outcome,
  RefusalReason,
  ReportedSettlement,
  SettledCall,
  Settlement,
  SettlementResult,
  Snapshot,
  ToolCall,
  ToolCallClosureOptions,
  UnfinishedReason,
} from './types.js';

type GateRefusal = Exclude<RefusalReason, 'pending_calls'>;

/** The record of one batch. Only the newest is reachable from the closure. */
interface Run {
  readonly generation: number;
  /** Made by `begin`; no other object opens this run. */
  readonly handle: BatchHandle;
  /** Call id -> position in `calls`. */
  readonly index: ReadonlyMap<string, number>;
  /** The signal that closes this run, if any; its listener is gone once the run is closed. */
  readonly watch: input.Watch | null;
  /** Announcement order. A settlement replaces one entry; closing replaces the array by a frozen one. */
  calls: CallSnapshot[];
  /** How many entries of `calls` are pending; looked at, and counted down by `#settle`, only while open. */
  pending: number;
  /** `null` while open. Set once, by `#close` or, for a signal that had aborted already, by `begin`. */
  closeReason: CloseReason | null;
  /** Only appended to, by `#refuse`, up to `maxDiagnostics`. */
  readonly diagnostics: Diagnostic[];
  /** Refusals beyond `maxDiagnostics`. */
  dropped: number;
  /** The newest frozen copy of `diagnostics`; out of date when shorter. */
  shown: readonly Diagnostic[];
  /** The snapshot that shows this record as it is; `null`, set by each commit, if none has been made since. Made by `#view`. */
  view: Snapshot | null;
  /**
   * Whether `#view` has frozen the entries, which it does before it first shows them. Most are never shown while pending, and
   * to freeze those as well would take `begin`, `close` and export 1.3 times as long.
   */
  frozen: boolean;
  /** What `sealWhenSettled` gave out; resolved when the run closes. */
  waiter: Waiter | null;
}

interface Waiter {
  readonly promise: Promise<ClosedSnapshot>;
  readonly resolve: (view: ClosedSnapshot) => void;
}

const COMPLETE: CloseReason = /* @__PURE__ */ Object.freeze({ status: 'complete' });
const NO_DIAGNOSTICS: readonly Diagnostic[] = /* @__PURE__ */ Object.freeze([]);

/**
 * The account of one conversation's tool calls: each announced call gets exactly one terminal settlement, also when the
 * batch is aborted, times out, hits a limit or is replaced, and adapters format a closed batch for three provider APIs.
 * One object per conversation. It executes, cancels, retries and stores nothing.
 *
 * Expected races are returned as values (`accepted: false` and a reason). Misuse throws `TypeError` or `RangeError` and
 * changes nothing. Caller code (getters, Proxy traps, `toJSON`, `toString`, signals) may call back into the same closure:
 * what such a nested operation changed wins.
 */
export class ToolCallClosure {
  /** Set by the constructor. */
  readonly #limits: input.Limits;
  /** The newest run, open or closed; `null` before the first `begin`. Replaced by `begin` alone. */
  #run: Run | null = null;
  /** Every snapshot that this closure made, added by `#newView`; nothing else is exported. */
  readonly #snapshots = new WeakSet<object>();

  /**
   * Makes a closure that has no batch yet.
   *
   * @param options - Limits; `undefined` means `{}`. Runs your getters.
   * @throws TypeError if `options` is neither an object nor `undefined`, or a limit is no safe integer of at least 1.
   */
  constructor(options?: ToolCallClosureOptions) {
    this.#limits = input.limits(options);
  }

  /** The newest generation's number; `null` before the first `begin`. Kept after closing. Runs none of your code. */
  get activeGeneration(): number | null {
    return this.#run?.generation ?? null;
  }

  /**
   * How many refusals of the newest generation were not kept as diagnostics (a count); 0 before the first `begin`. Runs none of
   * your code.
   */
  get droppedDiagnostics(): number {
    return this.#run?.dropped ?? 0;
  }

  /**
   * Registers a batch of calls as the next generation. A previous batch that is still open is closed: its pending calls
   * become `cancelled`, code `superseded`. `[]` is a valid, empty batch.
   *
   * @param calls - The announced calls, at most `maxCalls`, each id once. Runs your getters.
   * @param options - `signal`: closes the batch when it aborts, with its reason as the close reason (code `timeout` for a
   *   `TimeoutError`, else `aborted`, unless the reason names one). Already aborted: the batch is registered and closed.
   *   Runs your getters and `addEventListener`, and the replaced batch's `removeEventListener`.
   * @throws TypeError if `calls` is no array, an element is no object, an id or a name is no label, an id repeats, the
   *   signal is none, or caller code began another batch meanwhile.
   * @throws RangeError if there are more than `maxCalls` calls, or an id or a name is too long. Nothing is registered then.
   */
  begin(calls: readonly ToolCall[], options?: BeginOptions | null): BeginResult {
    const previous = this.#run;
    const announced = input.announced(calls, this.#limits);
    let run: Run | null = null;
    const watch = input.watch(options, this.#limits, () => {
      if (run !== null) this.#abort(run);
    });
    let listening = false;
    try {
      const closeReason = watch?.aborted ? watch.reason() : null;

      if (this.#run !== previous) {
        throw new TypeError('begin was called again meanwhile; nothing was registered');
      }

      const generation = (previous?.generation ?? 0) + 1;
      const handle = Object.freeze({ generation }) as BatchHandle;
      const superseded =
        previous?.closeReason === null
          ? this.#closedView(previous, previous.calls, input.superseded(this.#limits))
          : null;
      const result = Object.freeze({ generation, handle, superseded });
      run = {
        generation,
        handle,
        index: announced.index,
        watch,
        calls: closeReason === null ? announced.calls : settledCalls(announced.calls, closeReason),
        pending: announced.calls.length,
        closeReason,
        diagnostics: [],
        dropped: 0,
        shown: NO_DIAGNOSTICS,
        view: null,
        frozen: false,
        waiter: null,
      };

      if (superseded !== null) this.#close(previous as Run, superseded, run);
      else this.#run = run;

      listening = closeReason === null;
      return result;
    } finally {
      // Neither a batch that was not registered nor one that is closed already may be held by the signal.
      if (!listening) {
        try {
          watch?.stop();
        } catch {}
      }
    }
  }

  /**
   * Reports how a call ended. The first report stands; a later one is refused. If it is the last that a `sealWhenSettled`
   * waits for, it seals the batch, which runs the signal's `removeEventListener`.
   *
   * @param handle - From the `begin` that announced the call.
   * @param callId - An announced call id.
   * @param outcome - Runs your getters, `toJSON` and `toString`; of one that is refused at once, only `status` is read.
   * @returns the settlement, or a refusal: `stale_generation`, `run_closed`, `unknown_call` or `duplicate_settlement`.
   * @throws TypeError if `callId` is no label, or `outcome` or a field of it is of the wrong kind (a promise as `content`
   *   too). The call stays pending.
   * @throws RangeError if `callId`, `code` or the text of `content` is too long. The call stays pending.
   */
  settle(handle: BatchHandle, callId: string, outcome: Outcome): SettlementResult {
    const id = input.callId(callId, this.#limits);
    const claim = input.claim(handle);
    const status = input.outcomeStatus(outcome);
    return this.#settle(handle, id, claim, input.observed(status), () =>
      input.reported(outcome, status, this.#limits),
    );
  }

  /**
   * Reports success: `settle` with status `success`, of which the same holds.
   *
   * @param content - A string is itself; anything else is stored as its JSON text, at most `maxResultBytes` bytes. Runs
   *   your `toJSON` and getters.
   * @returns the settlement, or a refusal, as `settle` does.
   * @throws TypeError if `content` has no JSON text or is a promise, or as `settle` does. The call stays pending.
   * @throws RangeError if the text is too long, or as `settle` does. The call stays pending.
   */
  succeed(handle: BatchHandle, callId: string, content: unknown): SettlementResult {
    const id = input.callId(callId, this.#limits);
    return this.#settle(handle, id, input.claim(handle), 'success', () => input.succeeded(content, this.#limits));
  }

  /**
   * Reports an error: `settle` with status `error`, made for catch blocks, so no value of `error` makes it throw.
   *
   * @param error - Its message text is kept, truncated to `maxMessageBytes` bytes. Runs your getters and `toString`.
   * @param code - At most `maxCodeBytes` bytes. Default `tool_error`, also where it is no string.
   * @returns the settlement, or a refusal, as `settle` does.
   * @throws TypeError if `callId` or a string `code` is blank or ill-formed.
   * @throws RangeError if one of them is too long.
   */
  fail(handle: BatchHandle, callId: string, error: unknown, code?: string): SettlementResult {
    const id = input.callId(callId, this.#limits);
    return this.#settle(handle, id, input.claim(handle), 'error', () => input.failed(error, code, this.#limits));
  }

  /**
   * Reports a cancellation; like `fail`, but the status is `cancelled` and the default code `cancelled`.
   *
   * @param message - Any value; its message text is kept, truncated to `maxMessageBytes` bytes. Default `Tool call was
   *   cancelled.` Runs your getters and `toString`.
   * @param code - At most `maxCodeBytes` bytes. Default `cancelled`, also where it is no string.
   * @returns the settlement, or a refusal, as `settle` does.
   * @throws TypeError if `callId` or a string `code` is blank or ill-formed.
   * @throws RangeError if one of them is too long.
   */
  cancel(handle: BatchHandle, callId: string, message?: unknown, code?: string): SettlementResult {
    const id = input.callId(callId, this.#limits);
    return this.#settle(handle, id, input.claim(handle), 'cancelled', () =>
      input.cancelled(message, code, this.#limits),
    );
  }

  /**
   * Reports what a tool's promise comes to, when it comes: fulfilled is `succeed` (`undefined` becomes the text `null`),
   * rejected is `fail` (an `AbortError` is `cancelled` with code `aborted`, a `TimeoutError` has code `timeout`). A value
   * that can't be stored is an `error` with code `invalid_result` and side effects `completed`.
   *
   * @param value - A promise, thenable or plain value. Its rejection is handled here. Runs your getters, `then`, `toJSON`
   *   and `toString`, and what `settle` runs.
   * @returns a promise of what `settle` would return. It never rejects; a late value resolves it to the refusal.
   * @throws TypeError, RangeError at once if `callId` is no label.
   */
  track(handle: BatchHandle, callId: string, value: unknown): Promise<SettlementResult> {
    // First, so that a rejection is handled even if the next line throws.
    const arrival = input.arrival(value);
    const id = input.callId(callId, this.#limits);
    const claim = input.totalClaim(handle);
    return arrival.then(({ status, settlement }) =>
      this.#settle(handle, id, claim, status, () => settlement(this.#limits)),
    );
  }

  /**
   * Closes the batch: each pending call gets a synthetic settlement made of the reason; reported ones stay. It stops no
   * tool, request or side effect. Idempotent: the first reason stands.
   *
   * @param reason - Nothing, a message, an Error of any realm, or `{ status, code, message, sideEffectState }`. Read only
   *   while the batch is open: runs your getters and `toString`, and after the commit the signal's `removeEventListener`.
   * @returns the closed snapshot, or the refusal `stale_generation` if a newer batch has begun.
   * @throws TypeError if the reason or a field of it is of the wrong kind. Everything stays open.
   * @throws RangeError if `reason.code` is too long. Everything stays open.
   */
  close(handle: BatchHandle, reason?: CloseReasonInput): ClosedSnapshot | OperationRejection<'stale_generation'> {
    const claim = input.claim(handle);

    const open = this.#gate(handle);
    if (typeof open === 'string') return this.#unopened(open, claim);

    const closeReason = input.closeReason(reason, this.#limits);

    const run = this.#gate(handle);
    if (typeof run === 'string') return this.#unopened(run, claim);

    const view = this.#closedView(run, run.calls, closeReason);
    this.#close(run, view);
    return view;
  }

  /**
   * Closes a batch in which every call has its settlement, with close reason `complete`. Idempotent; sealing a closed batch
   * gives its snapshot. Runs none of your code but a getter on a forged handle and the signal's `removeEventListener`.
   *
   * @returns the closed snapshot, or a refusal: `stale_generation` or `pending_calls`.
   */
  seal(handle: BatchHandle): ClosedSnapshot | OperationRejection<'stale_generation' | 'pending_calls'> {
    const claim = input.claim(handle);

    const run = this.#gate(handle);
    if (typeof run === 'string') return this.#unopened(run, claim);
    if (run.pending > 0) return this.#refuse('pending_calls', claim, null, null);

    const view = this.#closedView(run, run.calls, COMPLETE);
    this.#close(run, view);
    return view;
  }

  /**
   * A seal that waits: it takes effect as soon as every call has its settlement. Asking twice is asking once. Runs none of
   * your code but a getter on a forged handle and the signal's `removeEventListener`.
   *
   * @returns a promise of the closed snapshot, however the batch closes: sealed, by `close`, by its signal, by a newer
   *   `begin`; or of the refusal `stale_generation`. It never rejects.
   */
  sealWhenSettled(handle: BatchHandle): Promise<ClosedSnapshot | OperationRejection<'stale_generation'>> {
    const claim = input.totalClaim(handle);

    const open = this.#gate(handle);
    if (open === 'stale_generation') return Promise.resolve(this.#refuse(open, claim, null, null));

    // Not stale, so the newest run is the handle's.
    const run = this.#run as Run;
    const waiter = (run.waiter ??= newWaiter());
    if (run.closeReason !== null) waiter.resolve(this.#view(run) as ClosedSnapshot);
    else if (run.pending === 0) this.#close(run, this.#closedView(run, run.calls, COMPLETE));
    return waiter.promise;
  }

  /**
   * The newest batch as it is now, deeply frozen; `null` before the first `begin`. While nothing has changed the same
   * object is returned again, and unchanged calls are shared between snapshots. Runs none of your code.
   */
  snapshot(): Snapshot | null {
    return this.#run && this.#view(this.#run);
  }

  /**
   * The results of a closed batch as tool messages of the OpenAI Chat Completions API (`ChatCompletionToolMessageParam`):
   * `{ role: 'tool', tool_call_id, content }` each, in announcement order. Success text verbatim, otherwise the JSON text
   * `{"error":{"code":…,"message":…}}`, with `"side_effect_state":…` where there is one. Runs none of your code.
   *
   * @param snapshot - A closed snapshot of this closure; default the current one.
   * @returns a fresh array of fresh objects, yours to change.
   * @throws TypeError if this closure did not make the snapshot, or the batch is open.
   */
  toOpenAIChatCompletions(snapshot?: ClosedSnapshot): OpenAIToolMessage[] {
    return openAIChatCompletions(this.#exportable(snapshot));
  }

  /**
   * The results of a closed batch as input items of the OpenAI Responses API (`ResponseInputItem.FunctionCallOutput`):
   * `{ type: 'function_call_output', call_id, output }` each, in announcement order, with text as
   * `toOpenAIChatCompletions` describes. Runs none of your code.
   *
   * @param snapshot - A closed snapshot of this closure; default the current one.
   * @returns a fresh array of fresh objects, yours to change.
   * @throws TypeError if this closure did not make the snapshot, or the batch is open.
   */
  toOpenAIResponses(snapshot?: ClosedSnapshot): OpenAIFunctionCallOutput[] {
    return openAIResponses(this.#exportable(snapshot));
  }

  /**
   * The results of a closed batch as content blocks of the Anthropic Messages API (`ToolResultBlockParam`):
   * `{ type: 'tool_result', tool_use_id, content }` each, plus `is_error: true` for errors and cancellations, in
   * announcement order, with text as `toOpenAIChatCompletions` describes. Runs none of your code.
   *
   * @param snapshot - A closed snapshot of this closure; default the current one.
   * @returns a fresh array of fresh objects, yours to change.
   * @throws TypeError if this closure did not make the snapshot, or the batch is open.
   */
  toAnthropicToolResults(snapshot?: ClosedSnapshot): AnthropicToolResult[] {
    return anthropicToolResults(this.#exportable(snapshot));
  }

  /** The handle's run if it is open and, where a call id is given, that call is pending; otherwise the first reason why not. */
  #gate(handle: BatchHandle, callId?: string): Run | GateRefusal {
    const run = this.#run;
    if (run === null || run.handle !== handle) return 'stale_generation';
    if (run.closeReason !== null) return 'run_closed';
    if (callId === undefined) return run;
    const position = run.index.get(callId);
    if (position === undefined) return 'unknown_call';
    return run.calls[position]?.state === 'pending' ? run : 'duplicate_settlement';
  }

  /** One report, in the order that every operation keeps: gate, convert, gate, commit, return. */
  #settle(
    handle: BatchHandle,
    callId: string,
    claim: number | null,
    observed: Diagnostic['observedStatus'],
    convert: () => ReportedSettlement,
  ): SettlementResult {
    const open = this.#gate(handle, callId);
    if (typeof open === 'string') return this.#refuse(open, claim, callId, observed);

    const settlement = convert();

    const run = this.#gate(handle, callId);
    if (typeof run === 'string') return this.#refuse(run, claim, callId, observed);

    const position = run.index.get(callId) as number;
    const call = settledCall(run.calls[position] as CallSnapshot, settlement);
    const result = Object.freeze({ accepted: true, generation: run.generation, callId, settlement });
    if (run.waiter !== null && run.pending === 1) {
      const calls = [...run.calls];
      calls[position] = call;
      this.#close(run, this.#closedView(run, calls, COMPLETE));
    } else {
      run.calls[position] = call;
      run.pending -= 1;
      run.view = null;
    }
    return result;
  }

  /** The signal of `run` has aborted. */
  #abort(run: Run): void {
    if (typeof this.#gate(run.handle) === 'string') return;

    const closeReason = (run.watch as input.Watch).reason();

    if (typeof this.#gate(run.handle) === 'string') return;

    this.#close(run, this.#closedView(run, run.calls, closeReason));
  }

  /**
   * The one place that closes a run. `view` shows it closed; `next` is the run that takes its place, if one does. Waiting
   * promises are resolved first, because that can fail near the stack limit; then nothing can, up to the listener.
   */
  #close(run: Run, view: ClosedSnapshot, next = run): void {
    run.waiter?.resolve(view);

    run.calls = view.calls as SettledCall[];
    run.closeReason = view.closeReason;
    run.view = view;
    this.#run = next;

    // A throw from the stack limit must not cost the caller a result that is committed.
    try {
      run.watch?.stop();
    } catch {}
  }

  /** Records and returns one refusal. */
  #refuse<Reason extends RefusalReason>(
    reason: Reason,
    generation: number | null,
    callId: string | null,
    observedStatus: Diagnostic['observedStatus'],
  ): OperationRejection<Reason> {
    const run = this.#run;
    const rejection = Object.freeze({ accepted: false, reason, callId, generation, observedStatus });
    if (run === null) return rejection;
    if (run.diagnostics.length < this.#limits.maxDiagnostics) {
      const diagnostic = Object.freeze({ reason, callId, generation, observedStatus });
      run.diagnostics[run.diagnostics.length] = diagnostic;
      run.view = null;
    } else {
      run.dropped += 1;
    }
    return rejection;
  }

  /** What `close` and `seal` return for a run that is not open: a closed one's snapshot, or a refusal. */
  #unopened(reason: GateRefusal, claim: number | null): ClosedSnapshot | OperationRejection<'stale_generation'> {
    return reason === 'stale_generation'
      ? this.#refuse(reason, claim, null, null)
      : (this.#view(this.#run as Run) as ClosedSnapshot);
  }

  /** The snapshot of a run as it is. */
  #view(run: Run): Snapshot {
    if (run.view === null) {
      if (!run.frozen) run.calls.forEach(Object.freeze);
      run.frozen = true;
      // A closed run's calls are frozen and never replaced again, so every later snapshot shares them.
      const calls = run.closeReason === null ? Object.freeze([...run.calls]) : run.calls;
      run.view = this.#newView(run, calls, run.closeReason);
    }
    return run.view;
  }

  /** The snapshot of a run as closing it with these calls would leave it. The run itself does not change. */
  #closedView(run: Run, calls: readonly CallSnapshot[], closeReason: CloseReason): ClosedSnapshot {
    return this.#newView(run, settledCalls(calls, closeReason), closeReason) as ClosedSnapshot;
  }

  #newView(run: Run, calls: readonly CallSnapshot[], closeReason: CloseReason | null): Snapshot {
    if (run.shown.length < run.diagnostics.length) run.shown = Object.freeze([...run.diagnostics]);
    const { generation, shown: diagnostics } = run;
    const view = Object.freeze({ generation, closed: closeReason !== null, closeReason, calls, diagnostics });
    this.#snapshots.add(view);
    return view as Snapshot;
  }

  /** The snapshot if the adapters may read it; recognised by identity before any property is read. */
  #exportable(snapshot: ClosedSnapshot | undefined): ClosedSnapshot {
    const own = (snapshot === undefined && this.#run !== null ? this.#view(this.#run) : snapshot) as Snapshot;
    if (!this.#snapshots.has(own)) throw new TypeError('snapshot was not made by this closure');
    if (!own.closed) throw new TypeError('snapshot is of an open batch: seal or close it first');
    return own;
  }
}

/**
 * Makes a closure; one per conversation. The same as `new ToolCallClosure(options)`.
 *
 * @param options - Limits; `undefined` means `{}`. Runs your getters.
 * @throws TypeError if `options` is neither an object nor `undefined`, or a limit is no safe integer of at least 1.
 */
export function createToolCallClosure(options?: ToolCallClosureOptions): ToolCallClosure {
  return new ToolCallClosure(options);
}

function settledCall({ id, name }: CallSnapshot, settlement: Settlement): SettledCall {
  return Object.freeze({ id, name, state: settlement.status, settlement }) as SettledCall;
}

/** The calls of a batch closed for this reason: those still pending share one synthetic settlement. */
function settledCalls(calls: readonly CallSnapshot[], closeReason: CloseReason): SettledCall[] {
  // `complete` is the reason only where nothing is pending.
  const { status, code, message, sideEffectState } = closeReason as UnfinishedReason;
  const settlement = Object.freeze({ status, code, message, provenance: 'synthetic', sideEffectState }) as Settlement;
  const settled = calls.map((call) => (call.state === 'pending' ? settledCall(call, settlement) : call));
  return Object.freeze(settled) as SettledCall[];
}

function newWaiter(): Waiter {
  let resolve!: Waiter['resolve'];
  const promise = new Promise<ClosedSnapshot>((settle) => (resolve = settle));
  return { promise, resolve };
}
