// One look at everything the library does, with nothing but ECMAScript 2022 and the Encoding API: no timer, no host object,
// no real signal. Every observation goes into one digest, so two runtimes that differ anywhere differ in it.
// Texts of engine errors are left out: engines word them as they like.

const CHARACTERS = ['a', 'é', '€', '\u{1F600}', '\uD83D', '\uDE00', '\uFEFF'];

/** Runs all of it over one build. */
export async function smoke({ ToolCallClosure, createToolCallClosure, default: both }) {
  const { see, digest, count } = recorder();
  const attempt = (label, run) => see(label, outcomeOf(run));
  const calls = (...ids) => ids.map((id) => ({ id, name: `tool ${id}` }));
  const settled = (closure, handle) => closure.seal(handle).calls.map(({ settlement }) => settlement);

  // Construction.
  see('exports', [both.ToolCallClosure === ToolCallClosure, both.createToolCallClosure === createToolCallClosure]);
  see('fresh', state(createToolCallClosure()));
  for (const options of [null, 1, 'x', [], () => 1, { maxCalls: 0 }, { maxIdBytes: 1.5 }, { maxCodeBytes: '3' }]) {
    attempt('options', () => createToolCallClosure(options));
  }
  see('defaults', state(createToolCallClosure({ maxCalls: null, maxDiagnostics: undefined })));
  class Sub extends ToolCallClosure {
    seen = 0;
    snapshot() {
      this.seen += 1;
      return super.snapshot();
    }
  }
  const sub = new Sub();
  sub.begin([]);
  see('subclass', [sub instanceof ToolCallClosure, sub.seen, Object.keys(sub), sub.snapshot(), sub.seen]);

  // begin.
  const closure = createToolCallClosure({ maxCalls: 4, maxDiagnostics: 3, maxIdBytes: 8, maxNameBytes: 8, maxCodeBytes: 8 });
  const wrong = [
    undefined,
    {},
    'calls',
    calls('1', '2', '3', '4', '5'),
    [1],
    [[]],
    [,],
    [{ id: 1, name: 'n' }],
    [{ id: ' \t\n\u2003', name: 'n' }],
    [{ id: '\uD83D', name: 'n' }],
    [{ id: '\uDE00\uD83D', name: 'n' }],
    [{ id: '123456789', name: 'n' }],
    [{ id: '€€€', name: 'n' }],
    [{ id: 'a', name: '' }],
    [{ id: 'a', name: 'n' }, { id: 'a', name: 'm' }],
    [{ id: 'a', name: '\u{1F600}\u{1F600}!' }],
  ];
  for (const each of wrong) attempt('begin', () => closure.begin(each));
  const fits = closure.begin([{ id: '\u{1F600}€a', name: ' \u{1F600}é ' }]);
  see('labels', [fits, closure.snapshot()]);

  // Settling, and every refusal.
  const first = closure.begin(calls('a', 'b', 'c', 'd'));
  see('superseded', first);
  see('results', [
    closure.settle(first.handle, 'a', { status: 'success', content: { n: [1, null, 'é\uD83D'] } }),
    closure.succeed(first.handle, 'a', 'again'),
    closure.fail(first.handle, 'b', new RangeError('broken')),
    closure.cancel(first.handle, 'nobody'),
    closure.seal(first.handle),
    closure.seal(fits.handle),
    closure.close({ generation: 7 }),
    closure.settle(first.handle, 'c', { status: 'cancelled', code: 'denied', message: 5, sideEffectState: 'not_started' }),
    closure.settle(fits.handle, 'c', { status: 'done' }),
    closure.close(first.handle, { status: 'error', code: 'limit', message: 'no more', sideEffectState: 'not_started' }),
    closure.close(first.handle, 'ignored'),
    closure.fail(first.handle, 'd', 'late'),
  ]);
  see('state', [state(closure), closure.snapshot() === closure.snapshot(), deeplyFrozen(closure.snapshot())]);
  see('payloads', [
    closure.toOpenAIChatCompletions(),
    closure.toOpenAIResponses(),
    closure.toAnthropicToolResults(),
    closure.toOpenAIResponses(first.superseded),
  ]);
  for (const forged of [null, {}, { ...closure.snapshot() }, sub.snapshot(), fits]) {
    attempt('forged', () => closure.toOpenAIResponses(forged));
  }
  const open = closure.begin(calls('x'));
  attempt('open', () => closure.toAnthropicToolResults());
  attempt('blank id', () => closure.succeed(open.handle, ' ', 1));
  const outcomes = [
    undefined,
    null,
    'success',
    [],
    { status: 'ok' },
    { status: 'success' },
    { status: 'success', content: () => 1 },
    { status: 'success', content: Symbol('s') },
    { status: 'success', content: Promise.resolve(1) },
    { status: 'success', content: { then() {} } },
    { status: 'error', code: 7 },
    { status: 'error', code: 'too long a code' },
    { status: 'error', sideEffectState: 'maybe' },
  ];
  for (const each of outcomes) attempt('outcome', () => closure.settle(open.handle, 'x', each));
  const cycle = {};
  cycle.self = cycle;
  for (const content of [cycle, 1n, { toJSON: () => 1n }]) {
    see('engine errors', outcomeOf(() => closure.succeed(open.handle, 'x', content)).error);
  }
  see('still pending', closure.snapshot());

  // Message texts.
  const nameless = Object.assign(new Error(''), { name: '' });
  const texts = [
    undefined,
    null,
    '',
    'text',
    7,
    -0,
    1n,
    true,
    Symbol('s'),
    {},
    [],
    [1, [2]],
    Object.create(null),
    new Error('plain'),
    new TypeError(''),
    nameless,
    new AggregateError([new Error('one'), new Error(''), { message: 'three' }, new Error('four')], ''),
    { message: '', errors: 'none', name: 'Odd' },
    { message: 5 },
    { get message() { throw new Error('no'); } },
    { toString: () => 'own text' },
    'tail \uD83D',
    '\uFEFFmark',
  ];
  const messages = createToolCallClosure();
  const ids = texts.map((_, i) => String(i));
  for (const report of ['fail', 'cancel']) {
    const { handle } = messages.begin(calls(...ids));
    texts.forEach((text, i) => see(report, messages[report](handle, ids[i], text, i % 2 === 0 ? undefined : 'given')));
    see('all', settled(messages, handle));
  }

  // Close reasons.
  const reasons = [
    ...texts,
    Object.assign(new Error('coded'), { code: 'E_CODE' }),
    Object.assign(new Error('numbered'), { code: 404, status: 404 }),
    Object.assign(new Error('slow'), { name: 'TimeoutError' }),
    Object.assign(new Error('stop'), { name: 'AbortError' }),
    { [Symbol.toStringTag]: 'DOMException', name: 'AbortError', message: 'elsewhere' },
    { status: 'error' },
    { status: 'success' },
    { code: '' },
    { sideEffectState: 'completed' },
    { code: null, message: null, sideEffectState: null, status: null },
  ];
  for (const reason of reasons) {
    const { handle } = messages.begin(calls('a', 'b'));
    messages.succeed(handle, 'a', 1);
    attempt('close', () => messages.close(handle, reason));
    see('signal', aborted(createToolCallClosure(), reason));
  }

  // Truncation, against a program that knows nothing of bytes buffers: all texts of up to four characters.
  const all = wordsOf(CHARACTERS, 4);
  for (let limit = 1; limit <= 8; limit += 1) {
    const small = createToolCallClosure({ maxCalls: all.length, maxMessageBytes: limit });
    const { handle } = small.begin(calls(...all.map((_, i) => String(i))));
    all.forEach((text, i) => {
      const { message } = small.cancel(handle, String(i), text).settlement;
      if (message !== truncated(text, limit)) throw new Error(`${JSON.stringify(text)} within ${limit}: ${message}`);
      see('cut', message);
    });
  }
  for (const limit of [16_383, 16_384, 16_385, 49_152]) {
    for (const character of CHARACTERS) {
      const text = character.repeat(limit);
      const small = createToolCallClosure({ maxMessageBytes: limit });
      const { handle } = small.begin(calls('a'));
      const { message } = small.cancel(handle, 'a', text).settlement;
      if (message !== truncated(text, limit)) throw new Error(`${JSON.stringify(character)} repeated, within ${limit}`);
      see('long cut', [message.length, message.slice(0, 3), message.slice(-5)]);
    }
  }

  // Results at their limit.
  for (const character of CHARACTERS) {
    const text = character.repeat(20_000);
    const bytes = bytesOf(text);
    for (const maxResultBytes of [bytes - 1, bytes]) {
      const exact = createToolCallClosure({ maxResultBytes });
      const { handle } = exact.begin(calls('a'));
      const result = outcomeOf(() => exact.succeed(handle, 'a', text));
      if ((result.error === undefined) !== (maxResultBytes === bytes)) throw new Error(`${maxResultBytes} of ${bytes} bytes`);
      see('limit', result.error ?? [result.value.settlement.content.length, result.value.settlement.content.slice(-3)]);
    }
  }

  // Caller code that calls back.
  const nested = createToolCallClosure();
  const outer = nested.begin(calls('a', 'b'));
  see('nested', [
    nested.succeed(outer.handle, 'a', { toJSON: () => nested.fail(outer.handle, 'a', 'inner first').accepted }),
    nested.succeed(outer.handle, 'b', { toJSON: () => (nested.close(outer.handle, 'closed inside'), 1) }),
    nested.snapshot(),
  ]);
  attempt('begin inside begin', () =>
    nested.begin([{ get id() { return nested.begin([]).generation, 'a'; }, name: 'n' }]),
  );
  see('after', state(nested));

  // Signals.
  const watched = createToolCallClosure();
  const signal = fakeSignal();
  const one = watched.begin(calls('a', 'b'), { signal });
  watched.succeed(one.handle, 'a', 1);
  signal.abort({ code: 'step_limit', message: 'enough', sideEffectState: 'not_started' });
  see('aborted', [watched.snapshot(), signal.listeners.size, watched.succeed(one.handle, 'b', 1)]);
  see('already aborted', [watched.begin(calls('c'), { signal }), watched.snapshot(), signal.listeners.size]);
  const second = fakeSignal();
  const two = watched.begin(calls('d'), { signal: second });
  watched.succeed(two.handle, 'd', 1);
  see('sealed', [second.listeners.size, watched.seal(two.handle), second.listeners.size]);
  second.abort('too late');
  see('not closed twice', watched.snapshot());
  const third = fakeSignal();
  watched.begin(calls('e'), { signal: third });
  see('replaced', [watched.begin([]), third.listeners.size]);
  for (const options of [1, [], () => 1, { signal: 1 }, { signal: {} }, { signal: { ...fakeSignal(), aborted: 1 } }]) {
    attempt('no signal', () => watched.begin([], options));
  }

  // Tracking and the seal that waits.
  const named = (name, message) => Object.assign(new Error(message), { name });
  const values = [
    Promise.resolve({ ok: true }),
    Promise.resolve(undefined),
    Promise.reject(new Error('failed')),
    Promise.reject(named('AbortError', 'aborted')),
    Promise.reject(named('TimeoutError', 'timed out')),
    Promise.reject(undefined),
    { then: (resolve) => resolve('thenable') },
    { then: () => { throw new TypeError('bad thenable'); } },
    { get then() { throw new Error('no then'); } },
    'plain',
    undefined,
  ];
  const unstorable = [cycle, 1n, () => 1, { toJSON() { throw new Error('own text'); } }];
  const tracked = createToolCallClosure();
  const keys = [...values, ...unstorable].map((_, i) => `t${i}`);
  const { handle } = tracked.begin(calls(...keys));
  const waiting = tracked.sealWhenSettled(handle);
  see('one promise', waiting === tracked.sealWhenSettled(handle));
  const arrivals = values.map((value, i) => tracked.track(handle, keys[i], value));
  const lost = unstorable.map((value, i) => tracked.track(handle, keys[values.length + i], Promise.resolve(value)));
  see('tracked', await Promise.all(arrivals));
  for (const { settlement } of await Promise.all(lost)) {
    const { message, ...rest } = settlement;
    see('lost', [rest, message.startsWith('The tool completed, but its result was not kept: ')]);
  }
  const sealed = await waiting;
  see('sealed by the last', [sealed.closed, sealed.closeReason, sealed.calls.length, sealed === tracked.snapshot()]);
  see('late', [await tracked.track(handle, 't0', Promise.reject(new Error('late'))), await tracked.sealWhenSettled(handle)]
    .map((each) => each.accepted ?? each === sealed));
  attempt('track throws', () => tracked.track(handle, '', Promise.reject(new Error('handled all the same'))));

  const hung = tracked.begin(calls('h'), { signal: fakeSignal() });
  const replaced = tracked.sealWhenSettled(hung.handle);
  const newest = tracked.begin([]);
  see('superseded while waiting', [await replaced, (await replaced) === newest.superseded]);
  see('stale', await tracked.sealWhenSettled(hung.handle));
  see('empty', await tracked.sealWhenSettled(newest.handle));
  const deadline = fakeSignal();
  const timed = tracked.begin(calls('slow'), { signal: deadline });
  const ended = tracked.sealWhenSettled(timed.handle);
  deadline.abort(named('TimeoutError', 'out of time'));
  see('deadline', [await ended, tracked.toAnthropicToolResults()]);

  return { digest: digest(), observations: count() };
}

