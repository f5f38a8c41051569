import type { ChatCompletionCreateParams, ChatCompletionMessageParam } from 'groq-sdk/resources/chat/completions';
import { closed, closure } from './support.js';

// Chat Completions in all but name: the adapter's messages go in as they are.
const messages: ChatCompletionMessageParam[] = closure.toOpenAIChatCompletions(closed);
export const request: ChatCompletionCreateParams = { model: 'm', messages };
// @ts-expect-error the Responses shape is another
export const responses: ChatCompletionMessageParam[] = closure.toOpenAIResponses(closed);
