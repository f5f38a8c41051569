import type { ContentBlock, ConverseCommandInput, Message, ToolResultBlock } from '@aws-sdk/client-bedrock-runtime';
import { toBedrockBlocks } from '../../../examples/recipes/wire-shapes.js';
import { closed, closure } from './support.js';

const content: ContentBlock[] = toBedrockBlocks(closure, closed);
const message: Message = { role: 'user', content };
export const request: ConverseCommandInput = { modelId: 'm', messages: [message] };
export const results: ToolResultBlock[] = toBedrockBlocks(closure, closed).map(({ toolResult }) => toolResult);

// @ts-expect-error the content is an array of blocks, not a text
export const text: ToolResultBlock = { toolUseId: 'a', content: 'seen' };
