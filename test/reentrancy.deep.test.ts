// As reentrancy.exhaustive.test.ts, from a handful of states: two levels deep, and two operations at one point. Slow: `npm run test:deep`.

import { expect, test } from 'vitest';
import { NESTED, type Op, OPS } from './model/alphabet.js';
import { World } from './model/world.js';

const watched: Op = { do: 'begin', ids: ['a', 'b'], signal: true };
const PATHS: readonly (readonly Op[])[] = [
  [watched],
  [watched, { do: 'succeed', id: 'a' }, { do: 'sealWhenSettled' }],
  [watched, { do: 'succeed', id: 'a' }, { do: 'succeed', id: 'b' }],
  [{ do: 'begin', ids: ['a', 'b'] }, { do: 'abort' }],
];

/** The outer operations that read much; the others have the same gates. */
const OUTER = OPS.filter(
  (op) => !['snapshot', 'payload'].includes(op.do) && !('on' in op && op.on === 'older') && !('id' in op && op.id === 'z'),
);
/** What changes the account. */
const CHANGES = NESTED.filter((op) => !['snapshot', 'payload'].includes(op.do) && !('on' in op) && !('id' in op && op.id === 'z'));

const pointsOf = (path: readonly Op[], op: Op) => new World(path).now({ op }).length;

test('two levels deep', { timeout: 600_000 }, async () => {
  let cases = 0;
  for (const path of PATHS) {
    for (const op of OUTER) {
      for (let point = pointsOf(path, op) - 1; point >= 0; point -= 1) {
        for (const middle of CHANGES) {
          let points = 0;
          const told = (seen: readonly string[]) => (points = seen.length);
          new World(path).now({ op, inside: [[point, { op: middle, told }]] });
          for (let inner = 0; inner < points; inner += 1) {
            for (const nested of CHANGES) {
              const world = new World(path);
              world.now({ op, inside: [[point, { op: middle, inside: [[inner, { op: nested }]] }]] });
              await world.end();
              cases += 1;
            }
          }
        }
      }
    }
  }
  console.log(`two levels deep: ${cases} cases`);
  expect(cases).toBeGreaterThanOrEqual(231_000);
});

test('two operations at one point', { timeout: 600_000 }, async () => {
  let cases = 0;
  for (const path of PATHS) {
    for (const op of OUTER) {
      for (let point = pointsOf(path, op) - 1; point >= 0; point -= 1) {
        for (const first of CHANGES) {
          for (const second of CHANGES) {
            const world = new World(path);
            world.now({ op, inside: [[point, { op: first }], [point, { op: second }]] });
            await world.end();
            cases += 1;
          }
        }
      }
    }
  }
  console.log(`two operations at one point: ${cases} cases`);
  expect(cases).toBeGreaterThanOrEqual(41_500);
});
