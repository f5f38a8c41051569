import { expect, test } from 'vitest';
import { createToolCallClosure } from 'tool-call-closure';
import { callsOfResponse } from '../../examples/recipes/read-calls.js';
import { takeOver } from '../../examples/recipes/take-over.js';
import { closed, provider, user } from './provider.js';

const twoCalls = ['call_a', 'call_b'].map((id) => ({ id, name: 'look' }));

async function held() {
  const { responses, judgeResponses } = await provider([twoCalls]);
  const response = await responses([user]);
  const closure = createToolCallClosure();
  const { handle, generation } = closure.begin(callsOfResponse(response)!);
  return { closure, handle, generation, judge: (...input: Parameters<typeof judgeResponses>[0]) => judgeResponses(input, response.id) };
}

const later = { role: 'user' as const, content: 'Stop, something else.' };

test('results of a run that is replaced lead the next request', async () => {
  const { closure, handle, judge } = await held();
  closure.succeed(handle, 'call_a', 'seen');
  expect(await judge(later)).toBe('R10');

  const owed = takeOver(closure, 0);
  expect(owed?.calls.map(({ state }) => state)).toEqual(['success', 'cancelled']);
  expect(await judge(...closure.toOpenAIResponses(owed!), later)).toBe(null);
  expect(closure.succeed(handle, 'call_b', 'late')).toMatchObject({ accepted: false, reason: 'stale_generation' });
});

test('so do those of a run that was closed, but whose loop did not get to send them', async () => {
  const { closure, handle, judge } = await held();
  const aborted = closed(closure.close(handle, { code: 'aborted' }));
  const owed = takeOver(closure, 0);
  expect(owed).toBe(aborted);
  expect(await judge(...closure.toOpenAIResponses(owed!), later)).toBe(null);
});

test('nothing is sent twice', async () => {
  const { closure, handle, generation, judge } = await held();
  const aborted = closed(closure.close(handle));
  const outputs = closure.toOpenAIResponses(aborted);
  expect(await judge(...outputs, ...outputs, later)).toBe('R11');
  expect(takeOver(closure, generation)).toBe(null);
});

test('before the first batch nothing is owed', () => {
  expect(takeOver(createToolCallClosure(), 0)).toBe(null);
});

test('what is owed is the host\'s to keep: a second take-over gives the empty batch of the first', async () => {
  const { closure, judge } = await held();
  const owed = takeOver(closure, 0)!;
  expect(takeOver(closure, 0)?.calls).toEqual([]);
  // The request that carried the results failed; the next one carries them again.
  expect(await judge(later)).toBe('R10');
  expect(await judge(...closure.toOpenAIResponses(owed), later)).toBe(null);
});
