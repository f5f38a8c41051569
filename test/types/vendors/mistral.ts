import type { ChatCompletionRequest, ToolMessage } from '@mistralai/mistralai/models/components';
import { toMistralMessages } from '../../../examples/recipes/wire-shapes.js';
import { closed, closure } from './support.js';

export const messages: (ToolMessage & { role: 'tool' })[] = toMistralMessages(closure, closed);
export const request: ChatCompletionRequest = { model: 'm', messages: toMistralMessages(closure, closed) };
// The trap: this compiles, and the client then drops `tool_call_id`. `run.mjs` shows it.
export const lost: ChatCompletionRequest = { model: 'm', messages: closure.toOpenAIChatCompletions(closed) };
// @ts-expect-error an id is a text
export const number: ToolMessage = { toolCallId: 1, content: 'seen' };
