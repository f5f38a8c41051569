import type Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';
import { type ToolCall, ToolCallClosure } from 'tool-call-closure';

/** Runs one tool; `call` also has the arguments, as the provider's own object holds them. */
type RunTool = (call: ToolCall, signal: AbortSignal) => Promise<unknown>;
type Items = OpenAI.Responses.ResponseInputItem[];

/** OpenAI Responses: asks and runs tools until the model has no more calls. An abort leaves a history that can be sent again. */
export async function responsesLoop(client: OpenAI, model: string, input: Items, runTool: RunTool, signal: AbortSignal) {
  const closure = new ToolCallClosure();
  for (;;) {
    // Aborted here, the client throws its own error, and there is no batch that could be open.
    // A reasoning model also needs include: ['reasoning.encrypted_content'], which others refuse.
    const response = await client.responses.create({ model, input, store: false }, { signal });
    if (response.status !== 'completed') throw new Error(`cut off: ${response.incomplete_details?.reason}`);
    // `call_id`, not `id`: the latter names the item.
    const calls = response.output.flatMap((item) =>
      item.type === 'function_call' ? [{ id: item.call_id, name: item.name, arguments: item.arguments }] : [],
    );
    const { handle } = closure.begin(calls, { signal }); // begin before you store
    input.push(...(response.output as Items));
    if (calls.length === 0) return response.output_text;
    for (const call of calls) void closure.track(handle, call.id, runTool(call, signal));
    const closed = await closure.sealWhenSettled(handle);
    if (closed.accepted === false) throw new Error('unreachable: nobody else begins on this closure');
    input.push(...closure.toOpenAIResponses(closed));
  }
}

/** Anthropic Messages: the same. */
export async function messagesLoop(client: Anthropic, model: string, messages: Anthropic.MessageParam[], runTool: RunTool, signal: AbortSignal) {
  const closure = new ToolCallClosure();
  for (;;) {
    const { content, stop_reason } = await client.messages.create({ model, max_tokens: 1024, messages }, { signal });
    if (!['tool_use', 'end_turn', 'stop_sequence'].includes(stop_reason ?? '')) throw new Error(`cut off: ${stop_reason}`);
    const calls = content.filter((block) => block.type === 'tool_use'); // as they are
    const { handle } = closure.begin(calls, { signal });
    if (content.length > 0) messages.push({ role: 'assistant', content });
    if (calls.length === 0) return content;
    for (const call of calls) void closure.track(handle, call.id, runTool(call, signal));
    const closed = await closure.sealWhenSettled(handle);
    if (closed.accepted === false) throw new Error('unreachable: nobody else begins on this closure');
    messages.push({ role: 'user', content: closure.toAnthropicToolResults(closed) });
  }
}
