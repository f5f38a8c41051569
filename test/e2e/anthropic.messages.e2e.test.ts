import Anthropic from '@anthropic-ai/sdk';
import { expect, test } from 'vitest';
import { betaMessages, messages } from './conversations.js';
import { answerAll, describeLoops, openScene, verdict } from './suite.js';

describeLoops(messages);
describeLoops(betaMessages);

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
