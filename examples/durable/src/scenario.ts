import type { Script } from '../../../test/support/stand-in.js';
import type { Api } from './providers.js';
import { killKinds, type KillKind, type KillPoint } from './witness.js';

/** Five conversations; in each the user writes three times, and each time the model calls four tools, six times over. */
export const conversations: Readonly<Record<string, Api>> = { c1: 'chat', c2: 'responses', c3: 'anthropic', c4: 'chat', c5: 'responses' };
export const messages = [1, 2, 3];
const turns = [1, 2, 3, 4, 5, 6];
const names = ['report', 'charge', 'lookup', 'broken'];

export const textOf = (conversation: string, message: number): string => `${conversation} message ${message}`;

/** The calls of one turn, in the order announced; who comes first differs from turn to turn. */
function announced(conversation: string, message: number, turn: number): { id: string; name: string }[] {
  const first = (message + turn) % names.length;
  return [...names.slice(first), ...names.slice(0, first)].map((name) => ({ id: `${conversation}_m${message}t${turn}_${name}`, name }));
}

export const allCalls = (): string[] => batches().flatMap(([...batch]) => announced(...batch).map((call) => call.id));

const batches = (): [string, number, number][] =>
  Object.keys(conversations).flatMap((conversation) =>
    messages.flatMap((message) => turns.map((turn): [string, number, number] => [conversation, message, turn])),
  );

/** What the model says depends on the request alone: a request sent twice has one answer. */
export const script: Script = ({ body }) => {
  const told = JSON.stringify(body);
  const [, conversation, message] = [...told.matchAll(/(c\d) message (\d)/g)].at(-1)!;
  const done = turns.filter((turn) => told.includes(`${conversation}_m${message}t${turn}_`)).length;
  return done < turns.length ? announced(conversation!, Number(message), done + 1) : 'done';
};

/** Every point at which the service can be killed, numbered in program order, conversation by conversation. */
function allSteps(): KillPoint[] {
  return batches().flatMap(([conversation, message, turn]) => {
    const calls = announced(conversation, message, turn).map((call) => call.id);
    const followUp = `${textOf(conversation, message)}, request ${turn + 1}`;
    return [
      ...calls.map((where): KillPoint => ({ kind: 'before a start', where })),
      ...calls.map((where): KillPoint => ({ kind: 'after an effect, before its entry', where })),
      ...calls.map((where): KillPoint => ({ kind: 'after an entry', where })),
      { kind: 'before a follow-up request', where: followUp },
      { kind: 'after a request, before its entry', where: followUp },
    ];
  });
}

export interface PlannedKill extends KillPoint {
  readonly step: number;
}

/**
 * The steps at which this seed kills. More than needed: a kill takes all five conversations down, and a call that was
 * lost on the way no longer comes to its own step. Effects that can't be repeated get a share of their own.
 */
export function planKills(seed: number): PlannedKill[] {
  const random = mulberry32(seed);
  const steps = allSteps().map((point, i): PlannedKill => ({ ...point, step: i + 1 }));
  const pick = (count: number, from: PlannedKill[]): PlannedKill[] => {
    const left = [...from];
    return Array.from({ length: count }, () => left.splice(Math.floor(random() * left.length), 1)[0]!);
  };
  const of = (kind: KillKind, charge?: boolean): PlannedKill[] =>
    steps.filter((step) => step.kind === kind && (charge === undefined || step.where.endsWith('_charge') === charge));
  return killKinds.flatMap((kind) =>
    kind === 'after an effect, before its entry' ? [...pick(5, of(kind, true)), ...pick(3, of(kind, false))] : pick(6, of(kind)),
  );
}

/** A small seeded generator of numbers in [0, 1). */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
