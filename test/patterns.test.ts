import { getEventListeners } from 'node:events';
import { createToolCallClosure, type OpenAIFunctionCallOutput, type ToolCall } from 'tool-call-closure';
import { describe, expect, test } from 'vitest';
import { agentStep, type Conversation, type RunTool } from '../examples/agent-step.js';
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

/** A conversation whose history ends on these calls. */
const announcing = (calls: readonly ToolCall[]): Conversation => ({
  closure: createToolCallClosure(),
  input: turnOf(calls),
  appended: 0,
});

describe('a step of an agent loop', () => {
  const step = async (runTool: RunTool, signal = new AbortController().signal) => {
    const conversation = announcing([a, b]);
    const current = await agentStep(conversation, [], [a, b], runTool, signal);
    return { current, ...conversation, results: results(conversation.input) };
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
    const conversation = announcing([b]);
    const { signal } = new AbortController();
    const first = agentStep(conversation, [], [a], hang, signal);
    const second = agentStep(conversation, [], [b], echo, signal);
    expect(await Promise.all([first, second])).toEqual([false, true]);
    expect(results(conversation.input)).toEqual({ b: 'write done' });
    expect(conversation.appended).toBe(2);
  });

  test('a step that was sealed, then overtaken before it could look, appends nothing', async () => {
    const conversation = announcing([]);
    const step = agentStep(conversation, [], [], echo, new AbortController().signal);
    conversation.closure.begin([b]);
    expect(await step).toBe(false);
    expect(conversation).toMatchObject({ input: [], appended: 0 });
  });

  test('a turn that begin refuses is not stored', async () => {
    const conversation = announcing([]);
    const step = agentStep(conversation, turnOf([a, a]), [a, a], echo, new AbortController().signal);
    await expect(step).rejects.toThrow('nothing was registered');
    expect(conversation.input).toEqual([]);
    await agentStep(conversation, turnOf([a]), [a], echo, new AbortController().signal);
    expect(results(conversation.input)).toEqual({ a: 'read done' });
  });

  test('ten steps on one signal, with ids that repeat', async () => {
    const conversation = announcing([]);
    const { signal } = new AbortController();
    for (let turn = 1; turn <= 10; turn += 1) {
      conversation.input.splice(0, Infinity, ...turnOf([a]));
      expect(await agentStep(conversation, [], [a], async () => turn, signal)).toBe(true);
      expect(results(conversation.input)).toEqual({ a: String(turn) });
      expect(conversation.appended).toBe(turn);
    }
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});

describe('patterns', () => {
  test('timeout', async () => {
    const conversation = announcing([a, b]);
    const run = new AbortController();
    await timeout(conversation, [], [a, b], (call, signal) => (call === a ? hang : echo)(call, signal), run, 10);
    const { message } = run.signal.reason as DOMException;
    expect(results(conversation.input)).toEqual({ a: told('timeout', message, 'unknown'), b: 'write done' });
  });

  test('a deadline that is not reached aborts nothing', async () => {
    const conversation = announcing([a]);
    const run = new AbortController();
    await timeout(conversation, [], [a], echo, run, 1);
    await new Promise((resolve) => AbortSignal.timeout(5).addEventListener('abort', resolve));
    expect(run.signal.aborted).toBe(false);
  });

  // Whatever the moment, the old calls get their results once, before the new message.
  test.each([
    ['while the tool runs', 0, false],
    ['in the moment after its batch has closed', 1, false],
    ['a little later', 2, false],
    ['later still', 3, false],
    ['after its step', 20, false],
    ['after an abort in the same moment', 0, true],
  ])('replacement %s', async (_, ticks, abortFirst) => {
    const conversation = announcing([a]);
    const { closure, input } = conversation;
    const run = new AbortController();
    let answer!: (text: string) => void;
    const step = agentStep(conversation, [], [a], () => new Promise((resolve) => (answer = resolve)), run.signal);
    if (ticks > 0) answer('read done');
    for (let tick = 0; tick < ticks; tick += 1) await null;
    if (abortFirst) run.abort('stop');
    replacement(conversation, run, 'Something else.');
    answer('late');
    await step;
    expect(Object.keys(results(input))).toEqual(['a']);
    expect(input.at(-1)).toEqual({ role: 'user', content: 'Something else.' });
    expect(input).toHaveLength(3);
    expect(closure.activeGeneration).toBe(2);
  });

  test('replacement after a step limit owes nothing', () => {
    const conversation = announcing([a]);
    stepLimit(conversation, [a]);
    replacement(conversation, new AbortController(), 'hello');
    expect(Object.keys(results(conversation.input))).toEqual(['a']);
    expect(conversation.input).toHaveLength(3);
  });

  test('replacement before the first step owes nothing', () => {
    const conversation = announcing([]);
    replacement(conversation, new AbortController(), 'hello');
    expect(conversation.input).toEqual([{ role: 'user', content: 'hello' }]);
  });

  test('steering', async () => {
    const conversation = announcing([a, b]);
    const { input } = conversation;
    const run = new AbortController();
    const step = agentStep(conversation, [], [a, b], (call, signal) => (call === a ? hang : echo)(call, signal), run.signal);
    await new Promise((resolve) => setImmediate(resolve));
    expect(await steering(run, step, conversation, 'Use the other file.')).toBe(true);
    expect(results(input)).toEqual({ a: told('steered', 'The user sent a new message.', 'unknown'), b: 'write done' });
    expect(input.at(-1)).toEqual({ role: 'user', content: 'Use the other file.' });
  });

  test('steering a run that was replaced leaves the history to its new owner', async () => {
    const conversation = announcing([]);
    const run = new AbortController();
    const step = agentStep(conversation, [], [a], hang, run.signal);
    conversation.closure.begin([b]);
    expect(await steering(run, step, conversation, 'hello')).toBe(false);
    expect(conversation.input).toEqual([]);
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
    const conversation = announcing([a, b]);
    stepLimit(conversation, [a, b]);
    const text = told('step_limit', 'No steps are left.', 'not_started');
    expect(results(conversation.input)).toEqual({ a: text, b: text });
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
