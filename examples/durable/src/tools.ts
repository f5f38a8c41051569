import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { record } from './witness.js';

export interface Tool {
  /** Whether running it twice does no harm. If not, its start is journaled, and a start without a result ends the call. */
  readonly repeatable: boolean;
  run(execution: string, callId: string): Promise<string>;
}

/** Each result carries a number of its own, so that the trial can tell which execution the model was told of. */
export const newExecution = (): string => randomUUID();

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
