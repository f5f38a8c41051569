// The operations that all suites share. Each write carries the tag of its operation, so that "whose is this?" always shows.

import type { Fields } from './model.js';
import { observe, type Visit } from './observe.js';

/** `newest`: the last one that `begin` returned; `older`: the one before; `forged`: its number, with a getter. */
type On = { readonly on?: 'newest' | 'older' | 'forged' };

export type Op =
  | { readonly do: 'begin'; readonly ids: readonly string[]; readonly signal?: boolean }
  | ({ readonly do: 'settle'; readonly id: string; readonly status: 'success' | 'error' | 'cancelled' | 'bogus' | 'none' } & On)
  | ({ readonly do: 'succeed' | 'fail' | 'cancel'; readonly id: string } & On)
  | ({ readonly do: 'track'; readonly id: string; readonly value: keyof typeof TRACKED } & On)
  | ({ readonly do: 'close'; readonly reason: 'record' | 'error' | 'none' } & On)
  | ({ readonly do: 'seal' | 'sealWhenSettled' } & On)
  | { readonly do: 'abort' | 'snapshot' | 'payload' };

export const MESSAGE_OF_INJECTED = 'injected';

const text = (name: string, tag: number, see: Visit) =>
  observe(name, { toString: () => (see(`${name}.toString()`), `message ${tag}`) }, see);
const json = (tag: number, see: Visit) =>
  observe('content', { toJSON: () => (see('content.toJSON()'), `content ${tag}`) }, see);
const error = (fields: object, see: Visit) => observe('error', Object.assign(new Error(''), fields), see);
const rejection = (fields: object, see: Visit) => Promise.reject(error(fields, see));

/** What is tracked, by what it comes to. */
const TRACKED = {
  value: json,
  thenable: (tag: number, see: Visit) =>
    observe('value', { then: (resolve: (value: unknown) => void) => (see('value.then()'), resolve(json(tag, see))) }, see),
  nothing: () => Promise.resolve(),
  unstorable: (tag: number, see: Visit) =>
    observe('content', { toJSON: () => (see('content.toJSON()'), fault(`why ${tag}`)) }, see),
  failed: (tag: number, see: Visit) => rejection({ message: `message ${tag}` }, see),
  aborted: (tag: number, see: Visit) => rejection({ name: 'AbortError', message: `message ${tag}` }, see),
  late: (tag: number, see: Visit) => rejection({ name: 'TimeoutError', message: `message ${tag}` }, see),
};

function fault(message: string): never {
  throw new Error(message);
}

/** The caller's value of an operation: the outcome, content, error, message, tracked value or reason. */
export function given(op: Op, tag: number, see: Visit): unknown {
  const code = `code ${tag}`;
  switch (op.do) {
    case 'settle':
      if (op.status === 'none') return undefined;
      if (op.status === 'success') return observe('outcome', { status: op.status, content: json(tag, see) }, see);
      return op.status === 'error'
        ? observe('outcome', { status: op.status, code, message: text('message', tag, see), sideEffectState: 'completed' }, see)
        : observe('outcome', { status: op.status, message: text('message', tag, see) }, see);
    case 'succeed':
      return json(tag, see);
    case 'fail':
      return error({ errors: observe('errors', [observe('inner', { message: `message ${tag}` }, see)], see) }, see);
    case 'cancel':
      return text('message', tag, see);
    case 'track':
      return TRACKED[op.value](tag, see);
    case 'close':
      if (op.reason === 'none') return undefined;
      return op.reason === 'error' ? error({ name: 'TimeoutError', message: `message ${tag}` }, see) : abortReason(tag, see);
    default:
      return undefined;
  }
}

/** Also what the signal aborts with. */
export const abortReason = (tag: number, see: Visit): object =>
  observe(
    'reason',
    { status: 'error', code: `code ${tag}`, sideEffectState: 'not_started', message: text('message', tag, see) },
    see,
  );

export const codeOf = (op: Op, tag: number): string | undefined => (op.do === 'fail' ? `code ${tag}` : undefined);

const reported = (status: string, code: string, message: string): Fields => ({ status, code, message, provenance: 'reported' });
const success = (content: string): Fields => ({ status: 'success', content, provenance: 'reported' });

/**
 * What that value becomes in the account, `null` if it is refused as no good. `lost` is the point at which reading it
 * threw, for the operations that don't let such a throw out.
 */
export function meant(op: Op, tag: number, lost?: string): Fields | null {
  const code = `code ${tag}`;
  const message = `message ${tag}`;
  const failed = lost === undefined ? message : 'Tool call failed.';
  switch (op.do) {
    case 'settle':
      if (op.status === 'success') return success(`"content ${tag}"`);
      if (op.status === 'error') return { ...reported('error', code, message), sideEffectState: 'completed' };
      return op.status === 'cancelled' ? reported('cancelled', 'cancelled', message) : null;
    case 'succeed':
      return success(`"content ${tag}"`);
    case 'fail':
      return reported('error', code, failed);
    case 'cancel':
      return reported('cancelled', 'cancelled', lost === undefined ? message : 'Tool call was cancelled.');
    case 'track':
      return arrived(op.value, tag, lost);
    case 'close':
      if (op.reason === 'record') return meantAbort(tag);
      return op.reason === 'error'
        ? { status: 'cancelled', code: 'timeout', message, sideEffectState: 'unknown' }
        : { status: 'cancelled', code: 'cancelled', message: 'Tool call was cancelled.', sideEffectState: 'unknown' };
    default:
      return null;
  }
}

