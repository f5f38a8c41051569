// The plain machine of the contract, one operation at a time: which calls a batch has, which of them are settled with what,
// why it was closed, what was refused. No caller code, no conversion, no sharing of views: those are the library's affair.

export type Fields = Readonly<Record<string, string>>;

/** A handle as the machine knows it: which batch it opens (0: none), and which generation it claims. */
export interface Handle {
  readonly opens: number;
  readonly claims: number | null;
}

/** What a waiting seal comes to; `undefined` while it waits. */
export interface Waiter {
  value?: unknown;
}

interface Batch {
  readonly names: ReadonlyMap<string, string>;
  readonly settled: Map<string, Fields>;
  readonly watched: boolean;
  closeReason: Fields | null;
  diagnostics: object[];
  dropped: number;
  waiter: Waiter | null;
}

export class Model {
  generation = 0;
  /** What the one signal's reason means as a close reason, once it has aborted. */
  abortReason: Fields | null = null;
  #batch: Batch | null = null;

  constructor(readonly maxDiagnostics: number) {}

  /** `entered` is the generation at entry; `abortReason` stands where the signal watched has aborted already. */
  begin(names: ReadonlyMap<string, string>, watched: boolean, entered: number, abortReason: Fields | null): object {
    if (entered !== this.generation) throw new TypeError('the generation moved');
    const superseded = this.open
      ? this.#end({
          status: 'cancelled',
          code: 'superseded',
          message: 'Tool call was superseded by a newer generation.',
          sideEffectState: 'unknown',
        })
      : null;
    this.generation += 1;
    this.#batch = { names, settled: new Map(), watched, closeReason: null, diagnostics: [], dropped: 0, waiter: null };
    if (watched && abortReason !== null) this.#end(abortReason);
    return { generation: this.generation, handle: { generation: this.generation }, superseded };
  }

  /** `settlement` is `null` where the outcome is no good, which matters only once the gate is passed. */
  settle(handle: Handle, id: string, observed: string | null, settlement: Fields | null): object {
    const reason = this.#gate(handle, id);
    if (reason !== null) return this.#refuse(reason, handle, id, observed);
    if (settlement === null) throw new TypeError('the outcome is no good');
    const batch = this.#batch as Batch;
    batch.settled.set(id, settlement);
    if (batch.waiter !== null && this.pending === 0) this.#end({ status: 'complete' });
    return { accepted: true, generation: this.generation, callId: id, settlement };
  }

  close(handle: Handle, reason: Fields): unknown {
    const refusal = this.#gate(handle);
    if (refusal === 'stale_generation') return this.#refuse(refusal, handle, null, null);
    return refusal === 'run_closed' ? this.view() : this.#end(reason);
  }

  seal(handle: Handle): unknown {
    if (this.#gate(handle) === null && this.pending > 0) return this.#refuse('pending_calls', handle, null, null);
    return this.close(handle, { status: 'complete' });
  }

  sealWhenSettled(handle: Handle): Waiter {
    const refusal = this.#gate(handle);
    if (refusal === 'stale_generation') return { value: this.#refuse(refusal, handle, null, null) };
    const batch = this.#batch as Batch;
    if (batch.waiter === null) {
      batch.waiter = {};
      if (batch.closeReason !== null) batch.waiter.value = this.view();
      else if (this.pending === 0) this.#end({ status: 'complete' });
    }
    return batch.waiter;
  }

  /** The signal calls its listeners. */
  abort(reason: Fields): void {
    if (this.open && this.#batch?.watched) this.#end(reason);
  }

  view(): object | null {
    const batch = this.#batch;
    if (batch === null) return null;
    const calls = [...batch.names].map(([id, name]) => {
      const settlement = batch.settled.get(id) ?? null;
      return { id, name, state: settlement?.status ?? 'pending', settlement };
    });
    const { closeReason, diagnostics } = batch;
    return { generation: this.generation, closed: closeReason !== null, closeReason, calls, diagnostics: [...diagnostics] };
  }

  /** As the Anthropic adapter formats the newest batch. */
  payload(): object[] {
    if (this.#batch === null || this.open) throw new TypeError('not closed');
    return [...this.#batch.names.keys()].map((tool_use_id) => {
      const { status, content, code, message, sideEffectState } = this.#batch?.settled.get(tool_use_id) as Fields;
      const error = { code, message, side_effect_state: sideEffectState };
      return status === 'success'
        ? { type: 'tool_result', tool_use_id, content }
        : { type: 'tool_result', tool_use_id, content: JSON.stringify({ error }), is_error: true };
    });
  }

  get open(): boolean {
    return this.#batch !== null && this.#batch.closeReason === null;
  }

  get pending(): number {
    return this.#batch === null ? 0 : this.#batch.names.size - this.#batch.settled.size;
  }

  get dropped(): number {
    return this.#batch?.dropped ?? 0;
  }

  /** How many listeners the signal should hold. */
  get listeners(): number {
    return this.open && this.#batch?.watched ? 1 : 0;
  }

  /** What tells two states apart; tags, diagnostics and what only a closed batch remembers do not. */
  get shape(): string {
    const batch = this.#batch;
    const states = batch && [...batch.names.keys()].map((id) => batch.settled.get(id)?.provenance ?? 'pending');
    const closed = batch?.closeReason && (batch.closeReason.status === 'complete' ? 'complete' : 'unfinished');
    const waits = this.open && batch?.waiter !== null;
    return JSON.stringify([this.generation, states, closed, waits, this.listeners, this.abortReason !== null]);
  }

  #gate(handle: Handle, id?: string): string | null {
    const batch = this.#batch;
    if (batch === null || handle.opens !== this.generation) return 'stale_generation';
    if (batch.closeReason !== null) return 'run_closed';
    if (id === undefined) return null;
    if (!batch.names.has(id)) return 'unknown_call';
    return batch.settled.has(id) ? 'duplicate_settlement' : null;
  }

  #refuse(reason: string, { claims }: Handle, callId: string | null, observedStatus: string | null): object {
    const diagnostic = { reason, callId, generation: claims, observedStatus };
    if (this.#batch !== null) {
      if (this.#batch.diagnostics.length < this.maxDiagnostics) this.#batch.diagnostics.push(diagnostic);
      else this.#batch.dropped += 1;
    }
    return { accepted: false, ...diagnostic };
  }

  #end(closeReason: Fields): object {
    const batch = this.#batch as Batch;
    const { status, code, message, sideEffectState } = closeReason;
    for (const id of batch.names.keys()) {
      if (!batch.settled.has(id)) {
        batch.settled.set(id, { status, code, message, provenance: 'synthetic', sideEffectState } as Fields);
      }
    }
    batch.closeReason = closeReason;
    const view = this.view() as object;
    if (batch.waiter !== null) batch.waiter.value = view;
    return view;
  }
}
