import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import type { Outcome } from 'tool-call-closure';

/**
 * What the trial adds to the service: a ledger outside the process, and the points at which the process kills itself.
 * A program without a trial needs none of this.
 */
export type Entry =
  | { at: 'execution'; call: string; execution: string }
  | { at: 'effect'; call: string; execution: string }
  | { at: 'delivered'; call: string; outcome: Outcome }
  | { at: 'payload'; request: string; body: string; attempt: string }
  | { at: 'kill'; kind: KillKind; where: string };

export const killKinds = [
  'before a start',
  'after an effect, before its entry',
  'after an entry',
  'before a follow-up request',
  'after a request, before its entry',
] as const;
export type KillKind = (typeof killKinds)[number];

export interface KillPoint {
  readonly kind: KillKind;
  /** A call id, or the name of a request. */
  readonly where: string;
}

export const readLedger = (file: string): Entry[] =>
  existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Entry)
    : [];

const ledger = process.env['TRIAL_LEDGER'];
const key = ({ kind, where }: KillPoint): string => `${kind}: ${where}`;
const due = new Set((JSON.parse(process.env['TRIAL_KILLS'] ?? '[]') as KillPoint[]).map(key));
if (ledger !== undefined) for (const entry of readLedger(ledger)) if (entry.at === 'kill') due.delete(key(entry));

/** Synchronous, so that the line is in the file whatever happens to the process next. */
export function record(entry: Entry): void {
  if (ledger !== undefined) appendFileSync(ledger, `${JSON.stringify(entry)}\n`);
}

/** Ends the process at once, with no chance to clean up, if the trial has planned it here and it has not happened yet. */
export function killPoint(kind: KillKind, where: string): void {
  if (!due.has(key({ kind, where }))) return;
  record({ at: 'kill', kind, where });
  process.kill(process.pid, 'SIGKILL');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}
