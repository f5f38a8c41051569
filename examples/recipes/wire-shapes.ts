/**
 * Results of a closed batch in other clients' shapes. None of these packages is needed here: the shapes are written down,
 * and a test package compiles them against the vendors' own types.
 */
import type { ClosedSnapshot, SettledCall, ToolCallClosure } from 'tool-call-closure';

/** Each call with the text that the model is to read, in the order of the calls. */
function results(closure: ToolCallClosure, closed: ClosedSnapshot): (SettledCall & { text: string })[] {
  const payload = closure.toOpenAIChatCompletions(closed);
  return closed.calls.map((call, i) => ({ ...call, text: payload[i]!.content }));
}

/**
 * Google Gemini: `Part`s for one `user` content (`FunctionResponse` of @google/genai 3). All results of a turn go into
 * one content, as many as there were calls and in their order: Gemini counts them and pairs by position. The response is an
 * object, `output` or `error` by convention. An id that the host made up must stand in the `functionCall` part as well.
 */
export const toGeminiParts = (closure: ToolCallClosure, closed: ClosedSnapshot) =>
  results(closure, closed).map(({ id, name, state, text }) => ({
    functionResponse: { id, name, response: state === 'success' ? { output: text } : { error: text } },
  }));

/**
 * Amazon Bedrock Converse: content blocks for one `user` message (`ToolResultBlock` of @aws-sdk/client-bedrock-runtime 3).
 * An empty text block has been refused (NousResearch/hermes-agent#55092), so a silent success says that it is silent.
 */
export const toBedrockBlocks = (closure: ToolCallClosure, closed: ClosedSnapshot) =>
  results(closure, closed).map(({ id, state, text }) => ({
    toolResult: {
      toolUseId: id,
      content: [{ text: text.trim() === '' ? '(no output)' : text }],
      status: state === 'success' ? ('success' as const) : ('error' as const),
    },
  }));

/**
 * Vercel AI SDK: one message (`ToolModelMessage` of ai 6 and 7). The kind of `output` carries the state. A denial has a kind
 * of its own; here it is a cancellation that the host reported with the code `denied`.
 */
export const toAISDKMessage = (closure: ToolCallClosure, closed: ClosedSnapshot) => ({
  role: 'tool' as const,
  content: results(closure, closed).map(({ id, name, settlement, text }) => ({
    type: 'tool-result' as const,
    toolCallId: id,
    toolName: name,
    output:
      settlement.status === 'success'
        ? { type: 'text' as const, value: text }
        : settlement.code === 'denied'
          ? { type: 'execution-denied' as const, reason: settlement.message }
          : { type: 'error-text' as const, value: text },
  })),
});

/** LangChain: fields for `new ToolMessage(fields)` (@langchain/core 1). It wants instances, not plain objects. */
export const toLangChainFields = (closure: ToolCallClosure, closed: ClosedSnapshot) =>
  results(closure, closed).map(({ id, name, state, text }) => ({
    tool_call_id: id,
    name,
    content: text,
    status: state === 'success' ? ('success' as const) : ('error' as const),
  }));

/**
 * Mistral: messages (`ToolMessage` of @mistralai/mistralai 2). Our Chat Completions messages compile there too, but the
 * client drops a `tool_call_id` on the way out, without a word: its name for it is `toolCallId`.
 */
export const toMistralMessages = (closure: ToolCallClosure, closed: ClosedSnapshot) =>
  results(closure, closed).map(({ id, name, text }) => ({ role: 'tool' as const, toolCallId: id, name, content: text }));

/** MCP: one `CallToolResult` (@modelcontextprotocol/sdk 1) per call. It has no id: the JSON-RPC request pairs it. */
export const toMCPResults = (closure: ToolCallClosure, closed: ClosedSnapshot) =>
  results(closure, closed).map(({ state, text }) => ({ content: [{ type: 'text' as const, text }], isError: state !== 'success' }));
