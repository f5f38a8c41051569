import { readFileSync } from 'node:fs';
import { createContext, runInContext, runInNewContext } from 'node:vm';
import ts from 'typescript';
import {
  createToolCallClosure,
  type BatchHandle,
  type ClosedSnapshot,
  type ToolCallClosure,
} from 'tool-call-closure';
import { describe, expect, test } from 'vitest';
import { unhandledRejections } from './support/unhandled.js';

// What people who run agent loops reported in public, each boiled down to the smallest input, under the name of its kind.

const a = { id: 'a', name: 'read' };
const b = { id: 'b', name: 'write' };
const c = { id: 'c', name: 'list' };

const begun = (calls = [a], signal?: AbortSignal) => {
  const closure = createToolCallClosure();
  return { closure, handle: closure.begin(calls, { signal }).handle };
};

const closedSnapshot = (closure: ToolCallClosure): ClosedSnapshot => {
  const snapshot = closure.snapshot();
  if (!snapshot?.closed) throw new Error('the batch is open');
  return snapshot;
};

const settlements = (closure: ToolCallClosure) => closure.snapshot()?.calls.map((call) => call.settlement);

/** Ids and texts, which must be the same through every adapter. */
const exported = (closure: ToolCallClosure) => {
  const chat = closure.toOpenAIChatCompletions().map((item) => [item.tool_call_id, item.content]);
  expect(closure.toOpenAIResponses().map((item) => [item.call_id, item.output])).toEqual(chat);
  expect(closure.toAnthropicToolResults().map((item) => [item.tool_use_id, item.content])).toEqual(chat);
  return chat;
};

const told = (code: string, message: string, state?: string) =>
  JSON.stringify({ error: { code, message, side_effect_state: state } });

describe('aborts', () => {
  test('abort leaves a call open (openai/codex#394, langchain-ai/langchainjs#8570)', () => {
    const controller = new AbortController();
    const { closure } = begun([a, b], controller.signal);
    controller.abort('stop');
    expect(settlements(closure)).toMatchObject(Array(2).fill({ provenance: 'synthetic', code: 'aborted' }));
    expect(exported(closure)).toEqual([
      ['a', told('aborted', 'stop', 'unknown')],
      ['b', told('aborted', 'stop', 'unknown')],
    ]);
  });

  test('abort keeps finished siblings (vellum-ai/vellum-assistant#99, turnstonelabs/turnstone#237)', () => {
    const controller = new AbortController();
    const { closure, handle } = begun([a, b], controller.signal);
    closure.succeed(handle, 'a', 'done');
    controller.abort('stop');
    expect(settlements(closure)?.map((settlement) => settlement?.provenance)).toEqual(['reported', 'synthetic']);
    expect(exported(closure)).toEqual([
      ['a', 'done'],
      ['b', told('aborted', 'stop', 'unknown')],
    ]);
  });

  test('abort before the loop looks (openai/openai-agents-js#1241)', () => {
    const { closure } = begun([a], AbortSignal.abort('stop'));
    expect(closedSnapshot(closure)).toMatchObject({ generation: 1, closeReason: { code: 'aborted' } });
    expect(exported(closure)).toEqual([['a', told('aborted', 'stop', 'unknown')]]);
  });

  test.each([
    ['the default AbortError', () => AbortSignal.abort().reason as DOMException, 'aborted'],
    ['a TimeoutError', () => new DOMException('late', 'TimeoutError'), 'timeout'],
    ['an API error with a code', () => Object.assign(new Error('slow'), { status: 429, code: 'rate_limit' }), 'rate_limit'],
    ['an API error without one', () => Object.assign(new Error('slow'), { status: 429, code: null }), 'cancelled'],
  ])('aborted with an Error (no thread): %s', (_, reason, code) => {
    const { closure, handle } = begun();
    const why = reason();
    closure.close(handle, why);
    const expected = { status: 'cancelled', code, message: why.message, sideEffectState: 'unknown' };
    expect(closedSnapshot(closure).closeReason).toEqual(expected);
    expect(why.message).not.toBe('');
    expect(exported(closure)).toEqual([['a', told(code, why.message, 'unknown')]]);
  });

  test('hung tool (openclaw/openclaw#110704, livekit/agents-js#2427)', async () => {
    const { closure, handle } = begun([a], AbortSignal.timeout(50));
    void closure.track(handle, 'a', new Promise(() => {}));
    const closed = await closure.sealWhenSettled(handle);
    expect(closed).toBe(closure.snapshot());
    expect(closed).toMatchObject({ closeReason: { code: 'timeout' }, calls: [{ settlement: { code: 'timeout' } }] });
  });
});

