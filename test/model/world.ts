// One closure and one model, driven by plans: an operation, and what runs inside it at which point. Whatever the library
// gives back is compared with what the model gives for the same operations in the order of their last gate.

import { type BatchHandle, createToolCallClosure } from 'tool-call-closure';
import { expect } from 'vitest';
import { abortReason, codeOf, given, meant, meantAbort, MESSAGE_OF_INJECTED, observedStatus, type Op } from './alphabet.js';
import { type Handle, Model, type Waiter } from './model.js';
import { observe, ObservedSignal } from './observe.js';

export interface Plan {
  readonly op: Op;
  /** Operations that run inside this one, each at the access of that index. */
  readonly inside?: readonly (readonly [point: number, plan: Plan])[];
  /** The access that throws. */
  readonly throwsAt?: number | undefined;
  /** Told the points of this operation, and its answer as text, when it is done. */
  readonly told?: (points: readonly string[], answer: string) => void;
}

interface Frame {
  readonly plan: Plan;
  readonly points: string[];
  /** What ran inside, up to the last gate and after it. */
  readonly before: Entry[];
  readonly after: Entry[];
  /** The point that threw, if it was one where something was read. */
  lost: string | undefined;
}

/** One operation as it went: its answer as text, to compare with the model's. */
interface Entry {
  readonly op: Op | { readonly do: 'aborts' };
  readonly tag: number;
  readonly handle: Handle;
  /** The generation at entry. */
  readonly entered: number;
  readonly lost: string | undefined;
  readonly answer: string;
  readonly promise: Promise<unknown> | null;
}

type Loose = Readonly<Record<string, (...args: unknown[]) => unknown>>;

const MAX_DIAGNOSTICS = 3;

export class World {
  static readonly INJECTED = 'throws what was injected';
  readonly closure = createToolCallClosure({ maxDiagnostics: MAX_DIAGNOSTICS });
  readonly model = new Model(MAX_DIAGNOSTICS);
  readonly #handles: BatchHandle[] = [];
  readonly #signal = new ObservedSignal((point) => this.#visit(point), (point) => this.#visit(point, true));
  readonly #frames: Frame[] = [];
  /** Every snapshot seen, by its text: equal ones are the same object, and none may change. */
  readonly #snapshots = new Map<string, object>();
  readonly #waiting = new Map<Waiter, Promise<unknown>>();
  readonly #injected = new Error(MESSAGE_OF_INJECTED);
  /** What is wrong with a snapshot. Kept, because a throw from inside could be swallowed as caller code's. */
  #broken: string | undefined;
  #tag = 0;
  #tagOfReason = 0;

  constructor(path: readonly Op[] = []) {
    for (const op of path) this.#follow(this.#perform(this.#enter({ op })));
  }

  /** Runs a plan, compares, and tells the points of its outer operation. Tracking is for `later`. */
  now(plan: Plan): readonly string[] {
    const frame = this.#enter(plan);
    this.#follow(this.#perform(frame));
    this.#compare();
    return frame.points;
  }

