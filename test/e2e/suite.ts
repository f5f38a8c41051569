import { describe, expect, onTestFinished, test } from 'vitest';
import { createToolCallClosure, type ClosedSnapshot, type ToolCall, type ToolCallClosure } from 'tool-call-closure';
import { startStandIn, type Reply, type StandIn } from '../support/stand-in.js';
import type { Conversation, Driver } from './conversations.js';
import { mistakes, situations } from './situations.js';

export interface Scene {
  readonly standIn: StandIn;
  readonly closure: ToolCallClosure;
  readonly conversation: Conversation;
}

/** A conversation that the user has opened, with a model that answers as scripted and is done after that. */
export async function openScene(driver: Driver, model: readonly Reply[]): Promise<Scene> {
  const standIn = await startStandIn({ script: ({ turn }) => model[turn] ?? 'done', adjacent: driver.adjacent ?? false });
  onTestFinished(() => standIn.close());
  const closure = createToolCallClosure();
  const conversation = driver.start(standIn, closure);
  conversation.say('go');
  return { standIn, closure, conversation };
}

export function answerAll(closure: ToolCallClosure, calls: readonly ToolCall[]): ClosedSnapshot {
  const { handle } = closure.begin(calls);
  for (const { id } of calls) closure.succeed(handle, id, 'seen');
  const closed = closure.seal(handle);
  return closed.accepted === false ? expect.fail(closed.reason) : closed;
}

/** The rule that the newest request broke, `null` if it was accepted. */
export function verdict({ requests }: StandIn): string | null {
  return requests.at(-1)!.rule;
}

/** Runs every situation and every mistake over one API's real client. */
export function describeLoops(driver: Driver): void {
  const playable = situations.filter(({ renames }) => !renames || driver.hostHoldsHistory);
  const twoCalls = (...ids: string[]): Reply => ids.map((id) => ({ id, name: 'look' }));

  describe(driver.name, () => {
    test.each(playable)('$name', async ({ model, host, sees }) => {
      const { standIn, closure, conversation } = await openScene(driver, model);
      await host(conversation, closure, driver);

      expect(standIn.requests.filter(({ status }) => status !== 200)).toEqual([]);
      expect(standIn.requests.length).toBeGreaterThan(model.length);
      const seen = driver.seen(standIn.requests.at(-1)!.body);
      expect(seen.slice(-sees.length)).toEqual(sees.map((text) => (typeof text === 'string' ? text : expect.stringMatching(text))));
    });

    test.each(mistakes)('$name', async ({ spoil, rules }) => {
      const { standIn, closure, conversation } = await openScene(driver, [twoCalls('call_a', 'call_b'), twoCalls('call_c', 'call_d')]);
      const first = answerAll(closure, await conversation.ask());
      conversation.answer(first);
      const second = answerAll(closure, await conversation.ask());
      conversation.add(spoil(conversation.results(second), conversation.results(first), conversation));

      const rule = rules[driver.adjacent ? 'adjacent' : driver.api];
      if (rule === null) await conversation.ask();
      else await expect(conversation.ask()).rejects.toMatchObject({ status: 400 });
      expect(verdict(standIn)).toBe(rule);
    });

    test('a batch that is not closed has no payload to send', async () => {
      const { closure, conversation } = await openScene(driver, [twoCalls('call_a', 'call_b')]);
      const calls = await conversation.ask();
      const { handle } = closure.begin(calls);
      closure.succeed(handle, calls[0]!.id, 'seen');
      expect(closure.seal(handle)).toMatchObject({ accepted: false, reason: 'pending_calls' });
      // @ts-expect-error an open snapshot is none that an adapter takes
      expect(() => conversation.results(closure.snapshot())).toThrow(TypeError);
    });
  });
}