describe('batches', () => {
  test('one call throws (huggingface/smolagents#2457, earendil-works/pi#3084)', () => {
    const { closure, handle } = begun([a, b]);
    closure.fail(handle, 'a', new Error('x'));
    closure.succeed(handle, 'b', 1);
    closure.seal(handle);
    expect(settlements(closure)?.map((settlement) => settlement?.provenance)).toEqual(['reported', 'reported']);
    expect(exported(closure)).toEqual([
      ['a', told('tool_error', 'x')],
      ['b', '1'],
    ]);
  });

  test('only one of a batch answered (LiveBench/LiveBench#485)', () => {
    const { closure, handle } = begun([a, b, c]);
    closure.succeed(handle, 'a', 1);
    for (const adapter of ['toOpenAIChatCompletions', 'toOpenAIResponses', 'toAnthropicToolResults'] as const) {
      expect(() => closure[adapter]()).toThrow(/seal|close/);
      expect(() => closure[adapter]()).toThrow(TypeError);
    }
    expect(closure.seal(handle)).toMatchObject({ accepted: false, reason: 'pending_calls' });
  });

  test('two writers (RooCodeInc/Roo-Code#9248)', () => {
    const { closure, handle } = begun();
    closure.succeed(handle, 'a', 'first');
    expect(closure.fail(handle, 'a', new Error('second'))).toEqual({
      accepted: false,
      reason: 'duplicate_settlement',
      callId: 'a',
      generation: 1,
      observedStatus: 'error',
    });
    closure.seal(handle);
    expect(exported(closure)).toEqual([['a', 'first']]);
  });

  test('late result after stop (vercel/ai#8605, TanStack/ai#1220)', () => {
    const { closure, handle } = begun();
    const closed = closure.close(handle) as ClosedSnapshot;
    const kept = structuredClone(closed);
    const before = exported(closure);
    const refusal = { reason: 'run_closed', callId: 'a', generation: 1, observedStatus: 'success' };
    expect(closure.succeed(handle, 'a', 1)).toEqual({ accepted: false, ...refusal });
    expect(closed).toEqual(kept);
    expect(closure.snapshot()).toEqual({ ...kept, diagnostics: [refusal] });
    expect(exported(closure)).toEqual(before);
  });

  test('result of the old run (0xsline/OpenChatCut#125, assistant-ui/assistant-ui#6142)', () => {
    const { closure, handle } = begun();
    closure.begin([a]);
    expect(closure.succeed(handle, 'a', 1)).toMatchObject({ accepted: false, reason: 'stale_generation', generation: 1 });
    expect(closure.snapshot()).toMatchObject({ generation: 2, calls: [{ id: 'a', state: 'pending' }] });
  });

  test('ids repeat each turn (fw-ai/fireconnect#16, vllm-project/vllm#50295)', () => {
    const closure = createToolCallClosure();
    const call = { id: 'list_dir:0', name: 'list_dir' };
    let late: BatchHandle | undefined;
    for (let turn = 1; turn <= 10; turn += 1) {
      const { handle } = closure.begin([call]);
      if (late !== undefined) {
        expect(closure.succeed(late, call.id, `result ${turn - 1}`)).toMatchObject({ reason: 'stale_generation' });
      }
      expect(closure.snapshot()?.calls).toMatchObject([{ state: 'pending' }]);
      late = handle;
    }
    closure.succeed(late as BatchHandle, call.id, 'result 10');
    closure.seal(late as BatchHandle);
    expect(exported(closure)).toEqual([['list_dir:0', 'result 10']]);
  });

  test('ghost call without id (lmstudio-ai/lmstudio-bug-tracker#830, earendil-works/pi#4854)', () => {
    const { closure, handle } = begun();
    const before = closure.snapshot();
    const begin = () => closure.begin([{ id: '', name: 'n' }, b]);
    expect(begin).toThrow(TypeError);
    expect(begin).toThrow('calls[0].id');
    expect(closure.snapshot()).toBe(before);
    expect(closure.succeed(handle, 'a', 1).accepted).toBe(true);
    expect(closure.begin([b]).generation).toBe(2);
  });

  test('name used as id (TanStack/ai#199, cloudwego/eino-ext#652)', () => {
    const { closure } = begun();
    const before = closure.snapshot();
    const begin = () => closure.begin([{ id: 'read', name: 'read' }, b, { id: 'read', name: 'read' }]);
    expect(begin).toThrow(TypeError);
    for (const part of ['read', '0', '2']) expect(begin).toThrow(part);
    expect(closure.snapshot()).toBe(before);
  });

  test('denied by the user (microsoft/autogen#5891)', () => {
    const { closure, handle } = begun();
    const message = 'The user denied this call.';
    closure.settle(handle, 'a', { status: 'cancelled', code: 'denied', message, sideEffectState: 'not_started' });
    closure.seal(handle);
    expect(exported(closure)).toEqual([['a', told('denied', message, 'not_started')]]);
    expect(closure.toOpenAIResponses()[0]?.output).toContain('side_effect_state":"not_started"');
  });
});