  /** As `now`, up to the arrival of what is tracked. */
  async later(plan: Plan): Promise<readonly string[]> {
    const { op } = plan;
    if (op.do !== 'track') return this.now(plan);
    const frame = this.#enter(plan);
    const handle = this.#handle(op.on);
    const tag = (this.#tag += 1);
    const value = given(op, tag, this.#see);
    const promise = this.#call('track', handle.given, op.id, value) as Promise<unknown>;
    const answer = JSON.stringify(await promise);
    this.#leave();
    plan.told?.(frame.points, answer);
    const entry: Entry = { op, tag, handle: handle.known, entered: 0, lost: frame.lost, answer, promise: null };
    this.#follow([...frame.before, entry, ...frame.after]);
    this.#compare();
    return frame.points;
  }

  /** To be awaited last: what the waiting seals came to. */
  async end(): Promise<void> {
    if (this.#waiting.size === 0) return;
    const came = new Map<Waiter, unknown>();
    for (const [waiter, promise] of this.#waiting) void promise.then((value) => came.set(waiter, value));
    await Promise.resolve();
    for (const waiter of this.#waiting.keys()) {
      const value = came.get(waiter);
      same(JSON.stringify(value), JSON.stringify(waiter.value), 'what the waiting seal came to');
      this.#keep(value);
    }
    same(this.#broken, undefined, 'a snapshot');
  }

  readonly #see = (point: string) => this.#visit(point);

  #visit(point: string, committed = false): void {
    const frame = this.#frames.at(-1);
    if (frame === undefined) return;
    const index = frame.points.push(point) - 1;
    for (const [at, plan] of frame.plan.inside ?? []) {
      if (at === index) (committed ? frame.after : frame.before).push(...this.#perform(this.#enter(plan)));
    }
    if (frame.plan.throwsAt === index) {
      if (!committed) frame.lost = point;
      throw this.#injected;
    }
  }

  #enter(plan: Plan): Frame {
    const frame: Frame = { plan, points: [], before: [], after: [], lost: undefined };
    this.#frames.push(frame);
    return frame;
  }

  #leave(): void {
    this.#frames.pop();
    for (const [text, snapshot] of this.#snapshots) {
      if (JSON.stringify(snapshot) !== text) this.#broken ??= `changed later: ${text}`;
    }
  }

  /** The operation and all that ran inside, in the order of their last gates. */
  #perform(frame: Frame): Entry[] {
    const { op } = frame.plan;
    const tag = (this.#tag += 1);
    const handle = this.#handle('on' in op ? op.on : undefined);
    const entered = this.closure.activeGeneration ?? 0;
    const entry = { op, tag, handle: handle.known, entered };
    let answer: string;
    let promise: Promise<unknown> | null = null;
    try {
      const value = this.#run(op, tag, handle.given, frame);
      if (value instanceof Promise) promise = value;
      answer = promise === null ? String(JSON.stringify(value)) : 'a promise';
    } catch (error) {
      answer = error === this.#injected ? World.INJECTED : `throws ${(error as Error).name}`;
    }
    this.#leave();
    frame.plan.told?.(frame.points, answer);
    return [...frame.before, { ...entry, lost: frame.lost, answer, promise }, ...frame.after];
  }

  #run(op: Op, tag: number, handle: unknown, frame: Frame): unknown {
    const value = given(op, tag, this.#see);
    switch (op.do) {
      case 'begin': {
        const calls = op.ids.map((id, i) => observe(`calls[${i}]`, { id, name: `${id} ${tag}` }, this.#see));
        const options = op.signal ? observe('options', { signal: this.#signal.signal }, this.#see) : undefined;
        const result = this.closure.begin(observe('calls', calls, this.#see), options as never);
        this.#handles.push(result.handle);
        this.#keep(result.superseded);
        return result;
      }
      case 'settle':
      case 'succeed':
      case 'fail':
      case 'cancel':
        return this.#call(op.do, handle, op.id, value, codeOf(op, tag));
      case 'close':
      case 'seal': {
        const result = this.#call(op.do, handle, value);
        this.#keep(result);
        return result;
      }
      case 'snapshot': {
        const snapshot = this.closure.snapshot();
        this.#keep(snapshot);
        return snapshot;
      }
      case 'abort':
        if (!this.#signal.aborted) {
          this.#signal.aborted = true;
          this.#signal.reason = abortReason(tag, this.#see);
          frame.before.push({ ...NOTHING, op: { do: 'aborts' }, tag });
          this.#tagOfReason = tag;
        }
        return this.#signal.fire();
      case 'payload':
        return this.closure.toAnthropicToolResults();
      default:
        return this.#call(op.do, handle);
    }
  }

  #call(method: string, ...args: unknown[]): unknown {
    return (this.closure as unknown as Loose)[method]?.call(this.closure, ...args);
  }

  #handle(on: 'newest' | 'older' | 'forged' = 'newest'): { given: unknown; known: Handle } {
    const handle = this.#handles.at(on === 'older' ? -2 : -1);
    const claims = handle?.generation ?? null;
    if (on !== 'forged') return { given: handle, known: { opens: claims ?? 0, claims } };
    return { given: observe('handle', { generation: claims ?? 1 }, this.#see), known: { opens: 0, claims: claims ?? 1 } };
  }

  /** Takes the same steps on the model, and compares answer by answer. */
  #follow(entries: readonly Entry[]): void {
    for (const entry of entries) {
      const told = () => entries.map(({ op, answer }) => `${JSON.stringify(op)} -> ${answer}`).join('\n');
      same(entry.answer, this.#step(entry), told);
    }
  }

  #compare(): void {
    const { model, closure } = this;
    const snapshot = closure.snapshot();
    same(JSON.stringify(snapshot), JSON.stringify(model.view()), 'the snapshot');
    this.#keep(snapshot);
    same(this.#broken, undefined, 'a snapshot');
    same(closure.activeGeneration ?? 0, model.generation, 'the generation');
    same(closure.droppedDiagnostics, model.dropped, 'the dropped diagnostics');
    same(this.#signal.listeners.size, model.listeners, 'the listeners');
  }

  #step({ op, tag, handle, entered, lost, answer, promise }: Entry): string {
    // What let the throw out did nothing; where that may be, `throwing.test.ts` knows.
    if (answer === World.INJECTED) return answer;
    const { model } = this;
    const known = lost === 'handle.generation' ? { opens: handle.opens, claims: null } : handle;
    try {
      switch (op.do) {
        case 'aborts':
          model.abortReason = meantAbort(tag);
          return answer;
        case 'begin': {
          if (new Set(op.ids).size < op.ids.length) throw new TypeError('an id twice');
          const names = new Map(op.ids.map((id) => [id, `${id} ${tag}`]));
          const reason = model.abortReason && meantAbort(this.#tagOfReason, lost);
          return JSON.stringify(model.begin(names, op.signal === true, entered, reason));
        }
        case 'close':
          return JSON.stringify(model.close(known, meant(op, tag) ?? {}));
        case 'seal':
          return JSON.stringify(model.seal(known));
        case 'sealWhenSettled': {
          const waiter = model.sealWhenSettled(known);
          const earlier = this.#waiting.get(waiter);
          if (earlier !== undefined) same(promise, earlier, 'the promise of one batch');
          this.#waiting.set(waiter, promise as Promise<unknown>);
          return 'a promise';
        }
        case 'abort':
          if (model.abortReason !== null) model.abort(meantAbort(this.#tagOfReason, lost));
          return 'undefined';
        case 'snapshot':
          return JSON.stringify(model.view());
        case 'payload':
          return JSON.stringify(model.payload());
        default:
          return JSON.stringify(model.settle(known, op.id, observedStatus(op, tag, lost), meant(op, tag, lost)));
      }
    } catch (error) {
      return `throws ${(error as Error).name}`;
    }
  }

  /** If it is a snapshot. */
  #keep(value: unknown): void {
    const snapshot = value as { accepted?: false } | null | undefined;
    if (snapshot === null || snapshot === undefined || snapshot.accepted === false) return;
    const text = JSON.stringify(snapshot);
    const earlier = this.#snapshots.get(text);
    if (earlier === undefined) {
      if (!isDeeplyFrozen(snapshot)) this.#broken ??= `not deeply frozen: ${text}`;
      this.#snapshots.set(text, snapshot);
    } else if (earlier !== snapshot) {
      this.#broken ??= `another object for the same snapshot: ${text}`;
    }
  }
}

const NOTHING = { handle: { opens: 0, claims: null }, entered: 0, lost: undefined, answer: '', promise: null } as const;

/** A million comparisons are cheaper without an assertion object each. */
function same(actual: unknown, expected: unknown, what: string | (() => string)): void {
  if (actual !== expected) expect(actual, typeof what === 'string' ? what : what()).toBe(expected);
}

function isDeeplyFrozen(value: unknown): boolean {
  return typeof value !== 'object' || value === null || (Object.isFrozen(value) && Object.values(value).every(isDeeplyFrozen));
}
