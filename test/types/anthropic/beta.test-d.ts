// From version 1. The beta client has types of its own, and the same fields.
import type Anthropic from '@anthropic-ai/sdk';
import { createToolCallClosure } from 'tool-call-closure';

const closure = createToolCallClosure();

export const message: Anthropic.Beta.BetaMessageParam = { role: 'user', content: closure.toAnthropicToolResults() };
declare const blocks: Anthropic.Beta.BetaToolUseBlock[];
closure.begin(blocks);
