import OpenAI from 'openai';
import { expect, test } from 'vitest';
import { responses, responsesAdjacent, responsesHeld } from './conversations.js';
import { answerAll, describeLoops, openScene, verdict } from './suite.js';

describeLoops(responses);
describeLoops(responsesHeld);
describeLoops(responsesAdjacent);

const twice = [[{ id: 'call_a', name: 'look' }], [{ id: 'call_a', name: 'look' }]];

test("registering the item's id instead of its call_id is refused", async () => {
  const { standIn, closure } = await openScene(responses, twice);
  const client = new OpenAI({ baseURL: standIn.openaiBaseURL, apiKey: 'none', maxRetries: 0 });
  const { output } = await client.responses.create({ model: 'm', input: 'go' });
  const items = output.filter((item) => item.type === 'function_call');
  const closed = answerAll(closure, items.map(({ id, name }) => ({ id: id!, name })));
  const sent = client.responses.create({ model: 'm', input: [...items, ...closure.toOpenAIResponses(closed)] });
  await expect(sent).rejects.toBeInstanceOf(OpenAI.BadRequestError);
  expect(verdict(standIn)).toBe('R09');
});

test("Chat's payload is refused", async () => {
  const { standIn, closure, conversation } = await openScene(responses, twice);
  const closed = answerAll(closure, await conversation.ask());
  conversation.add(closure.toOpenAIChatCompletions(closed));
  await expect(conversation.ask()).rejects.toBeInstanceOf(OpenAI.BadRequestError);
  expect(verdict(standIn)).toBe('R02');
});

test('ids that repeat are refused unless the host renames them', async () => {
  const { standIn, closure, conversation } = await openScene(responses, twice);
  conversation.answer(answerAll(closure, await conversation.ask()));
  conversation.answer(answerAll(closure, await conversation.ask()));
  await expect(conversation.ask()).rejects.toBeInstanceOf(OpenAI.BadRequestError);
  expect(verdict(standIn)).toBe('R11');
});
