import { type BatchHandle, ToolCallClosure } from 'tool-call-closure';
import { describe, expect, it } from 'vitest';
import { named } from './support/batch.js';

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

const STATES = {
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
} satisfies Record<string, () => Scene>;

type Cell = string;

const verdict = (result: { accepted?: boolean | undefined; reason?: string; closeReason?: object | null }): Cell =>
  result.accepted === true ? 'accepted' : result.accepted === false ? result.reason! : closing(result.closeReason);

const closing = (reason: object | null | undefined): Cell =>
  !reason ? 'open' : 'code' in reason ? `closed: ${String(reason.code)}` : 'closed: complete';

const OPERATIONS: Record<string, (scene: Scene) => Cell | Promise<Cell>> = {
  'settle a pending call': ({ closure, handle }) => verdict(closure.settle(handle, 'todo', { status: 'success', content: 1 })),
  'settle a settled call': ({ closure, handle }) => verdict(closure.settle(handle, 'done', { status: 'error' })),
  'settle an unknown call': ({ closure, handle }) => verdict(closure.settle(handle, 'ghost', { status: 'cancelled' })),
  'track a pending call': async ({ closure, handle }) => verdict(await closure.track(handle, 'todo', Promise.resolve(1))),
  close: ({ closure, handle }) => verdict(closure.close(handle, { code: 'second' })),
  seal: ({ closure, handle }) => verdict(closure.seal(handle)),
  sealWhenSettled: ({ closure, handle }) =>
    Promise.race([closure.sealWhenSettled(handle).then(verdict), new Promise<Cell>((r) => setImmediate(r, 'waits'))]),
  'the signal aborts': ({ closure, abort }) => {
    abort();
    const view = closure.snapshot();
    return view === null ? 'nothing' : closing(view.closeReason);
  },
  begin: ({ closure }) => {
    const { superseded } = closure.begin([]);
    return superseded === null ? 'begins' : 'begins, supersedes';
  },
  adapters: ({ closure }) => {
    try {
      return `${closure.toOpenAIResponses().length} results`;
    } catch (error) {
      return (error as Error).constructor.name;
    }
  },
};

const COLUMNS = Object.keys(STATES) as (keyof typeof STATES)[];
const stale = 'stale_generation';
const shut = 'run_closed';

/** Cells in the order of COLUMNS. */
export const TABLE: Record<string, Cell[]> = {
  'settle a pending call': [stale, 'accepted', 'duplicate_settlement', shut, shut, shut, stale],
  'settle a settled call': [stale, 'duplicate_settlement', 'duplicate_settlement', shut, shut, shut, stale],
  'settle an unknown call': [stale, 'unknown_call', 'unknown_call', shut, shut, shut, stale],
  'track a pending call': [stale, 'accepted', 'duplicate_settlement', shut, shut, shut, stale],
  close: [stale, 'closed: second', 'closed: second', 'closed: complete', 'closed: cancelled', 'closed: aborted', stale],
  seal: [stale, 'pending_calls', 'closed: complete', 'closed: complete', 'closed: cancelled', 'closed: aborted', stale],
  sealWhenSettled: [stale, 'waits', 'closed: complete', 'closed: complete', 'closed: cancelled', 'closed: aborted', stale],
  'the signal aborts': ['nothing', 'closed: aborted', 'closed: aborted', 'closed: complete', 'closed: cancelled', 'closed: aborted', 'open'],
  begin: ['begins', 'begins, supersedes', 'begins, supersedes', 'begins', 'begins', 'begins', 'begins, supersedes'],
  adapters: ['TypeError', 'TypeError', 'TypeError', '2 results', '2 results', '2 results', 'TypeError'],
};

describe.each(COLUMNS)('in the state "%s"', (state) => {
  const refused = new Set([stale, shut, 'duplicate_settlement', 'unknown_call', 'pending_calls']);

  it.each(Object.keys(OPERATIONS))('%s', async (operation) => {
    const scene = STATES[state]();
    const before = scene.closure.snapshot();
    const cell = await OPERATIONS[operation]!(scene);
    expect(cell).toBe(TABLE[operation]![COLUMNS.indexOf(state)]);
    const now = scene.closure.snapshot();
    if (before === null || operation === 'begin') return;
    // A refusal is one diagnostic and nothing else; what closed before keeps its reason and its calls.
    expect(now!.diagnostics.length - before.diagnostics.length).toBe(refused.has(cell) ? 1 : 0);
    if (refused.has(cell) || before.closed) expect(now!.calls.map((call, i) => call === before.calls[i])).not.toContain(false);
    if (before.closed) expect(now!.closeReason).toBe(before.closeReason);
  });
});

it('every operation has its row', () => {
  expect(Object.keys(TABLE)).toEqual(Object.keys(OPERATIONS));
});
