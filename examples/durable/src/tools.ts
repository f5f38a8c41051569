import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Outcome, ToolCall } from 'tool-call-closure';
import { killPoint, record } from './witness.js';

export interface Tool {
  /** Whether running it twice does no harm. If not, its start is journaled, and a start without a result ends the call. */
  readonly repeatable: boolean;
  /** `execution` comes back in the result, so that the trial can tell which execution the model was told of. */
  run(execution: string, callId: string): Promise<string>;
}

export const tools: Readonly<Record<string, Tool>> = {
  lookup: {
    repeatable: true,
    run: async (execution) => JSON.stringify({ found: true, execution }),
  },
  report: {
    repeatable: true,
    run: async (execution) => {
      await sleep(200);
      return JSON.stringify({ pages: 12, execution });
    },
  },
  broken: {
    repeatable: true,
    run: async (execution) => {
      await sleep(20);
      throw new Error(`no route to the printer, execution ${execution}`);
    },
  },
  charge: {
    repeatable: false,
    run: async (execution, callId) => {
      await sleep(50);
      record({ at: 'effect', call: callId, execution });
      await sleep(10);
      return JSON.stringify({ charged: true, execution });
    },
  },
};

/** Runs a tool and says how the call ended, as a value: the engine would answer a throw by running the tool again. */
export async function perform(call: ToolCall): Promise<Outcome> {
  const tool = tools[call.name];
  if (!tool) return { status: 'error', code: 'unknown_tool', message: `There is no tool ${call.name}.`, sideEffectState: 'not_started' };

  const execution = randomUUID();
  record({ at: 'execution', call: call.id, execution });
  const outcome = await tool.run(execution, call.id).then(
    (content): Outcome => ({ status: 'success', content }),
    (error: unknown): Outcome => ({ status: 'error', code: 'tool_error', message: error instanceof Error ? error.message : String(error) }),
  );
  killPoint('after an effect, before its entry', call.id);
  return outcome;
}