describe('results', () => {
  test('void tool (vercel/ai#5535, strands-agents/sdk-typescript#1097)', async () => {
    const { closure, handle } = begun();
    await closure.track(handle, 'a', Promise.resolve());
    closure.seal(handle);
    expect(settlements(closure)).toEqual([{ status: 'success', content: 'null', provenance: 'reported' }]);
    expect(exported(closure)).toEqual([['a', 'null']]);
  });

  const cyclic: Record<string, unknown> = {};
  cyclic.self = cyclic;
  test.each<[string, string, unknown, RegExp, ErrorConstructor]>([
    ['BigInt', 'langchain-ai/deepagentsjs#558', { n: 1n }, /./, TypeError],
    ['cycle', 'mastra-ai/mastra#14462', cyclic, /./, TypeError],
    ['oversized output', 'QwenLM/qwen-code#4049', 'x'.repeat(2_000_000), /maxResultBytes/, RangeError],
  ])('%s (%s)', async (_, __, value, why, kind) => {
    const { closure, handle } = begun([a, b]);
    await closure.track(handle, 'a', value);
    expect(settlements(closure)?.[0]).toEqual({
      status: 'error',
      code: 'invalid_result',
      message: expect.stringMatching(/^The tool completed, but its result was not kept: ./) as unknown,
      provenance: 'reported',
      sideEffectState: 'completed',
    });
    expect(settlements(closure)?.[0]).toMatchObject({ message: expect.stringMatching(why) as unknown });

    expect(() => closure.succeed(handle, 'b', value)).toThrow(kind);
    expect(() => closure.succeed(handle, 'b', value)).toThrow(why);
    expect(closure.snapshot()?.calls[1]?.state).toBe('pending');
  });

  test('un-awaited promise (no thread)', async () => {
    const { closure, handle } = begun();
    const fetchIt = async () => 'body';
    const succeed = () => closure.succeed(handle, 'a', fetchIt());
    expect(succeed).toThrow(TypeError);
    expect(succeed).toThrow('await');
    expect(closure.snapshot()?.calls[0]?.state).toBe('pending');
    expect(closure.succeed(handle, 'a', await fetchIt()).accepted).toBe(true);
  });

  test('cut emoji (anthropics/claude-code#3277, anthropics/claude-code#60394)', () => {
    const { closure, handle } = begun([a, b, c]);
    closure.succeed(handle, 'a', 'ok \uD83D');
    closure.fail(handle, 'b', new Error('\uDE00 failed'));
    closure.succeed(handle, 'c', { text: 'ok \uD83D' });
    closure.close(handle, 'cut \uD83D');
    for (const body of [closure.toOpenAIChatCompletions(), closure.toOpenAIResponses(), closure.toAnthropicToolResults()]) {
      // JSON.stringify writes an unpaired surrogate as an escape, which is what the providers refuse.
      expect(JSON.stringify(body)).not.toMatch(/(?<!\\)\\u[dD][89a-fA-F]/);
      expect(JSON.stringify(body)).toContain('ok \uFFFD');
    }
  });

  test('silent command (openclaw/openclaw#73117)', () => {
    const { closure, handle } = begun([a, b, c]);
    closure.succeed(handle, 'a', '');
    closure.fail(handle, 'b', '');
    closure.settle(handle, 'c', { status: 'cancelled', message: '' });
    closure.seal(handle);
    const blocks = closure.toAnthropicToolResults();
    expect(blocks[0]).toEqual({ type: 'tool_result', tool_use_id: 'a', content: '' });
    for (const block of blocks.slice(1)) {
      expect(block.is_error).toBe(true);
      expect(block.content).not.toBe('');
    }
    expect(exported(closure)).toHaveLength(3);
  });
});

