// Every operation, from every state, with every operation run inside it at every point where caller code runs. What comes
// back must be what the model gives for the same operations in the order of their last gate: see model/world.ts.

import { expect, test } from 'vitest';
import { NESTED, OPS, type Op, TRACKS } from './model/alphabet.js';
import { states } from './model/states.js';
import { World } from './model/world.js';

const all = states();
const few = process.env.MUTATION !== undefined;
// A mutant shows in most states, or in none.
const base = few ? all.filter((_, i) => i % 5 === 3) : all;

async function insideEach(outer: readonly Op[]): Promise<number> {
  let cases = 0;
  for (const { path } of base) {
    for (const op of outer) {
      const points = (await new World(path).later({ op })).length;
      for (let point = 0; point < points; point += 1) {
        for (const nested of NESTED) {
          const world = new World(path);
          await world.later({ op, inside: [[point, { op: nested }]] });
          await world.end();
          cases += 1;
        }
      }
    }
  }
  return cases;
}

test('the states are all there', () => {
  expect(all).toHaveLength(64);
});

test('one operation inside another, at every point', { timeout: 300_000 }, async () => {
  const cases = await insideEach(OPS);
  console.log(`one operation inside another: ${cases} cases from ${base.length} states`);
  expect(cases).toBeGreaterThanOrEqual(few ? 1 : 93_000);
});

test('one operation inside the arrival of a tracked value, at every point', { timeout: 300_000 }, async () => {
  const cases = await insideEach(TRACKS);
  console.log(`one operation inside an arrival: ${cases} cases from ${base.length} states`);
  expect(cases).toBeGreaterThanOrEqual(few ? 1 : 14_700);
});
