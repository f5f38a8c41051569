// The names that the documents' fragments use without declaring them.
import type Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';
import type { BatchHandle, ClosedSnapshot, Outcome, ToolCall, ToolCallClosure } from 'tool-call-closure';

declare global {
  const closure: ToolCallClosure;
  const createToolCallClosure: () => ToolCallClosure;
  const calls: ToolCall[];
  const handle: BatchHandle;
  const closed: ClosedSnapshot;
  const signal: AbortSignal;
  const ms: number;
  const conversation: { closure: ToolCallClosure; input: object[]; appended: number };
  type RunTool = (call: ToolCall, signal: AbortSignal) => Promise<unknown>;
  type Items = OpenAI.Responses.ResponseInputItem[];
  const run: AbortController;
  const oldRun: AbortController;
  const step: Promise<boolean>;
  const content: string;
  const runTool: RunTool;
  const approve: (call: ToolCall, signal: AbortSignal) => Promise<boolean>;
  const input: OpenAI.Responses.ResponseInputItem[];
  const turn: OpenAI.Responses.ResponseInputItem[];
  const openai: OpenAI;
  const choice: OpenAI.Chat.ChatCompletion.Choice;
  const response: OpenAI.Responses.Response;
  const history: Anthropic.MessageParam[];
  const held: { id: string; sent: number; owed: ClosedSnapshot | null };
  const journal: {
    outcomeOf(at: number, id: string): Outcome | undefined;
    isWaiting(at: number, id: string): boolean;
  };
}