describe('errors', () => {
  test.each<[string, unknown, string]>([
    ['error without message (no thread): an AggregateError', new AggregateError([new Error('ECONNREFUSED 127.0.0.1:1')]), 'ECONNREFUSED 127.0.0.1:1'],
    ['error without message (no thread): an Error', new Error(), 'Error'],
    ['error object of an SDK (QwenLM/qwen-code#1338)', { message: 'disk full' }, 'disk full'],
    ['error of another realm (aws/aws-durable-execution-sdk-js#306)', runInNewContext('new TypeError("far away")'), 'far away'],
  ])('%s', async (_, error, message) => {
    const { closure, handle } = begun([a, b]);
    closure.fail(handle, 'a', error);
    await closure.track(handle, 'b', Promise.reject(error));
    const settlement = { status: 'error', code: 'tool_error', message, provenance: 'reported' };
    expect(settlements(closure)).toEqual([settlement, settlement]);
  });

  test('nobody awaits the tool (veryfront/veryfront-code#2334)', async () => {
    const count = await unhandledRejections(async () => {
      const { closure, handle } = begun();
      closure.close(handle);
      const result = closure.track(handle, 'a', Promise.reject(new Error('x')));
      expect(await result).toMatchObject({ accepted: false, reason: 'run_closed', observedStatus: 'error' });
      void closure.track(handle, 'a', Promise.reject(new Error('y')));
    });
    expect(count).toBe(0);
  });
});

test('worker without `Buffer` (vercel/ai#2741, get-convex/r2#62)', () => {
  // A realm with what ECMAScript has, and the Encoding API.
  const realm = createContext({ TextEncoder, TextDecoder, messages: [] });
  expect(runInContext('[typeof Buffer, typeof process, typeof require, typeof AbortController]', realm)).toEqual(
    Array(4).fill('undefined'),
  );
  const modules: Record<string, object> = {};
  const load = (path: string): object => {
    const name = path.replace(/^\.\/(.*)\.js$/, '$1');
    if (modules[name] === undefined) {
      const source = readFileSync(new URL(`../src/${name}.ts`, import.meta.url), 'utf8');
      const compilerOptions = { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022 };
      const { outputText } = ts.transpileModule(source, { compilerOptions });
      const exports = (modules[name] = {});
      (runInContext(`(function (exports, require) {${outputText}\n})`, realm) as (...args: unknown[]) => void)(exports, load);
    }
    return modules[name] as object;
  };
  Object.assign(realm, load('./index.js'));
  const run = `
    const closure = createToolCallClosure({ maxMessageBytes: 10 });
    const calls = ['a', 'b', 'c', 'd', 'e'].map((id) => ({ id, name: 'n' }));
    const signal = { aborted: false, addEventListener(_, listener) { signal.abort = listener; }, removeEventListener() {} };
    const { handle } = closure.begin(calls, { signal });
    closure.succeed(handle, 'a', 'caf\\u00e9 \\ud83d');
    closure.fail(handle, 'b', new Error('a message too long'));
    closure.cancel(handle, 'c');
    closure.settle(handle, 'd', { status: 'success', content: [1] });
    closure.seal(handle);
    closure.track(handle, 'e', Promise.resolve()).then(() => messages.push('tracked'));
    closure.sealWhenSettled(handle).then(() => messages.push('sealed'));
    signal.reason = 'stop';
    signal.abort();
    closure.close(handle);
    JSON.stringify([closure.snapshot(), closure.toOpenAIChatCompletions(), closure.toOpenAIResponses(), closure.toAnthropicToolResults()]);
  `;
  const [snapshot, ...payloads] = JSON.parse(runInContext(run, realm) as string) as [{ closed: boolean }, ...unknown[][]];
  expect(snapshot.closed).toBe(true);
  expect(payloads[1]).toMatchObject([
    { output: 'café \uFFFD' },
    { output: told('tool_error', 'a messa...') },
    { output: told('cancelled', 'Tool ca...') },
    { output: '[1]' },
    { output: told('aborted', 'stop', 'unknown') },
  ]);
  expect(payloads.map((payload) => payload.length)).toEqual([5, 5, 5]);
});