function arrived(value: keyof typeof TRACKED, tag: number, lost?: string): Fields {
  const message = `message ${tag}`;
  const unkept = (why: string): Fields => ({
    ...reported('error', 'invalid_result', `The tool completed, but its result was not kept: ${why}`),
    sideEffectState: 'completed',
  });
  if (lost?.includes('.then')) return reported('error', 'tool_error', MESSAGE_OF_INJECTED);
  switch (value) {
    case 'nothing':
      return success('null');
    case 'unstorable':
      return unkept(lost === undefined ? `why ${tag}` : MESSAGE_OF_INJECTED);
    case 'value':
    case 'thenable':
      return lost === undefined || lost === 'handle.generation' ? success(`"content ${tag}"`) : unkept(MESSAGE_OF_INJECTED);
    default: {
      const kept = lost === 'error.message' ? (value === 'aborted' ? 'Tool call was cancelled.' : 'Tool call failed.') : message;
      if (lost === 'error.name' || value === 'failed') {
        return reported('error', 'tool_error', kept);
      }
      return value === 'aborted' ? reported('cancelled', 'aborted', kept) : reported('error', 'timeout', kept);
    }
  }
}

/** The close reason that the signal's reason is. */
export function meantAbort(tag: number, lost?: string): Fields {
  if (lost === 'signal.reason') {
    return { status: 'cancelled', code: 'aborted', message: 'Tool call was cancelled.', sideEffectState: 'unknown' };
  }
  const status = lost === 'reason.status' ? 'cancelled' : 'error';
  const unread = lost === 'reason.message' || lost?.startsWith('message.');
  return {
    status,
    code: lost === 'reason.code' ? 'aborted' : `code ${tag}`,
    message: unread ? (status === 'error' ? 'Tool call did not complete.' : 'Tool call was cancelled.') : `message ${tag}`,
    sideEffectState: lost === 'reason.sideEffectState' ? 'unknown' : 'not_started',
  };
}

/** What `observedStatus` says of it. */
export function observedStatus(op: Op, tag: number, lost?: string): string | null {
  switch (op.do) {
    case 'settle':
      return op.status === 'bogus' ? 'invalid' : op.status === 'none' ? null : op.status;
    case 'succeed':
      return 'success';
    case 'fail':
      return 'error';
    case 'cancel':
      return 'cancelled';
    case 'track': {
      // A result that can't be stored was a success all the same.
      const { status, code } = arrived(op.value, tag, lost);
      return code === 'invalid_result' ? 'success' : (status as string);
    }
    default:
      return null;
  }
}

const AB = ['a', 'b'];

/** From these the base states are made: two calls, at most two batches. */
export const STEPS: readonly Op[] = [
  { do: 'begin', ids: AB },
  { do: 'begin', ids: AB, signal: true },
  { do: 'succeed', id: 'a' },
  { do: 'succeed', id: 'b' },
  { do: 'close', reason: 'record' },
  { do: 'seal' },
  { do: 'sealWhenSettled' },
  { do: 'abort' },
];

/** One operation for each thing that can happen to an account meanwhile. */
export const NESTED: readonly Op[] = [
  { do: 'begin', ids: AB },
  { do: 'begin', ids: ['b'], signal: true },
  { do: 'begin', ids: [] },
  { do: 'settle', id: 'a', status: 'success' },
  { do: 'settle', id: 'b', status: 'error' },
  { do: 'settle', id: 'z', status: 'success' },
  { do: 'settle', id: 'a', status: 'bogus' },
  { do: 'fail', id: 'a', on: 'forged' },
  { do: 'cancel', id: 'b', on: 'older' },
  { do: 'close', reason: 'record' },
  { do: 'close', reason: 'none', on: 'forged' },
  { do: 'seal' },
  { do: 'seal', on: 'forged' },
  { do: 'sealWhenSettled' },
  { do: 'abort' },
  { do: 'snapshot' },
  { do: 'payload' },
];

/** Those, and the ones that differ only in what they read. */
export const OPS: readonly Op[] = [
  ...NESTED,
  { do: 'begin', ids: AB, signal: true },
  { do: 'begin', ids: ['a', 'a'] },
  { do: 'settle', id: 'a', status: 'cancelled' },
  { do: 'settle', id: 'a', status: 'none' },
  { do: 'settle', id: 'a', status: 'error', on: 'forged' },
  { do: 'succeed', id: 'b' },
  { do: 'succeed', id: 'a', on: 'older' },
  { do: 'fail', id: 'a' },
  { do: 'cancel', id: 'b' },
  { do: 'close', reason: 'error' },
  { do: 'close', reason: 'none' },
  { do: 'close', reason: 'record', on: 'older' },
  { do: 'sealWhenSettled', on: 'forged' },
];

/** What settles later. As an outer operation its points are the reads before and at the arrival. */
export const TRACKS: readonly Op[] = [
  ...(Object.keys(TRACKED) as (keyof typeof TRACKED)[]).map((value): Op => ({ do: 'track', id: 'a', value })),
  { do: 'track', id: 'b', value: 'value', on: 'forged' },
];
