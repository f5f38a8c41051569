import { getEventListeners } from 'node:events';
import { createToolCallClosure, type ClosedSnapshot, type OpenAIFunctionCallOutput, type ToolCall } from 'tool-call-closure';
import { describe, expect, test } from 'vitest';
import { agentStep, type RunTool } from '../examples/agent-step.js';
import { approval, queue, replacement, steering, stepLimit, timeout } from '../examples/patterns.js';

const a = { id: 'a', name: 'read' };
const b = { id: 'b', name: 'write' };

const turnOf = (calls: readonly ToolCall[]) =>
  calls.map(({ id, name }) => ({ type: 'function_call', call_id: id, name, arguments: '{}' }));

/** What the model reads of each call, by id; fails where a call of the history has no result, or more than one. */
const results = (input: object[]) => {
  const items = input as { type?: string; call_id?: string; output?: string }[];
  const ids = (type: string) => items.filter((item) => item.type === type).map((item) => item.call_id);
  expect(ids('function_call_output').sort()).toEqual(ids('function_call').sort());
  const outputs = items.filter((item): item is OpenAIFunctionCallOutput => item.type === 'function_call_output');
  return Object.fromEntries(outputs.map((item) => [item.call_id, item.output]));
};

const told = (code: string, message: string, state: string) =>
  JSON.stringify({ error: { code, message, side_effect_state: state } });

const echo: RunTool = async (call) => `${call.name} done`;
const hang: RunTool = () => new Promise(() => {});
const obedient: RunTool = (_, signal) =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));