/** Two FNV-1a hashes over the code units of everything seen, in order. */
function recorder() {
  let low = 0x811c9dc5;
  let high = 0x1000193;
  let seen = 0;
  const see = (label, value) => {
    const text = `${label}:${JSON.stringify(value)}\n`;
    for (let i = 0; i < text.length; i += 1) {
      const unit = text.charCodeAt(i);
      low = Math.imul(low ^ unit, 0x01000193);
      high = Math.imul(high ^ (unit + i), 0x01000193);
    }
    seen += 1;
  };
  const hex = (half) => (half >>> 0).toString(16).padStart(8, '0');
  return { see, digest: () => hex(high) + hex(low), count: () => seen };
}

/** What a call gave; of an error its class and, where the text is the library's own, that too. */
function outcomeOf(run) {
  try {
    return { value: run() };
  } catch (error) {
    const kind = error instanceof RangeError ? 'RangeError' : error instanceof TypeError ? 'TypeError' : 'Error';
    const own = /nothing was registered|must |longer than|promise|snapshot|began|called again/.test(error.message);
    return { error: kind, text: own ? error.message : null };
  }
}

const state = (closure) => [closure.activeGeneration, closure.droppedDiagnostics, closure.snapshot()];

function deeplyFrozen(value) {
  if (typeof value !== 'object' || value === null) return true;
  return Object.isFrozen(value) && Object.values(value).every(deeplyFrozen);
}

