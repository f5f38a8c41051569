import { readFileSync } from 'node:fs';

export interface Block {
  readonly file: string;
  /** Line of the opening fence, counted from 1. */
  readonly line: number;
  readonly language: string;
  /** `run`: a program of its own, run and compared; `context`: a fragment, checked with the names of `context.d.ts`. */
  readonly mode: string;
  readonly code: string;
}

export const document = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');

/** Every fenced block of a Markdown document. */
export function blocks(file: string): Block[] {
  return [...document(file).matchAll(/^```(\w*) ?(\w*)\n([\s\S]*?)^```$/gm)].map(({ index, 1: language, 2: mode, 3: code }) => ({
    file,
    line: document(file).slice(0, index).split('\n').length,
    language: language!,
    mode: mode!,
    code: code!,
  }));
}

/** The cells of the table whose header begins so, without code marks. */
export function table(file: string, header: string): string[][] {
  const lines = document(file).split('\n');
  const head = lines.findIndex((line) => line.startsWith(`| ${header} |`));
  if (head === -1) throw new Error(`${file} has no table that begins with ${header}`);
  const end = lines.findIndex((line, at) => at > head && !line.startsWith('|'));
  return lines.slice(head, end).filter((_, at) => at !== 1).map(cells);
}

const cells = (line: string) =>
  line
    .slice(1, -1)
    .split('|')
    .map((cell) => cell.trim().replaceAll('`', ''));
