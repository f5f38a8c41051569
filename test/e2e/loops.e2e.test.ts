import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import type { ToolCall } from 'tool-call-closure';
import { expect, onTestFinished, test } from 'vitest';
import { messagesLoop, responsesLoop } from '../../examples/loops.js';
import { startStandIn } from '../support/stand-in.js';

const question = { role: 'user', content: 'go' } as const;
type Run = (runTool: (call: ToolCall, signal: AbortSignal) => Promise<unknown>, signal: AbortSignal) => Promise<unknown>;

/** Both loops over one history each, with a model that calls two tools twice, then answers. */
async function loops() {
  const standIn = await startStandIn({
    script: ({ turn }) => (turn < 2 ? ['x', 'y'].map((name) => ({ id: `call_${turn}_${name}`, name })) : 'done'),
  });
  onTestFinished(() => standIn.close());
  const openai = new OpenAI({ apiKey: 'none', baseURL: standIn.openaiBaseURL, maxRetries: 0 });
  const anthropic = new Anthropic({ apiKey: 'none', baseURL: standIn.anthropicBaseURL, maxRetries: 0 });
  const input: OpenAI.Responses.ResponseInputItem[] = [question];
  const messages: Anthropic.MessageParam[] = [question];
  const runs: Record<string, Run> = {
    responses: (runTool, signal) => responsesLoop(openai, 'm', input, runTool, signal),
    messages: (runTool, signal) => messagesLoop(anthropic, 'm', messages, runTool, signal),
  };
  return { standIn, runs };
}

test.each(['responses', 'messages'])('the %s loop answers every call until the model is done', async (api) => {
  const { standIn, runs } = await loops();
  const answer = await runs[api]!(async ({ name }) => {
    if (name === 'y') throw new Error('no y');
  }, new AbortController().signal);
  expect(JSON.stringify(answer)).toContain('done');
  expect(standIn.requests.map(({ rule, status }) => [rule, status])).toEqual([[null, 200], [null, 200], [null, 200]]);
});

test.each(['responses', 'messages'])('the %s loop, aborted while a tool hangs, leaves a history that is accepted', async (api) => {
  const { standIn, runs } = await loops();
  const run = new AbortController();
  const aborted = runs[api]!(async ({ name }) => {
    if (name === 'x') return 'seen';
    setImmediate(() => run.abort('stop'));
    return new Promise(() => {});
  }, run.signal);
  await expect(aborted).rejects.toThrow(/abort/i);
  // The same history, sent again.
  await runs[api]!(async () => 'seen', new AbortController().signal);
  expect(standIn.requests.map(({ rule }) => rule).every((rule) => rule === null)).toBe(true);
});
