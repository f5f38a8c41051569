import { ToolCallClosure, type ToolCallClosureOptions } from 'tool-call-closure';
import { expect } from 'vitest';

export const named = (...ids: string[]) => ids.map((id) => ({ id, name: `tool_${id}` }));

/** A closure with one open batch. */
export function open(ids: string[], options?: ToolCallClosureOptions) {
  const closure = new ToolCallClosure(options);
  return { closure, ...closure.begin(named(...ids)) };
}

/** A value of a kind that the types forbid. */
export const wrong = (value: unknown) => value as never;

type ErrorClass = typeof TypeError | typeof RangeError;

/** The operation throws this class, names each culprit, and leaves state, diagnostics and generation number as they were. */
export function refuses(closure: ToolCallClosure, operation: () => unknown, kind: ErrorClass, ...culprits: string[]) {
  const before = [closure.snapshot(), closure.droppedDiagnostics, closure.activeGeneration];
  let thrown: unknown;
  try {
    operation();
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(kind);
  expect((thrown as Error).constructor).toBe(kind);
  for (const culprit of culprits) expect((thrown as Error).message).toContain(culprit);
  // The same object, so nothing that a snapshot shows has changed.
  expect(closure.snapshot()).toBe(before[0]);
  expect([closure.droppedDiagnostics, closure.activeGeneration]).toEqual(before.slice(1));
}

export function deeplyFrozen(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  const proto: unknown = Object.getPrototypeOf(value);
  return (
    Object.isFrozen(value) &&
    (proto === Object.prototype || proto === Array.prototype) &&
    Object.values(value).every(deeplyFrozen)
  );
}

/** Bytes of UTF-8, counted by code point: independent of the encoder that the library uses. A lone surrogate counts 3. */
export function utf8(text: string): number {
  let bytes = 0;
  for (const character of text) {
    const point = character.codePointAt(0) as number;
    bytes += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
  }
  return bytes;
}
