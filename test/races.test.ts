// Tools that end, an abort and a replacement, with real promises and signals: whatever comes first, each call ends once,
// and each report is answered as the plain machine answers it.

import fc from 'fast-check';
import { createToolCallClosure, type SettlementResult } from 'tool-call-closure';
import { expect, test } from 'vitest';
import { type Fields, type Handle, Model } from './model/model.js';

/** What may happen, once each, in some order. */
type Event = { readonly tool: string } | 'abort' | 'replace' | 'close' | 'wait';

const KINDS = ['success', 'error', 'cancelled'] as const;
const meant = (id: string, kind: (typeof KINDS)[number]): Fields =>
  kind === 'success'
    ? { status: 'success', content: `content ${id}`, provenance: 'reported' }
    : { status: kind, code: kind === 'error' ? 'tool_error' : 'aborted', message: `message ${id}`, provenance: 'reported' };

const kindOf = (tools: readonly string[], id: string) => KINDS[tools.indexOf(id) % KINDS.length] as (typeof KINDS)[number];

/** A batch whose tools end when they are told to, beside the machine that is told the same. */
class Race {
  readonly #closure = createToolCallClosure();
  readonly #model = new Model(100);
  readonly #controller = new AbortController();
  readonly #finish = new Map<string, () => void>();
  readonly #results = new Map<string, SettlementResult>();
  readonly #expected = new Map<string, object>();
  readonly #waits: [promise: Promise<unknown>, came: { value?: unknown }][] = [];
  readonly #handle;
  readonly #known: Handle = { opens: 1, claims: 1 };

  constructor(readonly tools: readonly string[]) {
    const { signal } = this.#controller;
    this.#handle = this.#closure.begin(tools.map((id) => ({ id, name: 'tool' })), { signal }).handle;
    this.#model.begin(new Map(tools.map((id) => [id, 'tool'])), true, 0, null);
    for (const id of tools) {
      const running = new Promise((resolve, reject) => {
        const kind = kindOf(tools, id);
        const fault = Object.assign(new Error(`message ${id}`), kind === 'cancelled' && { name: 'AbortError' });
        this.#finish.set(id, () => (kind === 'success' ? resolve(`content ${id}`) : reject(fault)));
      });
      void this.#closure.track(this.#handle, id, running).then((result) => this.#results.set(id, result));
    }
  }

  async happens(event: Event): Promise<void> {
    const model = this.#model;
    if (event === 'abort') {
      this.#controller.abort({ code: 'stopped', message: 'enough', sideEffectState: 'not_started' });
      model.abort({ status: 'cancelled', code: 'stopped', message: 'enough', sideEffectState: 'not_started' });
    } else if (event === 'replace') {
      const { superseded } = this.#closure.begin([{ id: 'next', name: 'tool' }]);
      const expected = model.begin(new Map([['next', 'tool']]), false, model.generation, null);
      expect(superseded).toEqual((expected as { superseded: unknown }).superseded);
    } else if (event === 'close') {
      const expected = model.close(this.#known, {
        status: 'cancelled',
        code: 'cancelled',
        message: 'limit',
        sideEffectState: 'unknown',
      });
      expect(this.#closure.close(this.#handle, 'limit')).toEqual(expected);
    } else if (event === 'wait') {
      this.#waits.push([this.#closure.sealWhenSettled(this.#handle), model.sealWhenSettled(this.#known)]);
    } else {
      this.#finish.get(event.tool)?.();
      const settlement = meant(event.tool, kindOf(this.tools, event.tool));
      this.#expected.set(event.tool, model.settle(this.#known, event.tool, settlement.status as string, settlement));
      // From the tool's end to its report some promises lie between.
      for (let i = 0; i < 10 && !this.#results.has(event.tool); i += 1) await Promise.resolve();
    }
    expect(this.#closure.snapshot()).toEqual(model.view());
  }

  async end(): Promise<void> {
    expect(Object.fromEntries(this.#results)).toEqual(Object.fromEntries(this.#expected));
    for (const [promise, came] of this.#waits) {
      expect(await Promise.race([promise, Promise.resolve().then(() => undefined)])).toEqual(came.value);
    }
  }
}

function* orders<Item>(items: readonly Item[]): Generator<Item[]> {
  if (items.length === 0) yield [];
  for (const [i, first] of items.entries()) {
    for (const rest of orders(items.toSpliced(i, 1))) yield [first, ...rest];
  }
}

test('up to five events, in all orders', async () => {
  const tools = ['a', 'b', 'c'];
  const events: Event[] = [...tools.map((tool) => ({ tool })), 'abort', 'replace', 'close', 'wait'];
  let count = 0;
  for (let chosen = 0; chosen < 2 ** events.length; chosen += 1) {
    const some = events.filter((_, i) => chosen & (2 ** i));
    if (some.length > 5) continue;
    for (const order of orders(some)) {
      const race = new Race(tools);
      for (const event of order) await race.happens(event);
      await race.end();
      count += 1;
    }
  }
  console.log(`races: ${count} orders`);
  expect(count).toBe(1 + 7 + 42 + 210 + 840 + 2520);
});

test('more tools than that, as a scheduler has it', async () => {
  const property = fc.asyncProperty(fc.scheduler(), fc.integer({ min: 4, max: 9 }), async (scheduler, count) => {
    const tools = Array.from({ length: count }, (_, i) => `call ${i}`);
    const race = new Race(tools);
    const events: Event[] = [...tools.map((tool) => ({ tool })), 'abort', 'replace', 'close', 'wait', 'wait'];
    const all = events.map(async (event) => {
      await scheduler.schedule(Promise.resolve(), JSON.stringify(event));
      await race.happens(event);
    });
    await scheduler.waitIdle();
    await Promise.all(all);
    await race.end();
  });
  await fc.assert(property, { seed: 7, numRuns: process.env.MUTATION ? 50 : 500 });
});
