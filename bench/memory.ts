import { getEventListeners, setMaxListeners } from 'node:events';
import { ToolCallClosure } from 'tool-call-closure';
import { keep, liveHeap } from './measure.js';
import { batch } from './works.js';

const BATCHES = 100_000;
const calls = batch(2);

function* closed(options?: { signal: AbortSignal }) {
  const closure = new ToolCallClosure();
  for (let i = 0; i < BATCHES; i += 1) yield closure.close(closure.begin(calls, options).handle);
  // Alive until the heap has been measured.
  keep(closure);
}

function* plain() {
  for (let i = 0; i < BATCHES; i += 1) {
    const reason = { status: 'cancelled', code: 'cancelled', message: 'Tool call was cancelled.' };
    const settled = calls.map(({ id, name }) => ({ id, name, state: 'cancelled', settlement: reason }));
    yield { generation: i, closed: true, closeReason: reason, calls: settled, diagnostics: [] };
  }
}

/** What is left on the heap, from one batch to the next and where every closed snapshot is held. */
export function memory(): string {
  const lines = [
    '| 100,000 batches of 2 calls | heap before | after | left per batch |',
    '| --- | ---: | ---: | ---: |',
  ];
  const measure = (name: string, views: Iterable<unknown>, hold: boolean) => {
    const held: unknown[] = [];
    const before = liveHeap();
    for (const view of views) if (hold) held.push(view);
    const after = liveHeap();
    const left = Math.round((after - before) / BATCHES);
    lines.push(`| ${name} | ${(before / 1e6).toFixed(1)} MB | ${(after / 1e6).toFixed(1)} MB | ${left} B |`);
    return held.length;
  };
  const { signal } = new AbortController();
  // A second listener would warn.
  setMaxListeners(1, signal);
  measure('one closure, snapshots not held', closed(), false);
  measure('one closure, snapshots held', closed(), true);
  measure('as many plain objects held', plain(), true);
  measure('one closure, one signal for all batches', closed({ signal }), false);
  const listeners = getEventListeners(signal, 'abort').length;
  return `${lines.join('\n')}\n\nListeners left on the signal: ${listeners}\n`;
}
