import { createToolCallClosure } from 'tool-call-closure';
import { expect, test } from 'vitest';
import {
  toAISDKMessage,
  toBedrockBlocks,
  toGeminiParts,
  toLangChainFields,
  toMCPResults,
  toMistralMessages,
} from '../../examples/recipes/wire-shapes.js';
import { closed } from './provider.js';

const closure = createToolCallClosure();
const { handle } = closure.begin([
  { id: 'a', name: 'read' },
  { id: 'b', name: 'write' },
  { id: 'c', name: 'drop' },
  { id: 'd', name: 'quiet' },
  { id: 'e', name: 'hang' },
]);
closure.succeed(handle, 'a', { lines: 42 });
closure.fail(handle, 'b', new Error('disk full'));
closure.settle(handle, 'c', { status: 'cancelled', code: 'denied', message: 'The user said no.', sideEffectState: 'not_started' });
closure.succeed(handle, 'd', '');
const snapshot = closed(closure.close(handle, { code: 'aborted', message: 'stopped' }));
closure.begin([]);

const read = '{"lines":42}';
const write = '{"error":{"code":"tool_error","message":"disk full"}}';
const drop = '{"error":{"code":"denied","message":"The user said no.","side_effect_state":"not_started"}}';
const hang = '{"error":{"code":"aborted","message":"stopped","side_effect_state":"unknown"}}';

test('Gemini', () => {
  expect(toGeminiParts(closure, snapshot)).toEqual([
    { functionResponse: { id: 'a', name: 'read', response: { output: read } } },
    { functionResponse: { id: 'b', name: 'write', response: { error: write } } },
    { functionResponse: { id: 'c', name: 'drop', response: { error: drop } } },
    { functionResponse: { id: 'd', name: 'quiet', response: { output: '' } } },
    { functionResponse: { id: 'e', name: 'hang', response: { error: hang } } },
  ]);
});

test('Bedrock', () => {
  expect(toBedrockBlocks(closure, snapshot)).toEqual([
    { toolResult: { toolUseId: 'a', content: [{ text: read }], status: 'success' } },
    { toolResult: { toolUseId: 'b', content: [{ text: write }], status: 'error' } },
    { toolResult: { toolUseId: 'c', content: [{ text: drop }], status: 'error' } },
    { toolResult: { toolUseId: 'd', content: [{ text: '(no output)' }], status: 'success' } },
    { toolResult: { toolUseId: 'e', content: [{ text: hang }], status: 'error' } },
  ]);
});

test('AI SDK', () => {
  const { role, content } = toAISDKMessage(closure, snapshot);
  expect(role).toBe('tool');
  expect(content.map(({ type, toolCallId, toolName }) => [type, toolCallId, toolName])).toEqual([
    ['tool-result', 'a', 'read'],
    ['tool-result', 'b', 'write'],
    ['tool-result', 'c', 'drop'],
    ['tool-result', 'd', 'quiet'],
    ['tool-result', 'e', 'hang'],
  ]);
  expect(content.map(({ output }) => output)).toEqual([
    { type: 'text', value: read },
    { type: 'error-text', value: write },
    { type: 'execution-denied', reason: 'The user said no.' },
    { type: 'text', value: '' },
    { type: 'error-text', value: hang },
  ]);
});

test('LangChain', () => {
  const fields = toLangChainFields(closure, snapshot);
  expect(fields.slice(0, 2)).toEqual([
    { tool_call_id: 'a', name: 'read', content: read, status: 'success' },
    { tool_call_id: 'b', name: 'write', content: write, status: 'error' },
  ]);
  expect(fields.map(({ status }) => status)).toEqual(['success', 'error', 'error', 'success', 'error']);
});

test('Mistral', () => {
  expect(toMistralMessages(closure, snapshot)).toEqual([
    { role: 'tool', toolCallId: 'a', name: 'read', content: read },
    { role: 'tool', toolCallId: 'b', name: 'write', content: write },
    { role: 'tool', toolCallId: 'c', name: 'drop', content: drop },
    { role: 'tool', toolCallId: 'd', name: 'quiet', content: '' },
    { role: 'tool', toolCallId: 'e', name: 'hang', content: hang },
  ]);
});

test('MCP', () => {
  const results = toMCPResults(closure, snapshot);
  expect(results.slice(0, 2)).toEqual([
    { content: [{ type: 'text', text: read }], isError: false },
    { content: [{ type: 'text', text: write }], isError: true },
  ]);
  expect(results.map(({ isError }) => isError)).toEqual([false, true, true, false, true]);
});
