import { ToolCallClosure } from 'tool-call-closure';
import { Bare, refuse } from './baseline.js';
import { keep, type Work } from './measure.js';

// What is measured, each work with the bare one that stands beside it.

export interface Pair {
  ours: Work;
  beside: Work;
}

/** Parsed, so that the strings are what a provider's answer gives. */
export function batch(n: number): { id: string; name: string }[] {
  const calls = Array.from({ length: n }, (_, i) => ({ id: `call_${String(i).padStart(24, '0')}`, name: 'read_file' }));
  return JSON.parse(JSON.stringify(calls));
}

/** `begin`, a success for each call, `seal`, export. */
export function lifecycle(n: number): Pair {
  const calls = batch(n);
  const closure = new ToolCallClosure({ maxCalls: n });
  const bare = new Bare();
  return {
    ours() {
      const { handle } = closure.begin(calls);
      for (const { id } of calls) closure.succeed(handle, id, 'ok');
      closure.seal(handle);
      return closure.toOpenAIResponses();
    },
    beside() {
      bare.begin(calls);
      for (const { id } of calls) bare.succeed(id, 'ok');
      return bare.payload();
    },
  };
}

/** `begin`, `close` with all calls pending, export. */
export function closing(n: number): Pair {
  const calls = batch(n);
  const closure = new ToolCallClosure({ maxCalls: n });
  const bare = new Bare();
  return {
    ours() {
      closure.close(closure.begin(calls).handle);
      return closure.toOpenAIResponses();
    },
    beside() {
      bare.begin(calls);
      bare.close('cancelled', 'Tool call was cancelled.');
      return bare.payload();
    },
  };
}

/** The lifecycle with a snapshot after each settle; the bare one copies as many pointers. */
export function snapshots(n: number): Pair {
  const calls = batch(n);
  const closure = new ToolCallClosure({ maxCalls: n });
  const bare = new Bare();
  return {
    ours() {
      const { handle } = closure.begin(calls);
      for (const { id } of calls) {
        closure.succeed(handle, id, 'ok');
        keep(closure.snapshot());
      }
      closure.seal(handle);
      return closure.toOpenAIResponses();
    },
    beside() {
      bare.begin(calls);
      for (const { id } of calls) {
        bare.succeed(id, 'ok');
        keep([...calls]);
      }
      return bare.payload();
    },
  };
}

/** A batch of one call, and as many refused settlements as are kept. */
export function refusals(times: number, reason: 'late' | 'duplicate' | 'unknown'): Pair {
  const calls = batch(1);
  const known = (calls[0] as { id: string }).id;
  const id = reason === 'unknown' ? 'call_that_nobody_announced' : known;
  const closure = new ToolCallClosure({ maxDiagnostics: times });
  const bare = new Bare();
  return {
    ours() {
      const { handle } = closure.begin(calls);
      if (reason === 'late') closure.close(handle);
      if (reason === 'duplicate') closure.succeed(handle, id, 'ok');
      for (let i = 0; i < times; i += 1) keep(closure.succeed(handle, id, 'ok'));
    },
    beside() {
      const diagnostics: object[] = [];
      bare.begin(calls);
      bare.succeed(known, 'ok');
      for (let i = 0; i < times; i += 1) {
        if (bare.calls.get(id)?.state !== 'pending') keep(refuse(diagnostics, reason, id));
      }
    },
  };
}

/** Flat text of `bytes` bytes of UTF-8, as it comes from the network. */
export const text = (unit: string, bytes: number, first = ''): string =>
  Buffer.from(first + unit.repeat((bytes - Buffer.byteLength(first)) / Buffer.byteLength(unit))).toString();

/** A batch of which each call succeeds with the same content. */
function succeeding(n: number, content: unknown): Work {
  const calls = batch(n);
  const closure = new ToolCallClosure();
  return () => {
    const { handle } = closure.begin(calls);
    for (const { id } of calls) closure.succeed(handle, id, content);
  };
}

export const strings = (n: number, content: string): Pair => ({
  ours: succeeding(n, content),
  beside() {
    for (let i = 0; i < n; i += 1) keep(Buffer.byteLength(content));
  },
});

export function objects(n: number, content: object): Pair {
  const calls = batch(n);
  const bare = new Bare();
  return {
    ours: succeeding(n, content),
    beside() {
      bare.begin(calls);
      for (const { id } of calls) bare.succeed(id, JSON.stringify(content));
    },
  };
}

/** A batch of one call that fails with this message. */
export function failing(message: string): Work {
  const calls = batch(1);
  const { id } = calls[0] as { id: string };
  const closure = new ToolCallClosure();
  const error = { message };
  return () => closure.fail(closure.begin(calls).handle, id, error);
}

/** Tools that answer at once, awaited and exported. */
export function tracking(n: number): Pair {
  const calls = batch(n);
  const closure = new ToolCallClosure();
  const tool = async () => 'ok';
  return {
    async ours() {
      const { handle } = closure.begin(calls);
      for (const { id } of calls) void closure.track(handle, id, tool());
      await closure.sealWhenSettled(handle);
      return closure.toOpenAIResponses();
    },
    beside: () => Promise.allSettled(calls.map(tool)),
  };
}
