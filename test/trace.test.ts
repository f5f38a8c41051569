// What each operation reads, in which order, once each. The lists follow the contract; a read too many, too early or a
// second one fails.

import { type BatchHandle, createToolCallClosure, type ToolCallClosure } from 'tool-call-closure';
import { expect, test } from 'vitest';
import { observe, ObservedSignal, type Visit } from './model/observe.js';

interface Stage {
  readonly closure: ToolCallClosure;
  readonly handle: BatchHandle;
  /** Claims the number of `handle`, and is none. */
  readonly forged: BatchHandle;
  /** The same object, each access to it told. */
  readonly seen: <Target extends object>(name: string, target: Target) => never;
  readonly signal: ObservedSignal;
}

type Row = readonly [operate: (stage: Stage) => unknown, reads: readonly string[]];

const bad = (operate: () => unknown) => expect(operate).toThrow();

const CALL = ['call.id', 'call.name'];
const CALLS = ['calls.length', 'calls.0', ...CALL];
const LISTEN = [
  'options.signal',
  'signal.addEventListener',
  'signal.removeEventListener',
  'before signal.addEventListener()',
  'after signal.addEventListener()',
  'signal.aborted',
  'signal.aborted, answered',
];
const REMOVED = 'signal.removeEventListener()';
/** Is it an Error of any realm? */
const KIND = ['prototype of reason', 'reason.Symbol(Symbol.toStringTag)'];
const REASON = [...KIND, 'reason.status', 'reason.code', 'reason.sideEffectState', 'reason.message'];
const REASON_OF_SIGNAL = [...KIND, 'reason.status', 'reason.code', 'reason.sideEffectState', 'reason.name', 'reason.message'];
const TEXT = ['text.message', 'text.Symbol(Symbol.toPrimitive)', 'text.toString'];

const calls = ({ seen }: Stage) => seen('calls', [seen('call', { id: 'x', name: 'n' })]);
const options = ({ seen, signal }: Stage) => seen('options', { signal: signal.signal });
const text = ({ seen }: Stage) => seen('text', { toString: () => 'text' });
const record = ({ seen }: Stage) => seen('reason', { status: 'error', code: 'c', message: 'm' });
const fault = ({ seen }: Stage, fields: object = {}) => seen('reason', Object.assign(new Error('m'), fields));
const outcome = ({ seen }: Stage, fields: object) => seen('outcome', fields);
const begun = (stage: Stage) => stage.closure.begin([{ id: 'x', name: 'n' }], { signal: stage.signal.signal as never });

