export const STATES = ['no batch yet', 'open', 'open, all settled', 'sealed', 'closed', 'aborted', 'superseded'] as const;

export type Cell = string;

const stale = 'stale_generation';
const shut = 'run_closed';
const view = 'its snapshot';

/** What each operation gives in each state: a refusal's reason, or what happens. The README shows the same table. */
export const STATE_TABLE: Record<string, Cell[]> = {
  'settle a pending call': [stale, 'accepted', 'duplicate_settlement', shut, shut, shut, stale],
  'settle a settled call': [stale, 'duplicate_settlement', 'duplicate_settlement', shut, shut, shut, stale],
  'settle an unknown call': [stale, 'unknown_call', 'unknown_call', shut, shut, shut, stale],
  'track a pending call': [stale, 'accepted', 'duplicate_settlement', shut, shut, shut, stale],
  close: [stale, 'closes', 'closes', view, view, view, stale],
  seal: [stale, 'pending_calls', 'seals', view, view, view, stale],
  sealWhenSettled: [stale, 'waits', 'seals', view, view, view, stale],
  'the signal aborts': ['nothing', 'closes', 'closes', 'nothing', 'nothing', 'nothing', 'nothing'],
  begin: ['begins', 'begins, supersedes', 'begins, supersedes', 'begins', 'begins', 'begins', 'begins, supersedes'],
  adapters: ['TypeError', 'TypeError', 'TypeError', 'the payload', 'the payload', 'the payload', 'TypeError'],
};
