import type { Content, FunctionResponse, GenerateContentParameters } from '@google/genai';
import { toGeminiParts } from '../../../examples/recipes/wire-shapes.js';
import { closed, closure } from './support.js';

const content: Content = { role: 'user', parts: toGeminiParts(closure, closed) };
export const request: GenerateContentParameters = { model: 'm', contents: [content] };
export const responses: FunctionResponse[] = toGeminiParts(closure, closed).map(({ functionResponse }) => functionResponse);

// @ts-expect-error the response is an object, not a text
export const text: FunctionResponse = { id: 'a', name: 'look', response: 'seen' };
