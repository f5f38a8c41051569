// Sequences of operations that carry operations inside them, which carry more. Seeded; to replay a failure or to look
// further, set FC_SEED, FC_PATH (both are printed when a run fails) and FC_RUNS:
//   FC_SEED=42 FC_PATH=12:0:3 npx vitest run --project src test/reentrancy.random.test.ts

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { OPS, TRACKS } from './model/alphabet.js';
import { type Plan, World } from './model/world.js';

const { FC_SEED, FC_PATH, FC_RUNS, MUTATION } = process.env;
const seed = Number(FC_SEED ?? 20_241);
const numRuns = Number(FC_RUNS ?? (MUTATION ? 500 : 6_000));
const partly = FC_PATH !== undefined || FC_RUNS !== undefined || MUTATION !== undefined;

// Beginnings and ends are rarer than what happens between, and without a batch nothing happens.
const likely = OPS.filter((op) => !('on' in op) && op.do !== 'begin' && !('id' in op && op.id === 'z'));
const op = fc.oneof({ weight: 1, arbitrary: fc.constantFrom(...OPS) }, { weight: 2, arbitrary: fc.constantFrom(...likely) });

const { plan } = fc.letrec<{ plan: Plan }>((tie) => ({
  plan: fc.record({
    op,
    inside: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      { weight: 1, arbitrary: fc.constant([]) },
      { weight: 3, arbitrary: fc.array(fc.tuple(fc.nat(7), tie('plan')), { minLength: 1, maxLength: 3 }) },
    ),
  }),
}));

const arrival = fc.record({
  op: fc.constantFrom(...TRACKS),
  inside: fc.array(fc.tuple(fc.nat(7), plan), { maxLength: 2 }),
});

const step = fc.oneof({ weight: 6, arbitrary: plan }, { weight: 1, arbitrary: arrival });

test('any plan is a legal history of the plain machine', { timeout: 300_000 }, async () => {
  let operations = 0;
  const told = () => (operations += 1);
  const counted = ({ op, inside }: Plan): Plan => ({ op, inside: (inside ?? []).map(([at, plan]) => [at, counted(plan)]), told });
  const property = fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 10, size: 'max' }), async (plans) => {
    const world = new World([{ do: 'begin', ids: ['a', 'b'], signal: true }]);
    for (const each of plans) await world.later(counted(each));
    await world.end();
  });
  await fc.assert(property, { seed, numRuns, ...(FC_PATH === undefined ? {} : { path: FC_PATH }) });
  console.log(`nested random plans: ${numRuns} runs, ${operations} operations, seed ${seed}`);
  expect(operations).toBeGreaterThanOrEqual(partly ? 1 : 50_000);
});
