import { isDeepStrictEqual } from 'node:util';
import type { Outcome } from 'tool-call-closure';
import type { RecordedRequest } from '../../../test/support/stand-in.js';
import type { Json } from './providers.js';
import { allCalls, conversations, messages, type PlannedKill } from './scenario.js';
import { batchesIn } from './transcript.js';
import { killKinds, type Entry } from './witness.js';

export interface Evidence {
  readonly seed: number;
  readonly planned: readonly PlannedKill[];
  readonly ledger: readonly Entry[];
  readonly sigkills: number;
  readonly requests: readonly RecordedRequest[];
  readonly ms: number;
}

/** Compares what the outside saw (the provider and the ledger) with what was promised, prints a table, and says whether all holds. */
export function check({ seed, planned, ledger, sigkills, requests, ms }: Evidence): boolean {
  const faults: string[] = [];
  const expect = (holds: boolean, fault: string): void => void (holds || faults.push(fault));
  const entries = <At extends Entry['at']>(at: At): Extract<Entry, { at: At }>[] =>
    ledger.filter((entry): entry is Extract<Entry, { at: At }> => entry.at === at);

  // Kills.
  const kills = entries('kill');
  const killsOf = killKinds.map((kind) => [kind, kills.filter((kill) => kill.kind === kind).length] as const);
  expect(kills.length === sigkills, `${kills.length} kills were recorded, but the process ended by SIGKILL ${sigkills} times`);
  expect(kills.length >= 20, `${kills.length} kills`);
  for (const [kind, count] of killsOf) expect(count >= 3, `${count} kills ${kind}`);

  // What the provider heard: nothing refused, and in the end one result for each call, in order.
  const accepted = requests.filter((request) => request.status === 200);
  expect(accepted.length === requests.length, `requests refused by rule ${requests.map((request) => request.rule).filter(Boolean).join(', ')}`);
  const told = new Map<string, string[]>();
  for (const [conversation, api] of Object.entries(conversations)) {
    const heard = accepted.filter((request) => JSON.stringify(request.body).includes(`${conversation} message`));
    const longest = heard.reduce((a, b) => (JSON.stringify(a.body).length >= JSON.stringify(b.body).length ? a : b));
    for (const { announced, answered } of batchesIn(api, longest.body as Json)) {
      const ids = answered.map((result) => result.id);
      expect(isDeepStrictEqual(announced, ids), `announced ${announced.join()}, answered ${ids.join()}`);
      for (const { id, text } of answered) told.set(id, [...(told.get(id) ?? []), text]);
    }
  }
  const calls = allCalls();
  const lost = calls.filter((call) => !told.has(call));
  const answeredTwice = calls.filter((call) => (told.get(call)?.length ?? 0) > 1);
  expect(lost.length === 0, `no result for ${lost.join()}`);
  expect(answeredTwice.length === 0, `several results for ${answeredTwice.join()}`);
  expect(told.size === calls.length, `results for ${told.size} calls, ${calls.length} announced`);

  // Tools: what was journaled never ran again, is what each replay got, and is what the model was told.
  const executions = groupBy(entries('execution'), (entry) => entry.call);
  const effects = groupBy(entries('effect'), (entry) => entry.call);
  const delivered = groupBy(entries('delivered'), (entry) => entry.call);
  const kinds = new Map<string, number>();
  const ranAgain: string[] = [];
  let lostAfterEffect = 0;
  for (const call of calls) {
    const outcomes = (delivered.get(call) ?? []).map((entry) => entry.outcome);
    const outcome = outcomes[0];
    expect(outcomes.every((other) => isDeepStrictEqual(other, outcome)), `replays of ${call} got different outcomes`);
    expect(outcome !== undefined, `no attempt got an outcome of ${call}`);
    if (!outcome) continue;
    const kind = outcome.status === 'success' ? 'success' : `error ${outcome.code}`;
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    expect(told.get(call)?.[0] === textOf(outcome), `the model was told something else of ${call} than the journal holds`);

    const ran = executions.get(call) ?? [];
    if (kind === 'error process_lost') {
      expect(call.endsWith('_charge'), `${call} may be repeated, but was given up`);
      expect(told.get(call)?.[0]?.includes('"side_effect_state":"unknown"') === true, `the side effects of ${call} are not told as unknown`);
      if (effects.has(call)) lostAfterEffect++;
    } else {
      if (!textOf(outcome).includes(ran.at(-1)?.execution ?? 'none')) ranAgain.push(call);
      const count = effects.get(call)?.length ?? 0;
      if (call.endsWith('_charge')) expect(count === 1, `${call} is told as done, but had ${count} effects`);
    }
  }
  expect(ranAgain.length === 0, `ran again after a result was journaled: ${ranAgain.join()}`);
  const times = (of: Map<string, unknown[]>, call: string): number => of.get(call)?.length ?? 0;
  const effectTwice = calls.filter((call) => call.endsWith('_charge') && (times(effects, call) > 1 || times(executions, call) > 1));
  expect(effectTwice.length === 0, `ran twice: ${effectTwice.join()}`);
  const again = calls.filter((call) => times(executions, call) > 1).length;
  for (const kill of kills) {
    if (kill.kind !== 'after an effect, before its entry' || !kill.where.endsWith('_charge')) continue;
    expect(told.get(kill.where)?.[0]?.includes('"process_lost"') === true, `${kill.where} was killed after its effect, but is not told as lost`);
  }

  // Payloads: each attempt built them anew, from the journal.
  const payloads = groupBy(entries('payload'), (entry) => entry.request);
  const differing = [...payloads].filter(([, built]) => new Set(built.map((entry) => entry.body)).size > 1);
  expect(differing.length === 0, `payloads differ between attempts: ${differing.map(([request]) => request).join()}`);
  const bodies = new Set([...payloads.values()].flatMap((built) => built.map((entry) => entry.body)));
  expect(accepted.every((request) => bodies.has(JSON.stringify(request.body))), 'the provider received a payload that no attempt built');
  const built = entries('payload').length;

  const attempts = new Set(entries('payload').map((entry) => entry.attempt)).size;
  const rows: [string, number | string][] = [
    ['kills (SIGKILL)', kills.length],
    ...killsOf.map(([kind, count]): [string, number] => [`  ${kind}`, count]),
    [`attempts for ${Object.keys(conversations).length * messages.length} handler runs`, attempts],
    ['calls announced', calls.length],
    ...[...kinds].sort().map(([kind, count]): [string, number] => [`  ${kind}`, count]),
    ['duplicates (results, or effects that must not repeat)', answeredTwice.length + effectTwice.length],
    ['losses (calls without a result)', lost.length],
    ['tools run again although their result was journaled', ranAgain.length],
    ['repeatable tools run again, for want of an entry', again],
    ['charges made', entries('effect').length],
    ['  of these told as process_lost', lostAfterEffect],
    ['requests the stand-in accepted', accepted.length],
    ['requests it refused', requests.length - accepted.length],
    ['different payloads', payloads.size],
    ['payloads built again by a replay', built - payloads.size],
    ['  not byte-identical', differing.length],
    ['seconds', (ms / 1000).toFixed(1)],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  console.log(`seed ${seed}: kills planned at steps ${planned.map((kill) => kill.step).sort((a, b) => a - b).join(' ')}`);
  for (const [name, value] of rows) console.log(`${name.padEnd(width)}  ${String(value).padStart(5)}`);
  for (const fault of faults) console.error(`fault: ${fault}`);
  console.log(faults.length === 0 ? 'all holds' : `${faults.length} faults`);
  return faults.length === 0;
}

function groupBy<T>(items: readonly T[], key: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(key(item), [...(groups.get(key(item)) ?? []), item]);
  return groups;
}

/** What the model should read, written down here once more, apart from the library. */
function textOf(outcome: Outcome): string {
  if (outcome.status === 'success') return String(outcome.content);
  const { code, message, sideEffectState } = outcome;
  return JSON.stringify({ error: { code, message, ...(sideEffectState != null && { side_effect_state: sideEffectState }) } });
}
