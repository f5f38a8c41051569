/** Told of every access, before it is answered. */
export type Visit = (point: string) => void;

/** The same object, seen: each property read, and whatever else is asked of it, is a point where caller code runs. */
export function observe<Target extends object>(name: string, target: Target, visit: Visit): Target {
  return new Proxy(target, {
    get(_, key) {
      visit(`${name}.${String(key)}`);
      return Reflect.get(target, key);
    },
    has: (_, key) => (visit(`${String(key)} in ${name}`), Reflect.has(target, key)),
    ownKeys: () => (visit(`keys of ${name}`), Reflect.ownKeys(target)),
    getOwnPropertyDescriptor(_, key) {
      visit(`descriptor of ${name}.${String(key)}`);
      return Reflect.getOwnPropertyDescriptor(target, key);
    },
    getPrototypeOf: () => (visit(`prototype of ${name}`), Reflect.getPrototypeOf(target)),
  });
}

/**
 * An abort signal with every access seen. Unlike a real one it can abort after it has said that it has not, and it goes on
 * calling listeners that were removed.
 */
export class ObservedSignal {
  reason: unknown;
  aborted = false;
  /** Those that are registered now. */
  readonly listeners = new Set<() => void>();
  readonly #ever = new Set<() => void>();
  readonly signal: object;

  constructor(visit: Visit, removed: Visit) {
    const self = this;
    const target = {
      get aborted() {
        const { aborted } = self;
        visit('signal.aborted, answered');
        return aborted;
      },
      get reason() {
        return self.reason;
      },
      addEventListener(_: string, listener: () => void) {
        visit('before signal.addEventListener()');
        self.listeners.add(listener);
        self.#ever.add(listener);
        visit('after signal.addEventListener()');
      },
      removeEventListener(_: string, listener: () => void) {
        self.listeners.delete(listener);
        removed('signal.removeEventListener()');
      },
    };
    this.signal = observe('signal', target, visit);
  }

  fire(): void {
    for (const listener of [...this.#ever]) listener();
  }
}
