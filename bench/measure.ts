/** One repetition of some work. Its result is kept for a moment, so that no engine drops the work. */
export type Work = () => unknown;

/** A work beside another one; each stands for a number of calls, or of what `per` names. */
export interface Comparison {
  name: string;
  ours: Work;
  beside: Work;
  calls: number;
  /** Where it is another number than `calls`. */
  besideCalls?: number;
  /** The ratio must not be higher. */
  target?: number | undefined;
}

export interface Section {
  title: string;
  /** What the works stand beside. */
  beside: string;
  comparisons: Comparison[];
}

// A sample is long enough to hold the garbage it makes, and short enough that both sides of a round see the same machine.
const SAMPLE_MS = 5;
const WARM_UP_MS = 100;
const PASSES = 3;
const ROUNDS = 7;

export let kept: unknown;

export function keep(value: unknown): void {
  kept = value;
}

/** Milliseconds of processor time, garbage collection included: what waits for a busy machine costs nothing. */
function now(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e3;
}

async function sample(work: Work, times: number): Promise<number> {
  const start = now();
  for (let i = 0; i < times; i += 1) {
    const result = work();
    kept = result instanceof Promise ? await result : result;
  }
  return (now() - start) / times;
}

/** How often `work` runs in one sample; found while the engine warms up. */
async function repetitions(work: Work): Promise<number> {
  let times = 1;
  for (let warm = 0; warm < WARM_UP_MS; ) {
    const took = (await sample(work, times)) * times;
    warm += took;
    if (took < SAMPLE_MS) times *= 2;
  }
  return times;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] as number;
}

const figure = (ns: number): string =>
  ns < 1e4 ? `${Math.round(ns)} ns` : ns < 1e6 ? `${Math.round(ns / 1e3)} µs` : `${(ns / 1e6).toFixed(1)} ms`;

/**
 * Runs all comparisons and gives a Markdown table for each section. The ratio is the median over rounds of two short
 * samples, one of each side; the rounds of a comparison are spread over several passes. So what slows the
 * machine for a second slows both sides, and one pass of a few comparisons. (`vitest bench` times one side after
 * the other, and its ratios are as noisy as the machine.) The figure beside is that side's fastest sample.
 */
export async function compare(sections: readonly Section[]): Promise<string[]> {
  const all = sections.flatMap(({ comparisons }) => comparisons);
  const times = new Map<Work, number>();
  for (const { ours, beside } of all) {
    for (const work of [ours, beside]) times.set(work, await repetitions(work));
  }
  const ratios = new Map<Comparison, number[]>(all.map((comparison) => [comparison, []]));
  const fastest = new Map<Comparison, number>();
  for (let pass = 0; pass < PASSES; pass += 1) {
    for (const comparison of all) {
      const { ours, beside, calls, besideCalls = calls } = comparison;
      for (let round = 0; round < ROUNDS; round += 1) {
        const time = (await sample(ours, times.get(ours) as number)) / calls;
        const besideTime = (await sample(beside, times.get(beside) as number)) / besideCalls;
        ratios.get(comparison)?.push(time / besideTime);
        fastest.set(comparison, Math.min(fastest.get(comparison) ?? Infinity, besideTime));
      }
    }
  }
  return sections.map(({ title, beside, comparisons }) => {
    const lines = [`| ${title} | ${beside} | ratio | target |`, '| --- | ---: | ---: | --- |'];
    for (const comparison of comparisons) {
      const { name, target } = comparison;
      const ratio = median(ratios.get(comparison) as number[]);
      const verdict = target === undefined ? '' : `≤ ${target}: ${ratio <= target ? 'met' : 'MISSED'}`;
      const time = figure((fastest.get(comparison) as number) * 1e6);
      lines.push(`| ${name} | ${time} | ${ratio.toPrecision(2)} | ${verdict} |`);
    }
    return `${lines.join('\n')}\n`;
  });
}

/** Bytes of live heap. Needs `--expose-gc`. */
export function liveHeap(): number {
  for (let i = 0; i < 3; i += 1) globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}
