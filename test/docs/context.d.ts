// The names that the documents' fragments use without declaring them.
import type OpenAI from 'openai';
import type { BatchHandle, ToolCallClosure as Closure } from 'tool-call-closure';

declare global {
  const closure: Closure;
  const handle: BatchHandle;
  const calls: { id: string; name: string; arguments: string }[];
  const signal: AbortSignal;
  const input: OpenAI.Responses.ResponseInputItem[];
  const runTool: (call: { id: string; name: string }, signal?: AbortSignal) => Promise<unknown>;
}
