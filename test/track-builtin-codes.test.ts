import { createToolCallClosure } from 'tool-call-closure';
import { expect, test } from 'vitest';

test.each([
  ['AbortError', 'aborted'],
  ['TimeoutError', 'timeout'],
])('the code that %s stands for is exempt from maxCodeBytes, and tracking it never rejects', async (name, code) => {
  const closure = createToolCallClosure({ maxCodeBytes: 5 });
  const { handle } = closure.begin([{ id: 'a', name: 'n' }]);
  const reason = Object.assign(new Error('m'), { name });
  await expect(closure.track(handle, 'a', Promise.reject(reason))).resolves.toMatchObject({ settlement: { code } });
});
