import { afterEach, expect, test, vi } from 'vitest';

afterEach(() => {
  vi.restoreAllMocks();
  process.exitCode = undefined;
});

test('the demo ends well', async () => {
  const told: string[] = [];
  vi.spyOn(console, 'log').mockImplementation((line: string) => void told.push(line));
  vi.spyOn(console, 'table').mockImplementation(() => {});
  await import('../../examples/agent-loop.js');
  expect(told.filter((line) => line.includes('FAILED'))).toEqual([]);
  expect(told.at(-1)).toMatch(/^\n(\d+) of \1 expectations hold\.$/);
  expect(process.exitCode).toBe(0);
});