const ROWS: Record<string, Row> = {
  begin: [(s) => s.closure.begin(calls(s)), CALLS],
  'begin with a signal': [(s) => s.closure.begin(calls(s), options(s)), [...CALLS, ...LISTEN]],
  'begin with an aborted signal': [
    (s) => {
      s.signal.aborted = true;
      s.signal.reason = record(s);
      s.closure.begin(calls(s), options(s));
    },
    [...CALLS, ...LISTEN, 'signal.reason', ...REASON_OF_SIGNAL, REMOVED],
  ],
  'begin, superseding a batch with a signal': [(s) => (begun(s), s.closure.begin([])), [...LISTEN.slice(1), REMOVED]],
  'begin, id no good': [(s) => bad(() => s.closure.begin(s.seen('calls', [s.seen('call', { id: ' ' })]))), CALLS.slice(0, 3)],
  'begin, id twice': [
    (s) => bad(() => s.closure.begin(s.seen('calls', [s.seen('call', { id: 'x', name: 'n' }), s.seen('call', { id: 'x' })]))),
    [...CALLS, 'calls.1', 'call.id'],
  ],
  'begin, too many': [(s) => bad(() => s.closure.begin(s.seen('calls', [1, 2, 3, 4]))), ['calls.length']],
  'begin, signal no good': [
    (s) => bad(() => s.closure.begin(calls(s), s.seen('options', { signal: s.seen('signal', { addEventListener: 1 }) }))),
    [...CALLS, 'options.signal', 'signal.addEventListener'],
  ],
  'begin, aborted no boolean': [
    (s) => {
      s.signal.aborted = 1 as never;
      bad(() => s.closure.begin(calls(s), options(s)));
    },
    [...CALLS, ...LISTEN, REMOVED],
  ],
  'settle with a success': [
    (s) => s.closure.settle(s.handle, 'a', outcome(s, { status: 'success', content: s.seen('content', { toJSON: () => 1 }) })),
    ['outcome.status', 'outcome.content', 'content.then', 'content.toJSON'],
  ],
  'settle with a string': [
    (s) => s.closure.settle(s.handle, 'a', outcome(s, { status: 'success', content: 'text' })),
    ['outcome.status', 'outcome.content'],
  ],
  'settle with an error': [
    (s) => s.closure.settle(s.handle, 'a', outcome(s, { status: 'error', message: text(s) })),
    ['outcome.status', 'outcome.code', 'outcome.message', ...TEXT, 'outcome.sideEffectState'],
  ],
  'settle, content a promise': [
    (s) => bad(() => s.closure.settle(s.handle, 'a', outcome(s, { status: 'success', content: s.seen('content', { then() {} }) }))),
    ['outcome.status', 'outcome.content', 'content.then'],
  ],
  'settle, status no good': [(s) => bad(() => s.closure.settle(s.handle, 'a', outcome(s, {}))), ['outcome.status']],
  'settle, code no good': [
    (s) => bad(() => s.closure.settle(s.handle, 'a', outcome(s, { status: 'error', code: '' }))),
    ['outcome.status', 'outcome.code'],
  ],
  'settle, call id no good': [(s) => bad(() => s.closure.settle(s.forged, ' ', outcome(s, {}))), []],
  'settle, stale': [
    (s) => s.closure.settle(s.forged, 'a', outcome(s, { status: 'error' })),
    ['handle.generation', 'outcome.status'],
  ],
  'settle, unknown call': [(s) => s.closure.settle(s.handle, 'z', outcome(s, { status: 'error' })), ['outcome.status']],
  'settle, twice': [
    (s) => {
      s.closure.succeed(s.handle, 'a', 1);
      s.closure.settle(s.handle, 'a', outcome(s, { status: 'error' }));
    },
    ['outcome.status'],
  ],
  'settle, closed': [
    (s) => (s.closure.close(s.handle), s.closure.settle(s.handle, 'a', outcome(s, { status: 'error' }))),
    ['outcome.status'],
  ],
  succeed: [(s) => s.closure.succeed(s.handle, 'a', s.seen('content', { toJSON: () => 1 })), ['content.then', 'content.toJSON']],
  'succeed, call id no good': [(s) => bad(() => s.closure.succeed(s.forged, ' ', s.seen('content', {}))), []],
  'succeed, stale': [(s) => s.closure.succeed(s.forged, 'a', s.seen('content', {})), ['handle.generation']],
  fail: [(s) => s.closure.fail(s.handle, 'a', fault(s)), ['reason.message']],
  'fail, empty message': [
    (s) => s.closure.fail(s.handle, 'a', fault(s, { message: '', errors: s.seen('errors', [s.seen('inner', new Error('i'))]) })),
    ['reason.message', 'reason.errors', 'errors.0', 'inner.message', 'errors.1', 'errors.2'],
  ],
  'fail, nothing but a name': [
    (s) => s.closure.fail(s.handle, 'a', fault(s, { message: '' })),
    ['reason.message', 'reason.errors', 'reason.name'],
  ],
  'fail, code no good': [(s) => bad(() => s.closure.fail(s.handle, 'a', fault(s), '')), []],
  'fail, call id no good': [(s) => bad(() => s.closure.fail(s.forged, ' ', fault(s))), []],
  'fail, stale': [(s) => s.closure.fail(s.forged, 'a', fault(s)), ['handle.generation']],
  cancel: [(s) => s.closure.cancel(s.handle, 'a', text(s)), TEXT],
  'cancel, call id no good': [(s) => bad(() => s.closure.cancel(s.forged, ' ', text(s))), []],
  'cancel, stale': [(s) => s.closure.cancel(s.forged, 'a', text(s)), ['handle.generation']],
  'close with an object': [(s) => s.closure.close(s.handle, record(s)), REASON],
  'close with an Error': [
    (s) => s.closure.close(s.handle, fault(s)),
    ['prototype of reason', 'reason.code', 'reason.name', 'reason.message'],
  ],
  // The stated exception to once a property: an error without a message is asked for `errors`, then for its name again.
  'close with an Error that has nothing but a name': [
    (s) => s.closure.close(s.handle, fault(s, { message: '' })),
    ['prototype of reason', 'reason.code', 'reason.name', 'reason.message', 'reason.errors', 'reason.name'],
  ],
  'close, status no good': [(s) => bad(() => s.closure.close(s.handle, s.seen('reason', { status: 1 }))), REASON.slice(0, 3)],
  'close, side effects no good': [
    (s) => bad(() => s.closure.close(s.handle, s.seen('reason', { sideEffectState: 'completed' }))),
    REASON.slice(0, 5),
  ],
  'close, stale': [(s) => s.closure.close(s.forged, record(s)), ['handle.generation']],
  'close, closed': [(s) => (s.closure.close(s.handle), s.closure.close(s.handle, record(s))), []],
  'close of a batch with a signal': [(s) => s.closure.close(begun(s).handle), [...LISTEN.slice(1), REMOVED]],
  seal: [(s) => s.closure.seal(s.forged), ['handle.generation']],
  sealWhenSettled: [(s) => s.closure.sealWhenSettled(s.forged), ['handle.generation']],
  abort: [
    (s) => {
      begun(s);
      s.signal.reason = record(s);
      s.signal.fire();
      s.signal.fire();
    },
    [...LISTEN.slice(1), 'signal.reason', ...REASON_OF_SIGNAL, REMOVED],
  ],
  'abort, late': [(s) => (s.closure.close(begun(s).handle), s.signal.fire()), [...LISTEN.slice(1), REMOVED]],
  'track with a value': [
    (s) => s.closure.track(s.handle, 'a', s.seen('value', { toJSON: () => 1 })),
    ['value.then', 'value.toJSON'],
  ],
  'track with a thenable': [
    (s) => s.closure.track(s.handle, 'a', s.seen('value', { then: (end: (value: unknown) => void) => end('text') })),
    ['value.then'],
  ],
  'track with a rejection': [
    (s) => s.closure.track(s.handle, 'a', Promise.reject(fault(s))),
    ['reason.name', 'reason.message'],
  ],
  'track, call id no good': [(s) => bad(() => s.closure.track(s.forged, ' ', s.seen('value', {}))), ['value.then']],
  'track, stale': [
    (s) => s.closure.track(s.forged, 'a', s.seen('value', { toJSON: () => 1 })),
    ['value.then', 'handle.generation'],
  ],
  'track with a rejection, too late': [
    (s) => {
      s.closure.close(s.handle);
      return s.closure.track(s.handle, 'a', Promise.reject(fault(s)));
    },
    ['reason.name'],
  ],
  snapshot: [(s) => s.closure.snapshot(), []],
  adapters: [
    (s) => {
      const snapshot = s.seen('snapshot', s.closure.close(s.handle));
      bad(() => s.closure.toOpenAIChatCompletions(snapshot));
      bad(() => s.closure.toOpenAIResponses(snapshot));
      bad(() => s.closure.toAnthropicToolResults(snapshot));
    },
    [],
  ],
};

test.each(Object.entries(ROWS))('%s', async (_, [operate, reads]) => {
  const read: string[] = [];
  const see: Visit = (point) => void read.push(point);
  const closure = createToolCallClosure({ maxCalls: 3 });
  const { handle } = closure.begin([
    { id: 'a', name: 'n' },
    { id: 'b', name: 'n' },
  ]);
  const seen = <Target extends object>(name: string, target: Target) => observe(name, target, see) as never;
  await operate({ closure, handle, forged: seen('handle', { generation: 1 }), seen, signal: new ObservedSignal(see, see) });
  expect(read).toEqual(reads);
});

test('the constructor', () => {
  const read: string[] = [];
  createToolCallClosure(observe('options', {}, (point) => void read.push(point)));
  const names = ['maxCalls', 'maxDiagnostics', 'maxResultBytes', 'maxMessageBytes', 'maxIdBytes', 'maxNameBytes', 'maxCodeBytes'];
  expect(read).toEqual(names.map((name) => `options.${name}`));

  read.length = 0;
  bad(() => createToolCallClosure(observe('options', { maxDiagnostics: 0 }, (point) => void read.push(point))));
  expect(read).toEqual(['options.maxCalls', 'options.maxDiagnostics']);
});
