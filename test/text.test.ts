import fc from 'fast-check';
import { ToolCallClosure } from 'tool-call-closure';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { exceeds, truncate, wellFormed } from '../src/text.js';
import { utf8 } from './support/batch.js';

const seed = Number(process.env.FC_SEED ?? 20260801);

/** Characters of 1 to 4 bytes, lone surrogates, a byte order mark, and chunk boundaries that fall inside pairs. */
const characters = fc.constantFrom('x', '\n', 'é', 'ж', '\u07ff', '\u0800', '漢', '\ufeff', '\u{1F600}', '\u{10FFFF}', '\ud83d', '\ude00', '\ufffd');
const texts = fc.array(characters, { maxLength: 24 }).map((parts) => parts.join(''));

/** U+FFFD for unpaired halves, by code point. */
const repaired = (text: string) => [...text].map((c) => (/^[\ud800-\udfff]$/.test(c) ? '\ufffd' : c)).join('');

/** The longest run of whole code points that fits, written without an encoder. */
function cut(text: string, limit: number): string {
  if (utf8(text) <= limit) return repaired(text);
  const room = limit < 3 ? limit : limit - 3;
  let kept = '';
  for (const character of repaired(text)) {
    if (utf8(kept) + utf8(character) > room) break;
    kept += character;
  }
  return limit < 3 ? kept : `${kept}...`;
}

describe('truncate', () => {
  it('agrees with a model that counts code points, at every small limit', () => {
    fc.assert(
      fc.property(texts, fc.integer({ min: 1, max: 40 }), (text, limit) => {
        const result = truncate(text, limit);
        expect(result).toBe(cut(text, limit));
        expect(utf8(result)).toBeLessThanOrEqual(limit);
      }),
      { seed, numRuns: 20_000 },
    );
  });

  it.each([1, 2, 3, 4, 5, 6, 7, 8])('to %i bytes: every mix of characters of 1 to 4 bytes', (limit) => {
    const alphabet = ['x', 'é', '漢', '\u{1F600}', '\ud83d', '\ufeff'];
    let mixes = [''];
    for (let length = 0; length < 5; length += 1) {
      mixes = ['', ...mixes.flatMap((text) => alphabet.map((character) => text + character))];
      for (const text of mixes) if (truncate(text, limit) !== cut(text, limit)) expect.fail(JSON.stringify([text, limit]));
    }
    expect(mixes.length).toBeGreaterThan(7000);
  });

  it.each<[string, number, string]>([
    ['abcdef', 6, 'abcdef'],
    ['abcdefg', 6, 'abc...'],
    ['abcdefg', 3, '...'],
    ['abcdefg', 2, 'ab'],
    ['漢字', 2, ''],
    ['漢字', 5, '...'],
    ['\u{1F600}\u{1F600}', 7, '\u{1F600}...'],
    ['\ufeffabc', 6, '\ufeffabc'],
    ['\ufeffabcd', 6, '\ufeff...'],
    ['x\ud83d', 4, 'x\ufffd'],
    ['\ud83d\ud83d', 5, '...'],
    ['abc', Number.MAX_SAFE_INTEGER, 'abc'],
  ])('%j to %i bytes gives %j', (text, limit, result) => {
    expect(truncate(text, limit)).toBe(result);
  });

  it('never splits a pair across its own reading boundary', () => {
    for (let prefix = 0; prefix < 8; prefix += 1) {
      const text = 'x'.repeat(prefix) + '\u{1F600}'.repeat(2000);
      expect(truncate(text, 4096)).toBe(cut(text, 4096));
    }
  });
});

describe('exceeds', () => {
  it('agrees with a count by code point, at and beside the exact limit', () => {
    fc.assert(
      fc.property(texts, fc.nat(3), (text, off) => {
        const bytes = utf8(text);
        for (const limit of [bytes - off, bytes + off].filter((n) => n > 0)) expect(exceeds(text, limit)).toBe(bytes > limit);
      }),
      { seed, numRuns: 10_000 },
    );
  });

  it.each(['x', 'é', 'ж', '\u07ff', '\u0800', '漢', '\u{1F600}', '\ud83d'])('counts long texts of %j whole, wherever a chunk ends', (character) => {
    for (const prefix of ['', 'x', 'xx', 'é']) {
      const text = prefix + character.repeat(30_000);
      const bytes = utf8(text);
      expect([exceeds(text, bytes), exceeds(text, bytes - 1)]).toEqual([false, true]);
    }
  });
});

it('counts on where a chunk ends exactly at the limit', () => {
  const text = `${'漢'.repeat(5461)}x`;
  expect([exceeds(text, 16_384), exceeds(`${text}x`, 16_384)]).toEqual([false, true]);
});

describe('well-formed text', () => {
  const builtIn = Object.getOwnPropertyDescriptor(String.prototype, 'toWellFormed');
  afterEach(() => {
    if (builtIn) Object.defineProperty(String.prototype, 'toWellFormed', builtIn);
  });

  it.each(['with the built-in', 'without it, as on Node 18'])('%s: agrees with a model', (where) => {
    if (where.startsWith('without')) delete (String.prototype as { toWellFormed?: unknown }).toWellFormed;
    fc.assert(
      fc.property(texts, (text) => {
        expect(wellFormed(text)).toBe(repaired(text));
      }),
      { seed, numRuns: 5_000 },
    );
  });
});

describe('what is never scanned', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it('a result below a third of the limit, or below a half without a 3-byte character, or longer in units, is not encoded', () => {
    const encode = vi.spyOn(TextEncoder.prototype, 'encodeInto');
    const closure = new ToolCallClosure({ maxResultBytes: 300 });
    const { handle } = closure.begin(['a', 'b', 'c'].map((id) => ({ id, name: 'n' })));
    closure.succeed(handle, 'a', '漢'.repeat(100));
    closure.succeed(handle, 'c', 'ж'.repeat(150));
    expect(() => closure.succeed(handle, 'b', 'x'.repeat(301))).toThrow(RangeError);
    expect(encode).not.toHaveBeenCalled();
    closure.succeed(handle, 'b', 'x'.repeat(151));
    expect(encode).toHaveBeenCalled();
  });

  it('the part of a long message that is cut off', () => {
    const encode = vi.spyOn(TextEncoder.prototype, 'encodeInto');
    const closure = new ToolCallClosure();
    const { handle } = closure.begin([{ id: 'a', name: 'n' }]);
    closure.fail(handle, 'a', new Error('x'.repeat(100_000_000)));
    expect(Math.max(...encode.mock.calls.map(([source]) => source!.length))).toBeLessThanOrEqual(4097);
  });

  it('memory is bounded by the text, never by the limit', () => {
    const closure = new ToolCallClosure({ maxMessageBytes: Number.MAX_SAFE_INTEGER, maxResultBytes: Number.MAX_SAFE_INTEGER, maxIdBytes: Number.MAX_SAFE_INTEGER });
    const { handle } = closure.begin([{ id: 'a', name: 'n' }, { id: 'b', name: 'n' }]);
    closure.fail(handle, 'a', '漢'.repeat(1000));
    closure.succeed(handle, 'b', '漢'.repeat(1000));
    expect(closure.seal(handle)).toMatchObject({ closed: true });
  });
});
