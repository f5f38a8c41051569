import Anthropic from '@anthropic-ai/sdk';
import { expect, test } from 'vitest';
import type { ClosedSnapshot } from 'tool-call-closure';
import { betaMessages, messages } from './conversations.js';
import { answerAll, describeLoops, openScene, verdict } from './suite.js';

describeLoops(messages);
describeLoops(betaMessages);

test('errors and cancellations are marked, successes are not', async () => {
  const { standIn, closure, conversation } = await openScene(messages, [['call_a', 'call_b', 'call_c'].map((id) => ({ id, name: 'look' }))]);
  const calls = await conversation.ask();
  const { handle } = closure.begin(calls);
  closure.succeed(handle, 'call_a', '');
  closure.fail(handle, 'call_b', '');
  conversation.answer(closure.close(handle) as ClosedSnapshot);
  await conversation.ask();
  const { messages: sent } = standIn.requests.at(-1)!.body as { messages: Anthropic.MessageParam[] };
  expect((sent.at(-1)!.content as object[]).map((block) => 'is_error' in block && block.is_error)).toEqual([false, true, true]);
});

test.each([
  ['call_a', 'M06'],
  ['list_dir:0', 'M05'],
])('ids such as %s that repeat are refused unless the host renames them', async (id, rule) => {
  const calls = [{ id, name: 'look' }];
  const { standIn, closure, conversation } = await openScene(messages, [calls, calls]);
  const loop = async (): Promise<void> => {
    for (let asked = await conversation.ask(); asked.length > 0; asked = await conversation.ask()) {
      conversation.answer(answerAll(closure, asked));
    }
  };
  await expect(loop()).rejects.toBeInstanceOf(Anthropic.BadRequestError);
  expect(verdict(standIn)).toBe(rule);
});
