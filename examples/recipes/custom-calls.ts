/**
 * Responses: results of custom tool calls and of programmatic calls.
 *
 * `toOpenAIResponses` answers function calls. A custom tool call is refused such an output, although only the type
 * differs; and a call that a program of the model made must get its `caller` back unchanged, or the service can't tell
 * which program goes on.
 */
import type { OpenAIFunctionCallOutput } from 'tool-call-closure';
import type { ResponseCall } from './read-calls.js';

export type ResponseCallOutput = {
  type: 'function_call_output' | 'custom_tool_call_output';
  call_id: string;
  output: string;
  caller?: NonNullable<ResponseCall['caller']>;
};

/** `calls` are the provider's own objects, which the closure doesn't keep. */
export function outputsFor(calls: readonly ResponseCall[], outputs: readonly OpenAIFunctionCallOutput[]): ResponseCallOutput[] {
  const byId = new Map(calls.map((call) => [call.call_id, call]));
  return outputs.map((output) => {
    const call = byId.get(output.call_id);
    return {
      ...output,
      type: call?.type === 'custom_tool_call' ? 'custom_tool_call_output' : 'function_call_output',
      ...(call?.caller && { caller: call.caller }),
    };
  });
}