describe('stored histories', () => {
  type Item = Record<string, unknown>;
  const lost = told('process_lost', 'The process ended before this call had a result.', 'unknown');

  /** Closes what a crash left open, and gives the snapshot to format. */
  const recover = (calls: { id: string; name: string }[]) => {
    const closure = createToolCallClosure();
    const { handle } = closure.begin(calls);
    closure.close(handle, {
      status: 'error',
      code: 'process_lost',
      message: 'The process ended before this call had a result.',
    });
    return closure;
  };

  const title = 'history saved with an open call (charmbracelet/crush#3881, MoonshotAI/kimi-code#771)';

  test(`${title}: Chat Completions`, () => {
    const call = (id: string) => ({ id, type: 'function', function: { name: 'read', arguments: '{}' } });
    const messages = JSON.parse(
      JSON.stringify([
        { role: 'user', content: 'go' },
        { role: 'assistant', content: null, tool_calls: [call('a'), call('b'), call('c')] },
        { role: 'tool', tool_call_id: 'b', content: 'done' },
      ]),
    ) as Item[];

    const turn = messages.findLast((message) => message.tool_calls !== undefined) as Item;
    const answered = new Set(messages.slice(messages.indexOf(turn)).map((message) => message.tool_call_id));
    const calls = (turn.tool_calls as ReturnType<typeof call>[]).filter(({ id }) => !answered.has(id));
    messages.push(...recover(calls.map((open) => ({ id: open.id, name: open.function.name }))).toOpenAIChatCompletions());

    expect(messages.slice(2)).toEqual([
      { role: 'tool', tool_call_id: 'b', content: 'done' },
      { role: 'tool', tool_call_id: 'a', content: lost },
      { role: 'tool', tool_call_id: 'c', content: lost },
    ]);
  });

  test(`${title}: Responses`, () => {
    const call = (call_id: string) => ({ type: 'function_call', id: `fc_${call_id}`, call_id, name: 'read', arguments: '{}' });
    const input = JSON.parse(
      JSON.stringify([call('a'), call('b'), { type: 'function_call_output', call_id: 'a', output: 'done' }]),
    ) as Item[];

    const outputs = new Set(input.filter((item) => item.type === 'function_call_output').map((item) => item.call_id));
    const calls = (input as ReturnType<typeof call>[]).filter((item) => item.type === 'function_call' && !outputs.has(item.call_id));
    input.push(...recover(calls.map((item) => ({ id: item.call_id, name: item.name }))).toOpenAIResponses());

    expect(input.slice(2)).toEqual([
      { type: 'function_call_output', call_id: 'a', output: 'done' },
      { type: 'function_call_output', call_id: 'b', output: lost },
    ]);
  });

  test(`${title}: Anthropic Messages`, () => {
    const use = (id: string) => ({ type: 'tool_use', id, name: 'read', input: {} });
    const messages = JSON.parse(
      JSON.stringify([
        { role: 'user', content: 'go' },
        { role: 'assistant', content: [{ type: 'text', text: 'Reading.' }, use('a'), use('b')] },
      ]),
    ) as Item[];

    const blocks = messages.at(-1)?.content as ReturnType<typeof use>[];
    const content = recover(blocks.filter((block) => block.type === 'tool_use')).toAnthropicToolResults();
    messages.push({ role: 'user', content });

    expect(messages.at(-1)).toEqual({
      role: 'user',
      content: ['a', 'b'].map((tool_use_id) => ({ type: 'tool_result', tool_use_id, content: lost, is_error: true })),
    });
  });

  test('custom tool call (Soju06/codex-lb#1168)', () => {
    const output = [
      { type: 'function_call', call_id: 'a', name: 'read', arguments: '{}' },
      { type: 'custom_tool_call', call_id: 'b', name: 'patch', input: '***' },
    ];
    const { closure, handle } = begun(output.map(({ call_id, name }) => ({ id: call_id, name })));
    closure.succeed(handle, 'a', 'read');
    closure.succeed(handle, 'b', 'patched');
    closure.seal(handle);

    const custom = new Set(output.filter((item) => item.type === 'custom_tool_call').map((item) => item.call_id));
    const input = closure
      .toOpenAIResponses()
      .map((item) => (custom.has(item.call_id) ? { ...item, type: 'custom_tool_call_output' as const } : item));

    expect(input).toEqual([
      { type: 'function_call_output', call_id: 'a', output: 'read' },
      { type: 'custom_tool_call_output', call_id: 'b', output: 'patched' },
    ]);
  });
});
