import { exceeds, truncate, wellFormed } from './text.js';
import type {
  OutcomeStatus,
  PendingCall,
  ReportedFailure,
  ReportedSettlement,
  SideEffectState,
  SuccessSettlement,
  UnfinishedReason,
} from './types.js';

// Caller values -> detached records. Everything a caller's getter, trap, toJSON, toString, thenable or signal can run, it
// runs from this file; nothing here knows the closure. Each property is read once, and checked before the next is read.

export type Limits = Readonly<Record<keyof typeof DEFAULTS, number>>;

/** In the order in which they are read. */
const DEFAULTS = {
  maxCalls: 1000,
  maxDiagnostics: 100,
  maxResultBytes: 1_048_576,
  maxMessageBytes: 4096,
  maxIdBytes: 512,
  maxNameBytes: 512,
  maxCodeBytes: 128,
};

const NOTHING = '; nothing was registered';

const FAILED = 'Tool call failed.';
const CANCELLED = 'Tool call was cancelled.';
const INCOMPLETE = 'Tool call did not complete.';

type Properties = Readonly<Record<PropertyKey, unknown>>;

const isAbsent = (value: unknown): value is null | undefined => value === undefined || value === null;

const isObject = (value: unknown): value is Properties => typeof value === 'object' && value !== null;

const isRecord = (value: unknown): value is Properties => isObject(value) && !Array.isArray(value);

function totally<Value>(read: () => Value, fallback: Value): Value {
  try {
    return read();
  } catch {
    return fallback;
  }
}

export function limits(options: unknown): Limits {
  if (options !== undefined && !isRecord(options)) throw new TypeError('options must be an object');
  const read: Record<string, number> = {};
  for (const [name, initial] of Object.entries(DEFAULTS)) {
    const value = options?.[name] ?? initial;
    if (!Number.isSafeInteger(value) || (value as number) < 1) {
      throw new TypeError(`options.${name} must be a safe integer of at least 1`);
    }
    read[name] = value as number;
  }
  return read as Limits;
}

type LabelLimit = 'maxIdBytes' | 'maxNameBytes' | 'maxCodeBytes';

/** The label itself. `index` says that it belongs to `calls[index]` of a batch. */
function label(value: unknown, field: string, limit: number, option: LabelLimit, index?: number): string {
  let fault = '';
  if (typeof value !== 'string') fault = 'must be a string';
  else if (!value.trim()) fault = 'must not be blank';
  else if (wellFormed(value) !== value) fault = 'must be well-formed Unicode';
  else if (!exceeds(value, limit)) return value;
  const path = index === undefined ? field : `calls[${index}].${field}`;
  const end = index === undefined ? '' : NOTHING;
  if (fault) throw new TypeError(`${path} ${fault}${end}`);
  throw new RangeError(`${path} is longer than ${option}, ${limit} bytes${end}`);
}

export const callId = (value: unknown, limits: Limits): string => label(value, 'callId', limits.maxIdBytes, 'maxIdBytes');

const codeLabel = (value: unknown, field: string, limits: Limits): string =>
  label(value, field, limits.maxCodeBytes, 'maxCodeBytes');

export interface Announced {
  readonly calls: PendingCall[];
  readonly index: ReadonlyMap<string, number>;
}

export function announced(calls: unknown, limits: Limits): Announced {
  if (!Array.isArray(calls)) throw new TypeError(`calls must be an array${NOTHING}`);
  const length: unknown = calls.length;
  if (!Number.isSafeInteger(length) || (length as number) < 0) {
    throw new TypeError(`calls.length must be a safe integer of at least 0${NOTHING}`);
  }
  if ((length as number) > limits.maxCalls) {
    throw new RangeError(`calls holds ${length} calls, more than maxCalls, ${limits.maxCalls}${NOTHING}`);
  }
  const pending: PendingCall[] = [];
  const index = new Map<string, number>();
  for (let i = 0; i < (length as number); i += 1) {
    const call: unknown = calls[i];
    if (!isRecord(call)) throw new TypeError(`calls[${i}] must be an object${NOTHING}`);
    const id = label(call.id, 'id', limits.maxIdBytes, 'maxIdBytes', i);
    const earlier = index.get(id);
    if (earlier !== undefined) {
      throw new TypeError(`calls[${earlier}].id and calls[${i}].id are both ${JSON.stringify(id)}${NOTHING}`);
    }
    const name = label(call.name, 'name', limits.maxNameBytes, 'maxNameBytes', i);
    index.set(id, i);
    pending.push({ id, name, state: 'pending', settlement: null });
  }
  return { calls: pending, index };
}

/** The generation that a handle claims; recognising it is the closure's affair. */
export function claim(handle: unknown): number | null {
  const generation: unknown = (handle as Properties | null | undefined)?.generation;
  return Number.isSafeInteger(generation) && (generation as number) > 0 ? (generation as number) : null;
}

export const totalClaim = (handle: unknown): number | null => totally(() => claim(handle), null);

export const outcomeStatus = (outcome: unknown): unknown => (outcome as Properties | null | undefined)?.status;