/** An AbortSignal as far as the library looks at one. */
function fakeSignal() {
  const listeners = new Set();
  return {
    listeners,
    aborted: false,
    reason: undefined,
    addEventListener(type, listener) {
      if (type === 'abort') listeners.add(listener);
    },
    removeEventListener(type, listener) {
      if (type === 'abort') listeners.delete(listener);
    },
    abort(reason) {
      this.aborted = true;
      this.reason = reason;
      for (const listener of [...listeners]) listener();
    },
  };
}

/** The close reason that a signal's reason becomes. */
function aborted(closure, reason) {
  const signal = fakeSignal();
  closure.begin([{ id: 'a', name: 'n' }], { signal });
  signal.abort(reason);
  return closure.snapshot().closeReason;
}

function wordsOf(characters, most) {
  let longest = [''];
  const words = [];
  for (let length = 1; length <= most; length += 1) {
    longest = longest.flatMap((word) => characters.map((character) => word + character));
    words.push(...longest);
  }
  return words;
}

const isSurrogate = (character) => character >= '\uD800' && character <= '\uDFFF' && character.length === 1;

const byteLength = (character) => {
  const point = character.codePointAt(0);
  return point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
};

function bytesOf(text) {
  let bytes = 0;
  for (const character of text) bytes += byteLength(character);
  return bytes;
}

/** The contract's truncation, told character by character. */
function truncated(text, limit) {
  const characters = Array.from(text, (character) => (isSurrogate(character) ? '\uFFFD' : character));
  if (bytesOf(text) <= limit) return characters.join('');
  const dots = limit < 3 ? '' : '...';
  let kept = '';
  let left = limit - dots.length;
  for (const character of characters) {
    left -= byteLength(character);
    if (left < 0) break;
    kept += character;
  }
  return kept + dots;
}
