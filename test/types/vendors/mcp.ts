import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { toMCPResults } from '../../../examples/recipes/wire-shapes.js';
import { closed, closure } from './support.js';

export const results: CallToolResult[] = toMCPResults(closure, closed);

// @ts-expect-error the content is an array of blocks, not a text
export const text: CallToolResult = { content: 'seen' };
