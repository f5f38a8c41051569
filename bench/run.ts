import { cpus } from 'node:os';
import { compare, type Comparison, type Section } from './measure.js';
import { memory } from './memory.js';
import { closing, failing, lifecycle, objects, refusals, snapshots, strings, text, tracking } from './works.js';

const SIZES = [1, 10, 100, 1000, 10_000];

/** As many results in a batch, and refusals of a batch. */
const RESULTS = 16;
const REFUSALS = 100;

const KiB = 1024;
const BYTES = { '1 KiB': KiB, '300 KiB': 300 * KiB, '1 MiB': 1024 * KiB };

const CONTENTS: Record<string, (bytes: number) => string> = {
  ASCII: (bytes) => text('a', bytes),
  '2-byte, é': (bytes) => text('é', bytes),
  '2-byte, ж': (bytes) => text('ж', bytes),
  '3-byte, €': (bytes) => text('€', bytes),
  '4-byte, 😀': (bytes) => text('😀', bytes),
  'ASCII and one é': (bytes) => text('a', bytes, 'é'),
  'ASCII and one €': (bytes) => text('a', bytes, '€'),
};

const perCall = (n: number): number | undefined => (n === 1 ? 25 : n <= 1000 ? 6 : undefined);

const accounts: Section = {
  title: 'per call',
  beside: 'bare Map',
  comparisons: [
    ...SIZES.map((n): Comparison => ({ name: `begin, settle all, seal, export: n = ${n}`, calls: n, ...lifecycle(n), target: perCall(n) })),
    ...SIZES.map((n): Comparison => ({ name: `begin, close, export: n = ${n}`, calls: n, ...closing(n), target: perCall(n) })),
    ...SIZES.slice(1).map((n): Comparison => ({ name: `snapshot after each settle: n = ${n}`, calls: n, ...snapshots(n) })),
  ],
};

const refused: Section = {
  title: 'per refusal, recorded',
  beside: 'plain object',
  comparisons: (['late', 'duplicate', 'unknown'] as const).map((reason) => ({
    name: reason,
    calls: REFUSALS,
    ...refusals(REFUSALS, reason),
  })),
};

const awaited: Section = {
  title: 'per call: track, sealWhenSettled, export',
  beside: 'Promise.allSettled',
  comparisons: [1, 10, 100].map((n) => ({ name: `n = ${n}`, calls: n, ...tracking(n) })),
};

const contents = Object.entries(CONTENTS).flatMap(([kind, content]) =>
  Object.entries(BYTES).map(([size, bytes]) => ({ name: `${size}, ${kind}`, content: content(bytes), large: size === '1 MiB' })),
);

const texts: Section = {
  title: 'per result: a string',
  beside: 'Buffer.byteLength',
  comparisons: contents.map(({ name, content, large }) => ({
    name,
    calls: RESULTS,
    ...strings(RESULTS, content),
    target: large ? 2 : undefined,
  })),
};

const values: Section = {
  title: 'per result: an object',
  beside: 'JSON.stringify',
  comparisons: contents.map(({ name, content }) => ({
    name,
    calls: RESULTS,
    // Within the limit together with what stands around it in the JSON text.
    ...objects(RESULTS, { lines: [content.slice(0, -32)], next: null }),
  })),
};

/** Both sides are the closure. */
const flat: Section = {
  title: 'what should not grow',
  beside: 'the smaller one',
  comparisons: [
    { name: 'lifecycle per call, n = 10,000 beside n = 100', calls: 10_000, ours: lifecycle(10_000).ours, besideCalls: 100, beside: lifecycle(100).ours, target: 2 },
    { name: 'n = 1,000 with a snapshot after each settle, beside none', calls: 1000, ours: snapshots(1000).ours, beside: lifecycle(1000).ours, target: 30 },
    ...['a', 'é'].map((unit) => ({
      name: `a string of 300 KiB of ${unit}, beside 1 KiB`,
      calls: RESULTS,
      ours: strings(RESULTS, text(unit, 300 * KiB)).ours,
      beside: strings(RESULTS, text(unit, KiB)).ours,
      target: 1.5,
    })),
    {
      name: 'an error message of 100,000,000 characters, beside 10 KiB',
      calls: 1,
      ours: failing(Buffer.alloc(100_000_000, 'x').toString('latin1')),
      beside: failing(text('x', 10 * KiB)),
      target: 3,
    },
  ],
};

console.log(`\nNode ${process.version}, ${cpus()[0]?.model ?? 'unknown processor'}\n`);
// First, while the heap is small.
const heap = memory();
// `npm run bench -- refusal` measures the tables with that word in their titles.
const sections = [accounts, flat, texts, values, refused, awaited].filter(({ title }) => title.includes(process.argv[2] ?? ''));
for (const table of await compare(sections)) console.log(table);
console.log(heap);
