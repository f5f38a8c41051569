import { type BatchHandle, type Snapshot, ToolCallClosure } from 'tool-call-closure';
import { describe, expect, it } from 'vitest';
import { named } from './support/batch.js';
import { STATE_TABLE, STATES as COLUMNS, type Cell } from './support/state-table.js';

// Every cell of state × operation. The batch announces `done` and `todo`; `settled` states have both reported.

interface Scene {
  closure: ToolCallClosure;
  handle: BatchHandle;
  abort: () => void;
}

const announced = (settled: string[]): Scene => {
  const closure = new ToolCallClosure();
  const controller = new AbortController();
  const { handle } = closure.begin(named('done', 'todo'), { signal: controller.signal });
  for (const id of settled) closure.succeed(handle, id, id);
  return { closure, handle, abort: () => controller.abort() };
};

const after = (scene: Scene, action: (scene: Scene) => unknown): Scene => {
  action(scene);
  return scene;
};

const SCENES = {
  'no batch yet': (): Scene => {
    const { handle, abort } = announced([]);
    return { closure: new ToolCallClosure(), handle, abort };
  },
  open: () => announced(['done']),
  'open, all settled': () => announced(['done', 'todo']),
  sealed: () => after(announced(['done', 'todo']), ({ closure, handle }) => closure.seal(handle)),
  closed: () => after(announced(['done']), ({ closure, handle }) => closure.close(handle, 'first')),
  aborted: () => after(announced(['done']), ({ abort }) => abort()),
  superseded: () => after(announced(['done']), ({ closure }) => closure.begin(named('new'))),
} satisfies Record<(typeof COLUMNS)[number], () => Scene>;

type Result = { accepted?: boolean | undefined; reason?: string; closeReason?: { status: string } | null };

/** The cell that a result amounts to, given the snapshot before. */
function verdict(before: Snapshot | null, result: Result): Cell {
  if (result.accepted === true) return 'accepted';
  if (result.accepted === false) return result.reason!;
  if (before?.closed) return 'its snapshot';
  return result.closeReason?.status === 'complete' ? 'seals' : 'closes';
}

const OPERATIONS: Record<string, (scene: Scene, before: Snapshot | null) => Cell | Promise<Cell>> = {
  'settle a pending call': ({ closure, handle }, before) =>
    verdict(before, closure.settle(handle, 'todo', { status: 'success', content: 1 })),
  'settle a settled call': ({ closure, handle }, before) => verdict(before, closure.settle(handle, 'done', { status: 'error' })),
  'settle an unknown call': ({ closure, handle }, before) =>
    verdict(before, closure.settle(handle, 'ghost', { status: 'cancelled' })),
  'track a pending call': async ({ closure, handle }, before) =>
    verdict(before, await closure.track(handle, 'todo', Promise.resolve(1))),
  close: ({ closure, handle }, before) => verdict(before, closure.close(handle, { code: 'second' })),
  seal: ({ closure, handle }, before) => verdict(before, closure.seal(handle)),
  sealWhenSettled: ({ closure, handle }, before) =>
    Promise.race([
      closure.sealWhenSettled(handle).then((result) => verdict(before, result)),
      new Promise<Cell>((resolve) => setImmediate(resolve, 'waits')),
    ]),
  'the signal aborts': ({ closure, abort }, before) => {
    abort();
    return closure.snapshot() === before ? 'nothing' : verdict(before, closure.snapshot()!);
  },
  begin: ({ closure }) => (closure.begin([]).superseded === null ? 'begins' : 'begins, supersedes'),
  adapters: ({ closure }) => {
    try {
      expect(closure.toOpenAIResponses().map(({ call_id }) => call_id)).toEqual(['done', 'todo']);
      return 'the payload';
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      return 'TypeError';
    }
  },
};

describe.each(COLUMNS)('in the state "%s"', (state) => {
  const refused = new Set(['stale_generation', 'run_closed', 'duplicate_settlement', 'unknown_call', 'pending_calls']);

  it.each(Object.keys(OPERATIONS))('%s', async (operation) => {
    const scene = SCENES[state]();
    const before = scene.closure.snapshot();
    const cell = await OPERATIONS[operation]!(scene, before);
    expect(cell).toBe(STATE_TABLE[operation]![COLUMNS.indexOf(state)]);
    const now = scene.closure.snapshot();
    if (before === null || operation === 'begin') return;
    // A refusal is one diagnostic and nothing else; what closed before keeps its reason and its calls.
    expect(now!.diagnostics.length - before.diagnostics.length).toBe(refused.has(cell) ? 1 : 0);
    if (refused.has(cell) || before.closed) expect(now!.calls.map((call, i) => call === before.calls[i])).not.toContain(false);
    if (before.closed) expect(now!.closeReason).toBe(before.closeReason);
    else if (cell === 'closes') expect(now!.closeReason).toMatchObject({ code: operation === 'close' ? 'second' : 'aborted' });
    else if (cell !== 'seals') expect(now!.closed).toBe(false);
  });
});

it('every operation has its row', () => {
  expect(Object.keys(STATE_TABLE)).toEqual(Object.keys(OPERATIONS));
});
