import type { CompletionCreateParams } from 'together-ai/resources/chat/completions';
import { closed, closure } from './support.js';

// Chat Completions in all but name: the adapter's messages go in as they are.
export const request: CompletionCreateParams = { model: 'm', messages: closure.toOpenAIChatCompletions(closed) };
// @ts-expect-error the Responses shape is another
export const responses: CompletionCreateParams = { model: 'm', messages: closure.toOpenAIResponses(closed) };
