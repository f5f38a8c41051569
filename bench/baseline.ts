/**
 * The cheapest program that could do the job, in a host that makes no mistake: a Map of plain objects. It checks, freezes
 * and refuses nothing, and keeps no record that its caller could trust.
 */
interface Call {
  id: string;
  state: 'pending' | 'success' | 'cancelled';
  text: string;
}

export class Bare {
  calls = new Map<string, Call>();

  begin(calls: readonly { id: string }[]): void {
    this.calls = new Map();
    for (const { id } of calls) this.calls.set(id, { id, state: 'pending', text: '' });
  }

  succeed(id: string, text: string): void {
    const call = this.calls.get(id) as Call;
    call.state = 'success';
    call.text = text;
  }

  close(code: string, message: string): void {
    const text = JSON.stringify({ error: { code, message } });
    for (const call of this.calls.values()) {
      if (call.state === 'pending') {
        call.state = 'cancelled';
        call.text = text;
      }
    }
  }

  payload() {
    const results = [];
    for (const { id, text } of this.calls.values()) {
      results.push({ type: 'function_call_output', call_id: id, output: text });
    }
    return results;
  }
}

/** The least that records and returns a refusal. */
export function refuse(diagnostics: object[], reason: string, callId: string): object {
  const refusal = { accepted: false, reason, callId };
  diagnostics.push(refusal);
  return refusal;
}