const isStatus = (value: unknown): value is OutcomeStatus =>
  value === 'success' || value === 'error' || value === 'cancelled';

export function observed(status: unknown): OutcomeStatus | 'invalid' | null {
  if (isAbsent(status)) return null;
  return isStatus(status) ? status : 'invalid';
}

function oneOf<Value extends string>(value: unknown, path: string, allowed: readonly Value[], absent: Value): Value;
function oneOf<Value extends string>(value: unknown, path: string, allowed: readonly Value[]): Value | undefined;
function oneOf<Value extends string>(value: unknown, path: string, allowed: readonly Value[], absent?: Value) {
  if (isAbsent(value)) return absent;
  if (!allowed.includes(value as Value)) throw new TypeError(`${path} must be ${allowed.join(' or ')}`);
  return value as Value;
}

function messageText(value: unknown, absent: string, limits: Limits): string {
  if (isAbsent(value)) return absent;
  if (isObject(value)) {
    const { message } = value;
    if (typeof message === 'string') return message || innerMessages(value.errors, limits) || textOf(value, 'name') || absent;
  }
  return String(value);
}

function innerMessages(errors: unknown, limits: Limits): string {
  if (!Array.isArray(errors)) return '';
  const messages: string[] = [];
  for (let i = 0; i < 3; i += 1) {
    const message = textOf(errors[i], 'message');
    // Joining would copy a huge message whole; no more than this of it can be kept.
    if (message) messages.push(message.slice(0, limits.maxMessageBytes + 1));
  }
  return messages.join('; ');
}

/** The property of an object if that is a string, else `''`. */
function textOf(value: unknown, property: string): string {
  const text = isObject(value) ? value[property] : '';
  return typeof text === 'string' ? text : '';
}

const message = (value: unknown, absent: string, limits: Limits): string =>
  truncate(messageText(value, absent, limits), limits.maxMessageBytes);

const totalMessage = (value: unknown, absent: string, limits: Limits): string =>
  totally(() => message(value, absent, limits), truncate(absent, limits.maxMessageBytes));

function success(content: string): SuccessSettlement {
  return Object.freeze({ status: 'success', content, provenance: 'reported' });
}

function failure<Status extends 'error' | 'cancelled'>(
  status: Status,
  code: string,
  message: string,
  sideEffectState?: SideEffectState,
): ReportedFailure<Status> {
  return Object.freeze(
    sideEffectState === undefined
      ? { status, code, message, provenance: 'reported' }
      : { status, code, message, provenance: 'reported', sideEffectState },
  );
}

function storedText(value: unknown, limits: Limits): string {
  const text: unknown = typeof value === 'string' ? value : JSON.stringify(value);
  if (typeof text !== 'string') throw new TypeError('content has no JSON text');
  if (exceeds(text, limits.maxResultBytes)) {
    throw new RangeError(`content is longer than maxResultBytes, ${limits.maxResultBytes} bytes`);
  }
  // JSON.stringify escapes lone surrogates itself, and a search would cost as much as it did.
  return text === value ? wellFormed(text) : text;
}

/** For `succeed`, and for `settle` with a success. */
export function succeeded(content: unknown, limits: Limits): SuccessSettlement {
  const then = isObject(content) || typeof content === 'function' ? (content as Properties).then : undefined;
  if (typeof then === 'function') throw new TypeError('content is a promise or thenable; is an await missing?');
  return success(storedText(content, limits));
}

/** For `settle`; `status` is what was read of the outcome before the gate. */
export function reported(outcome: unknown, status: unknown, limits: Limits): ReportedSettlement {
  if (!isRecord(outcome)) throw new TypeError('outcome must be an object');
  if (!isStatus(status)) throw new TypeError('outcome.status must be success or error or cancelled');
  if (status === 'success') return succeeded(outcome.content, limits);
  const { code } = outcome;
  const kept = isAbsent(code) ? status : codeLabel(code, 'outcome.code', limits);
  const text = message(outcome.message, status === 'error' ? FAILED : CANCELLED, limits);
  const states = ['unknown', 'not_started', 'completed'] as const;
  return failure(status, kept, text, oneOf(outcome.sideEffectState, 'outcome.sideEffectState', states));
}

const givenCode = (code: unknown, absent: string, limits: Limits): string =>
  typeof code === 'string' ? codeLabel(code, 'code', limits) : absent;

const failedWith = (code: string, error: unknown, limits: Limits) =>
  failure('error', code, totalMessage(error, FAILED, limits));

const cancelledWith = (code: string, value: unknown, limits: Limits) =>
  failure('cancelled', code, totalMessage(value, CANCELLED, limits));

/** For `fail`, which runs in catch blocks: no value makes it throw. */
export const failed = (error: unknown, code: unknown, limits: Limits): ReportedSettlement =>
  failedWith(givenCode(code, 'tool_error', limits), error, limits);

/** For `cancel`, of which the same holds. */
export const cancelled = (value: unknown, code: unknown, limits: Limits): ReportedSettlement =>
  cancelledWith(givenCode(code, 'cancelled', limits), value, limits);

function isError(value: unknown): boolean {
  if (!isObject(value)) return false;
  if (value instanceof Error) return true;
  const tag = Object.prototype.toString.call(value);
  return tag === '[object Error]' || tag === '[object DOMException]';
}

