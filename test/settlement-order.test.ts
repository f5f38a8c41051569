import fc from 'fast-check';
import { type SettlementResult, ToolCallClosure } from 'tool-call-closure';
import { expect, it } from 'vitest';
import { named } from './support/batch.js';

const seed = Number(process.env.FC_SEED ?? 20260802);
const numRuns = process.env.MUTATION ? 500 : 5_000;

const STATUSES = ['success', 'error', 'cancelled'] as const;

const steps = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: fc.record({ call: fc.nat(7), status: fc.constantFrom(...STATUSES) }) },
    { weight: 1, arbitrary: fc.constantFrom('close' as const, 'seal' as const, 'supersede' as const) },
  ),
  { maxLength: 30 },
);

it('whatever the order of reports and closing: one outcome a call, in announcement order, late ones refused with the reason', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 7 }), steps, (size, plan) => {
      const ids = Array.from({ length: size }, (_, i) => `c${i}`);
      const closure = new ToolCallClosure();
      const { handle } = closure.begin(named(...ids));
      const reported = new Map<string, string>();
      let state: 'open' | 'closed' | 'stale' = 'open';
      let superseded = null as ReturnType<ToolCallClosure['begin']>['superseded'];

      for (const [tag, step] of [...plan, 'close' as const].entries()) {
        if (step === 'close') {
          closure.close(handle, `close ${tag}`);
          if (state === 'open') state = 'closed';
        } else if (step === 'seal') {
          const view = closure.seal(handle);
          const complete = reported.size === size;
          if (state === 'open') expect(view.accepted === false ? view.reason : 'sealed').toBe(complete ? 'sealed' : 'pending_calls');
          if (state === 'open' && complete) state = 'closed';
        } else if (step === 'supersede') {
          const begun = closure.begin([]);
          if (state === 'open') superseded = begun.superseded;
          else if (state === 'closed') expect(begun.superseded).toBeNull();
          // Exports of the batch that was just replaced are checked at the end.
          if (state === 'closed') return;
          state = 'stale';
        } else {
          const id = `c${step.call}`;
          const text = `${id} by ${tag}`;
          const result: SettlementResult =
            step.status === 'success' ? closure.succeed(handle, id, text) : step.status === 'error' ? closure.fail(handle, id, text) : closure.cancel(handle, id, text);
          const reason =
            state === 'stale' ? 'stale_generation' : state === 'closed' ? 'run_closed' : step.call >= size ? 'unknown_call' : reported.has(id) ? 'duplicate_settlement' : null;
          if (reason === null) {
            expect(result).toMatchObject({ accepted: true, callId: id, settlement: { status: step.status } });
            reported.set(id, text);
          } else {
            expect(result).toEqual({ accepted: false, reason, callId: id, generation: 1, observedStatus: step.status });
          }
        }
      }

      const view = superseded ?? closure.snapshot();
      if (view === null || !view.closed) throw new Error('not closed');
      expect(view.calls.map(({ id }) => id)).toEqual(ids);
      for (const { id, settlement } of view.calls) {
        expect(settlement.provenance).toBe(reported.has(id) ? 'reported' : 'synthetic');
        if (reported.has(id)) expect('content' in settlement ? settlement.content : settlement.message).toBe(reported.get(id));
      }
      const payload = closure.toOpenAIChatCompletions(view);
      expect(payload.map(({ tool_call_id }) => tool_call_id)).toEqual(ids);
    }),
    { seed, numRuns },
  );
});
