import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { ToolCallClosure } from 'tool-call-closure';
import { expect, it } from 'vitest';
import { named, open } from './support/batch.js';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as () => void;

const MiB = 1 << 20;

function heap(): number {
  gc();
  gc();
  return process.memoryUsage().heapUsed;
}

it('a cut message keeps nothing of the text that it was cut from', () => {
  const { closure, handle } = open(['a', 'b', 'c']);
  // In functions of their own, so that no frame of the test holds a text.
  const cuts = [
    () => void closure.fail(handle, 'a', new Error(`${'x'.repeat(100 * MiB)}y`)),
    () => void closure.cancel(handle, 'b', `${'漢'.repeat(20 * MiB)}y`),
    () => void closure.close(handle, new AggregateError([new Error(`${'z'.repeat(100 * MiB)}y`)])),
  ];
  const before = heap();
  for (const cut of cuts) cut();
  expect(heap() - before).toBeLessThan(10 * MiB);
  expect(closure.toOpenAIResponses()).toHaveLength(3);
});

it('inner messages are cut before they are joined: together these are longer than any string may be', () => {
  const { closure, handle } = open(['a']);
  const third = new Error('x'.repeat(2 ** 29 / 3 + 1));
  closure.settle(handle, 'a', { status: 'error', message: new AggregateError([third, third, third]) });
  expect(closure.snapshot()!.calls[0]!.settlement).toMatchObject({ message: `${'x'.repeat(4093)}...` });
});

it('a closure holds its newest batch alone, whatever happened before', () => {
  const closure = new ToolCallClosure();
  const before = heap();
  for (let i = 0; i < 300; i += 1) {
    const { handle } = closure.begin(named('a', 'b'));
    closure.succeed(handle, 'a', String(i).repeat(100_000));
    closure.snapshot();
    if (i % 3 === 0) closure.close(handle);
    if (i % 3 === 1) void closure.sealWhenSettled(handle);
  }
  expect(heap() - before).toBeLessThan(5 * MiB);
});