/**
 * For `close`. With `total`, for the reason of an aborted signal: a part that is no good falls back to its default, a value
 * of any other kind is message text, and the default code is `aborted`.
 */
export function closeReason(reason: unknown, limits: Limits, total = false): UnfinishedReason {
  const part: typeof totally = total ? totally : (read) => read();
  const error = part(() => isError(reason), false);
  const record = !error && part(() => isRecord(reason), false);
  const fields = reason as Properties;
  let status: 'error' | 'cancelled' = 'cancelled';
  let code: string | undefined;
  let sideEffectState: 'unknown' | 'not_started' = 'unknown';
  if (error) {
    code = part(() => {
      const { code } = fields;
      return totally(() => codeLabel(code, 'code', limits), undefined);
    }, undefined);
  } else if (record) {
    status = part(() => oneOf(fields.status, 'reason.status', ['error', 'cancelled'], status), status);
    code = part(() => {
      const { code } = fields;
      return isAbsent(code) ? undefined : codeLabel(code, 'reason.code', limits);
    }, undefined);
    sideEffectState = part(
      () => oneOf(fields.sideEffectState, 'reason.sideEffectState', ['unknown', 'not_started'], sideEffectState),
      sideEffectState,
    );
  } else if (!total && !isAbsent(reason) && typeof reason !== 'string') {
    throw new TypeError('reason must be a string, an Error or an object');
  }
  const name = error || (total && !isAbsent(reason)) ? part(() => fields.name, undefined) : undefined;
  const text = record ? part(() => fields.message, undefined) : reason;
  code ??= name === 'TimeoutError' ? 'timeout' : total || name === 'AbortError' ? 'aborted' : status;
  return Object.freeze({
    status,
    code,
    message: (total ? totalMessage : message)(text, status === 'error' ? INCOMPLETE : CANCELLED, limits),
    sideEffectState,
  });
}

/** The close reason of a batch that a newer one replaces. */
export const superseded = (limits: Limits): UnfinishedReason =>
  Object.freeze({
    status: 'cancelled',
    code: 'superseded',
    message: truncate('Tool call was superseded by a newer generation.', limits.maxMessageBytes),
    sideEffectState: 'unknown',
  });

/** What a tracked value came to. Names are read here, before the gate, because a refusal records the status. */
export interface Arrival {
  readonly status: OutcomeStatus;
  settlement(limits: Limits): ReportedSettlement;
}

/** Adopts a promise, thenable or plain value as `await` would. The promise never rejects. */
export function arrival(value: unknown): Promise<Arrival> {
  return new Promise((resolve) => resolve(value)).then(fulfilled, rejected);
}

const fulfilled = (value: unknown): Arrival => ({
  status: 'success',
  settlement(limits) {
    try {
      return success(storedText(value === undefined ? null : value, limits));
    } catch (error) {
      const why = totalMessage(error, 'content has no JSON text', limits);
      const text = truncate(`The tool completed, but its result was not kept: ${why}`, limits.maxMessageBytes);
      return failure('error', 'invalid_result', text, 'completed');
    }
  },
});

const rejected = (reason: unknown): Arrival => {
  const name = totally(() => (reason as Properties).name, undefined);
  return name === 'AbortError'
    ? { status: 'cancelled', settlement: (limits) => cancelledWith('aborted', reason, limits) }
    : { status: 'error', settlement: (limits) => failedWith(name === 'TimeoutError' ? 'timeout' : 'tool_error', reason, limits) };
};

/** The abort signal of one batch, with its methods read once. Only `reason` is read later. */
export interface Watch {
  /** Whether the signal had aborted, or called the listener, before the batch was registered. */
  readonly aborted: boolean;
  /** The signal's reason as a close reason. Never throws. */
  reason(): UnfinishedReason;
  /** Removes the listener. Never throws. */
  stop(): void;
}

export function watch(options: unknown, limits: Limits, listener: () => void): Watch | null {
  if (isAbsent(options)) return null;
  if (!isRecord(options)) throw new TypeError(`options must be an object${NOTHING}`);
  const { signal } = options;
  if (isAbsent(signal)) return null;
  const fault = () => new TypeError(`options.signal must be an AbortSignal${NOTHING}`);
  if (!isObject(signal)) throw fault();
  const { addEventListener: add } = signal;
  if (typeof add !== 'function') throw fault();
  const { removeEventListener: remove } = signal;
  if (typeof remove !== 'function') throw fault();
  let fired = false;
  const onAbort = () => {
    fired = true;
    listener();
  };
  const stop = () => totally(() => void Reflect.apply(remove, signal, ['abort', onAbort]), undefined);
  try {
    Reflect.apply(add, signal, ['abort', onAbort]);
    const { aborted } = signal;
    if (typeof aborted !== 'boolean') throw fault();
    return {
      aborted: aborted || fired,
      reason() {
        const reason = totally(() => signal.reason, undefined);
        return closeReason(reason, limits, true);
      },
      stop,
    };
  } catch (error) {
    stop();
    throw error;
  }
}
