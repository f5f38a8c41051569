import type { AbortSignalLike } from 'tool-call-closure';

type Listener = () => void;

/** What a test does inside a member of the signal; what it returns is what the closure reads. */
export interface SignalHooks {
  aborted?: () => unknown;
  reason?: () => unknown;
  add?: (listener: Listener) => void;
  remove?: (listener: Listener) => void;
}

/** An abort signal that writes down every access and keeps its listeners in the open. */
export function fakeSignal(hooks: SignalHooks = {}) {
  const log: string[] = [];
  const listeners: Listener[] = [];
  /** Every listener that was ever added, in order; still callable after its removal. */
  const added: Listener[] = [];
  let aborted = false;
  let reason: unknown;

  function addEventListener(this: unknown, ...args: [string, Listener]) {
    log.push(`add ${args[0]}, ${args.length} arguments${this === signal ? '' : ', wrong this'}`);
    listeners.push(args[1]);
    added.push(args[1]);
    hooks.add?.(args[1]);
  }
  function removeEventListener(this: unknown, ...args: [string, Listener]) {
    log.push(`remove ${args[0]}, ${args.length} arguments${this === signal ? '' : ', wrong this'}`);
    const at = listeners.indexOf(args[1]);
    if (at !== -1) listeners.splice(at, 1);
    hooks.remove?.(args[1]);
  }
  const signal = {
    get addEventListener() {
      log.push('addEventListener');
      return addEventListener;
    },
    get removeEventListener() {
      log.push('removeEventListener');
      return removeEventListener;
    },
    get aborted() {
      log.push('aborted');
      return (hooks.aborted === undefined ? aborted : hooks.aborted()) as boolean;
    },
    get reason() {
      log.push('reason');
      return hooks.reason === undefined ? reason : hooks.reason();
    },
  } satisfies AbortSignalLike;

  return {
    signal: signal as AbortSignalLike,
    log,
    listeners,
    added,
    abort(why?: unknown) {
      aborted = true;
      reason = why;
      for (const listener of [...listeners]) listener();
    },
    /** Calls of `removeEventListener` so far. */
    removals: () => log.filter((entry) => entry.startsWith('remove abort')).length,
  };
}

export type FakeSignal = ReturnType<typeof fakeSignal>;
