/** What the bytes of a request hold: a JSON value, or why they hold none. */
export type RawBody = { readonly value: unknown; readonly fault: null } | { readonly value: null; readonly fault: string };

/**
 * Providers read a body with parsers that refuse an unpaired surrogate escape. `JSON.parse` lets it pass, so the text
 * is checked before it is parsed.
 */
export function readJson(bytes: Uint8Array): RawBody {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return { value: null, fault: 'the bytes are not UTF-8' };
  }
  const fault = unpairedSurrogateEscape(text);
  if (fault !== null) return { value: null, fault };
  try {
    return { value: JSON.parse(text), fault: null };
  } catch {
    return { value: null, fault: 'the text is not JSON' };
  }
}

/** In JSON a backslash stands only inside a string, so escapes can be found without parsing the rest. */
export function unpairedSurrogateEscape(text: string): string | null {
  for (let at = text.indexOf('\\'); at !== -1; at = text.indexOf('\\', at)) {
    const unit = escapedUnit(text, at);
    if (unit === null) {
      at += 2;
    } else if (isLow(unit)) {
      return `low surrogate without a high one at character ${at}`;
    } else if (isHigh(unit)) {
      const next = escapedUnit(text, at + 6);
      if (next === null) return `high surrogate without a low one at character ${at}`;
      if (!isLow(next)) return `high surrogate followed by another escape at character ${at}`;
      at += 12;
    } else {
      at += 6;
    }
  }
  return null;
}

function escapedUnit(text: string, at: number): number | null {
  const match = /^\\u([0-9a-fA-F]{4})/.exec(text.slice(at, at + 6));
  return match ? Number.parseInt(match[1]!, 16) : null;
}

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;
