import type {
  AnthropicToolResult,
  ClosedSnapshot,
  OpenAIFunctionCallOutput,
  OpenAIToolMessage,
  Settlement,
} from './types.js';

/** What the model reads: success text as it is, anything else as JSON that is never empty. */
function settlementText(settlement: Settlement): string {
  if (settlement.status === 'success') return settlement.content;
  const { code, message, sideEffectState } = settlement;
  // An absent state leaves no key in the text.
  return JSON.stringify({ error: { code, message, side_effect_state: sideEffectState } });
}

function payload<Result>(
  snapshot: ClosedSnapshot,
  result: (callId: string, text: string, failed: boolean) => Result,
): Result[] {
  const results: Result[] = [];
  // Calls that were closed together share one settlement, and so one text.
  let last: Settlement | null = null;
  let text = '';
  for (const { id, settlement } of snapshot.calls) {
    if (settlement !== last) text = settlementText(settlement);
    last = settlement;
    results.push(result(id, text, settlement.status !== 'success'));
  }
  return results;
}

export const openAIChatCompletions = (snapshot: ClosedSnapshot): OpenAIToolMessage[] =>
  payload(snapshot, (tool_call_id, content) => ({ role: 'tool', tool_call_id, content }));

export const openAIResponses = (snapshot: ClosedSnapshot): OpenAIFunctionCallOutput[] =>
  payload(snapshot, (call_id, output) => ({ type: 'function_call_output', call_id, output }));

export const anthropicToolResults = (snapshot: ClosedSnapshot): AnthropicToolResult[] =>
  payload(snapshot, (tool_use_id, content, failed) =>
    failed
      ? { type: 'tool_result', tool_use_id, content, is_error: true }
      : { type: 'tool_result', tool_use_id, content },
  );