describe('a step of an agent loop', () => {
  const step = async (runTool: RunTool, signal = new AbortController().signal) => {
    const closure = createToolCallClosure();
    const input: object[] = turnOf([a, b]);
    const current = await agentStep(closure, input, [a, b], runTool, signal);
    return { current, closure, input, results: results(input) };
  };

  test('all tools answer', async () => {
    const { current, input, results } = await step(echo);
    expect(current).toBe(true);
    expect(results).toEqual({ a: 'read done', b: 'write done' });
    expect(input.slice(2)).toMatchObject([{ call_id: 'a' }, { call_id: 'b' }]);
  });

  test('one fails, one returns nothing', async () => {
    const { results } = await step(async (call) => {
      if (call === a) throw new Error('no such file');
    });
    expect(results).toEqual({ a: '{"error":{"code":"tool_error","message":"no such file"}}', b: 'null' });
  });

  test.each([
    ['hang', hang],
    ['obey', obedient],
  ])('an abort ends it, whether the tools %s or not', async (_, runTool) => {
    const controller = new AbortController();
    const stepping = step(async (call, signal) => (call === a ? 'read done' : runTool(call, signal)), controller.signal);
    setImmediate(() => controller.abort('The user pressed stop.'));
    const { current, results, closure } = await stepping;
    expect(current).toBe(true);
    expect(results).toEqual({ a: 'read done', b: told('aborted', 'The user pressed stop.', 'unknown') });
    expect(closure.snapshot()?.closed).toBe(true);
    expect(getEventListeners(controller.signal, 'abort').length).toBe(runTool === hang ? 0 : 1);
  });

  test('a signal that has aborted already still gives every call its result', async () => {
    let effects = 0;
    const { current, results } = await step(async (_, signal) => {
      signal.throwIfAborted();
      effects += 1;
    }, AbortSignal.abort('Too late.'));
    expect(current).toBe(true);
    expect(effects).toBe(0);
    expect(results).toEqual({ a: told('aborted', 'Too late.', 'unknown'), b: told('aborted', 'Too late.', 'unknown') });
  });

  test('a newer step takes over: the older one appends nothing', async () => {
    const closure = createToolCallClosure();
    const { signal } = new AbortController();
    const [older, newer]: [object[], object[]] = [[], turnOf([b])];
    const first = agentStep(closure, older, [a], hang, signal);
    const second = agentStep(closure, newer, [b], echo, signal);
    expect(await Promise.all([first, second])).toEqual([false, true]);
    expect(older).toEqual([]);
    expect(results(newer)).toEqual({ b: 'write done' });
  });

  test('a step that was sealed, then overtaken before it could look, appends nothing', async () => {
    const closure = createToolCallClosure();
    const input: object[] = [];
    const step = agentStep(closure, input, [], echo, new AbortController().signal);
    closure.begin([b]);
    expect(await step).toBe(false);
    expect(input).toEqual([]);
  });

  test('ten steps on one signal, with ids that repeat', async () => {
    const closure = createToolCallClosure();
    const { signal } = new AbortController();
    for (let turn = 0; turn < 10; turn += 1) {
      const input: object[] = turnOf([a]);
      expect(await agentStep(closure, input, [a], async () => turn, signal)).toBe(true);
      expect(results(input)).toEqual({ a: String(turn) });
    }
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});

describe('patterns', () => {
  test('timeout', async () => {
    const input: object[] = turnOf([a, b]);
    await timeout(createToolCallClosure(), input, [a, b], (call, signal) => (call === a ? hang : echo)(call, signal), 10);
    const { message } = (await new Promise<DOMException>((resolve) => {
      const signal = AbortSignal.timeout(1);
      signal.onabort = () => resolve(signal.reason as DOMException);
    })) as DOMException;
    expect(results(input)).toEqual({ a: told('timeout', message, 'unknown'), b: 'write done' });
  });

  test('replacement', async () => {
    const closure = createToolCallClosure();
    const run = new AbortController();
    const input: object[] = turnOf([a]);
    const step = agentStep(closure, input, [a], obedient, run.signal);

    const handle = replacement(closure, input, turnOf([b]), [b], run);
    void closure.track(handle, 'b', 'write done');
    const closed = (await closure.sealWhenSettled(handle)) as ClosedSnapshot;
    input.push(...closure.toOpenAIResponses(closed));

    expect(await step).toBe(false);
    expect(results(input)).toEqual({
      a: told('superseded', 'Tool call was superseded by a newer generation.', 'unknown'),
      b: 'write done',
    });
    // Each result stands after its own turn.
    expect(input).toMatchObject(['a', 'a', 'b', 'b'].map((call_id) => ({ call_id })));
    // What the old tool came to is told, and refused.
    expect(closure.snapshot()?.diagnostics).toMatchObject([{ reason: 'stale_generation', observedStatus: 'cancelled' }]);
  });

  test('replacement of a batch that was closed before', () => {
    const closure = createToolCallClosure();
    const input: object[] = [];
    closure.close(closure.begin([a]).handle);
    replacement(closure, input, turnOf([b]), [b], new AbortController());
    expect(input).toEqual(turnOf([b]));
  });

  test('steering', async () => {
    const closure = createToolCallClosure();
    const run = new AbortController();
    const input: object[] = turnOf([a, b]);
    const step = agentStep(closure, input, [a, b], (call, signal) => (call === a ? hang : echo)(call, signal), run.signal);
    await new Promise((resolve) => setImmediate(resolve));
    expect(await steering(run, step, input, 'Use the other file.')).toBe(true);
    expect(results(input)).toEqual({ a: told('steered', 'The user sent a new message.', 'unknown'), b: 'write done' });
    expect(input.at(-1)).toEqual({ role: 'user', content: 'Use the other file.' });
  });

  test('steering a run that was replaced leaves the history alone', async () => {
    const closure = createToolCallClosure();
    const run = new AbortController();
    const input: object[] = [];
    const step = agentStep(closure, input, [a], hang, run.signal);
    closure.begin([b]);
    expect(await steering(run, step, input, 'hello')).toBe(false);
    expect(input).toEqual([]);
  });

  test('approval denied', async () => {
    const ran: string[] = [];
    const closure = createToolCallClosure();
    const run: RunTool = async (call) => void ran.push(call.id);
    const closed = await approval(closure, [a, b], async (call) => call === a, run, new AbortController().signal);
    expect(ran).toEqual(['a']);
    expect(closed).toMatchObject({ closeReason: { status: 'complete' } });
    expect(closure.toOpenAIResponses().map((item) => item.output)).toEqual([
      'null',
      told('denied', 'The user denied this call.', 'not_started'),
    ]);
  });

  test('an abort while the user is asked starts nothing more', async () => {
    const ran: string[] = [];
    const closure = createToolCallClosure();
    const run = new AbortController();
    const approve = async (call: ToolCall) => {
      await new Promise((resolve) => setImmediate(resolve)); // time for the tool of the call before
      if (call === b) run.abort('stop');
      return true;
    };
    const closed = await approval(closure, [a, b], approve, async (call) => void ran.push(call.id), run.signal);
    expect(ran).toEqual(['a']);
    expect(closed).toMatchObject({ closeReason: { code: 'aborted' } });
    expect(closure.toOpenAIResponses().map((item) => item.output)).toEqual(['null', told('aborted', 'stop', 'unknown')]);
  });

  test('step limit', () => {
    const input: object[] = turnOf([a, b]);
    stepLimit(createToolCallClosure(), input, [a, b]);
    const text = told('step_limit', 'No steps are left.', 'not_started');
    expect(results(input)).toEqual({ a: text, b: text });
  });

  describe('queue', () => {
    const calls = ['1', '2', '3'].map((id) => ({ id, name: 'n' }));
    const notStarted = told('aborted', 'The run was aborted before this call started.', 'not_started');

    test('runs one call after the other', async () => {
      const closure = createToolCallClosure();
      const { signal } = new AbortController();
      let running = 0;
      const closed = await queue(closure, calls, async (call) => {
        running += 1;
        expect(running).toBe(1);
        await Promise.resolve();
        running -= 1;
        return call.id;
      }, signal);
      expect(closed).toMatchObject({ closeReason: { status: 'complete' } });
      expect(closure.toOpenAIResponses().map((item) => item.output)).toEqual(['1', '2', '3']);
      expect(getEventListeners(signal, 'abort')).toEqual([]);
    });

    test('tells after an abort which calls never started', async () => {
      const started: string[] = [];
      const closure = createToolCallClosure();
      const run = new AbortController();
      await queue(closure, calls, async ({ id }) => {
        started.push(id);
        if (id === '1') return 'done';
        run.abort('stop');
        return new Promise(() => {});
      }, run.signal);
      expect(started).toEqual(['1', '2']);
      expect(closure.toOpenAIResponses().map((item) => item.output)).toEqual([
        'done',
        told('aborted', 'stop', 'unknown'),
        notStarted,
      ]);
      expect(getEventListeners(run.signal, 'abort')).toEqual([]);
    });

    test('starts nothing where the run was aborted before', async () => {
      const closure = createToolCallClosure();
      await queue(closure, calls, () => Promise.reject(new Error('it was started')), AbortSignal.abort());
      expect(closure.toOpenAIResponses().map((item) => item.output)).toEqual([notStarted, notStarted, notStarted]);
    });

    test('starts nothing more once another batch has taken over', async () => {
      const started: string[] = [];
      const closure = createToolCallClosure();
      await queue(closure, calls, async ({ id }) => {
        started.push(id);
        closure.begin([b]);
      }, new AbortController().signal);
      await new Promise((resolve) => setImmediate(resolve));
      expect(started).toEqual(['1']);
    });
  });
});
