// Results go into the `content` of a user message, and `tool_use` blocks into `begin` as they are.
// Compiled against every @anthropic-ai/sdk version that the contract names, so only names that all of them have are used.
import type Anthropic from '@anthropic-ai/sdk';
import { createToolCallClosure } from 'tool-call-closure';

const closure = createToolCallClosure();
declare const client: Anthropic;

export const results: Anthropic.Messages.ToolResultBlockParam[] = closure.toAnthropicToolResults();
export const message: Anthropic.Messages.MessageParam = { role: 'user', content: closure.toAnthropicToolResults() };
export const messages: Anthropic.Messages.MessageParam[] = [message];
messages.push({ role: 'user', content: closure.toAnthropicToolResults() });
results.push(...closure.toAnthropicToolResults());
export const reply = client.messages.create({
  model: 'any',
  max_tokens: 1,
  messages: [{ role: 'user', content: closure.toAnthropicToolResults() }],
});

// Text may follow the results, in one content array.
export const followed: Anthropic.Messages.MessageParam = {
  role: 'user',
  content: [...closure.toAnthropicToolResults(), { type: 'text', text: 'Go on.' }],
};

declare const blocks: Anthropic.Messages.ToolUseBlock[];
closure.begin(blocks);

export function begun({ content }: Anthropic.Messages.Message) {
  const isCall = (block: Anthropic.Messages.ContentBlock): block is Anthropic.Messages.ToolUseBlock =>
    block.type === 'tool_use';
  // @ts-expect-error not every block is a call
  closure.begin(content);
  return closure.begin(content.filter(isCall));
}

// @ts-expect-error chat messages are no content blocks
export const noChat: Anthropic.Messages.MessageParam = { role: 'user', content: closure.toOpenAIChatCompletions() };
// @ts-expect-error nor are Responses items
export const noItems: Anthropic.Messages.MessageParam = { role: 'user', content: closure.toOpenAIResponses() };
