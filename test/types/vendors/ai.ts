import type { ModelMessage, ToolModelMessage } from 'ai';
import { toAISDKMessage } from '../../../examples/recipes/wire-shapes.js';
import { closed, closure } from './support.js';

export const message: ToolModelMessage = toAISDKMessage(closure, closed);
export const messages: ModelMessage[] = [{ role: 'user', content: 'go' }, toAISDKMessage(closure, closed)];

// @ts-expect-error Chat Completions has another shape
export const direct: ToolModelMessage[] = closure.toOpenAIChatCompletions(closed);
