import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

// The table of the house: which file may run caller code, and what it may import.

const source = (file: string) => readFileSync(new URL(`../src/${file}`, import.meta.url), 'utf8');
const code = (file: string) => source(file).replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
const imports = (file: string) =>
  [...code(file).matchAll(/^(import|export)\s+(type\s)?[^;]*?from '\.\/(\w+)\.js'/gm)].filter(([, , type]) => !type).map(([, , , name]) => name).sort();

it('has six files', () => {
  expect(readdirSync(new URL('../src', import.meta.url)).sort()).toEqual(['closure.ts', 'index.ts', 'input.ts', 'payloads.ts', 'text.ts', 'types.ts']);
});

it('imports at run time only what the house allows', () => {
  expect(imports('index.ts')).toEqual(['closure']);
  expect(imports('closure.ts')).toEqual(['input', 'payloads']);
  expect(imports('input.ts')).toEqual(['text']);
  for (const file of ['text.ts', 'payloads.ts', 'types.ts']) expect(imports(file)).toEqual([]);
});

it('throws only where the house allows, and nothing but TypeError and RangeError', () => {
  for (const file of ['index.ts', 'types.ts', 'text.ts', 'payloads.ts']) expect(code(file)).not.toMatch(/\bthrow\b/);
  for (const file of ['closure.ts', 'input.ts']) {
    expect([...new Set(code(file).match(/\bnew \w*(Error|Exception)\b/g))].filter((made) => !/ (Type|Range)Error$/.test(made))).toEqual([]);
  }
});

it('types.ts and index.ts make nothing of their own', () => {
  for (const file of ['types.ts', 'index.ts']) {
    const kept = code(file).replace(/^declare .*$/gm, '');
    expect(kept).not.toMatch(/^(export )?(abstract |async )?(const|let|var|function|class|enum|namespace)\b/m);
  }
});

it('closure.ts hands caller values on and does nothing with them', () => {
  const forbidden = ['JSON.', 'String(', 'Reflect.', 'Promise.resolve(value', 'addEventListener', 'removeEventListener', '.aborted ===', 'instanceof', 'Array.isArray', 'typeof handle', 'typeof value'];
  expect(forbidden.filter((text) => code('closure.ts').includes(text))).toEqual([]);
  const given = ['handle', 'outcome', 'content', 'error', 'reason', 'options', 'calls', 'value', 'message'];
  const methods = code('closure.ts').match(/^ {2}(?:begin|settle|succeed|fail|cancel|track|close|seal|sealWhenSettled)\([\s\S]*?^ {2}\}/gm)!;
  expect(methods).toHaveLength(9);
  for (const method of methods) {
    const parameters = method.slice(0, method.indexOf('{')).match(/\w+(?=\??:)/g)!.filter((name) => given.includes(name));
    const body = method.slice(method.indexOf('{'));
    for (const name of parameters) {
      expect(body).not.toMatch(new RegExp(`(?<![.\\w])${name}(\\.|\\?\\.|\\[)`));
      // Nor by destructuring, spreading, iterating, calling or making text of it.
      expect(body).not.toMatch(new RegExp(`([}\\]] = |\\.\\.\\.| of | in |\\$\\{)${name}\\b|(?<![.\\w])${name}(\\(| in )`));
    }
  }
});

it('changes state in closure.ts alone: the pure files keep no variable at module level', () => {
  for (const file of ['input.ts', 'text.ts', 'payloads.ts']) expect(code(file)).not.toMatch(/^(export )?(let|var)\b/m);
});

it('uses no clock, no timer, no randomness, no global state and no API of one runtime', () => {
  const all = ['closure.ts', 'input.ts', 'text.ts', 'payloads.ts'].map(code).join('\n');
  expect(all).not.toMatch(/\b(Date|performance|setTimeout|setInterval|queueMicrotask|Math\.random|crypto|process|Buffer|globalThis|require|fetch|console)\b/);
});

it('the lock file names no host, and pins what the build can do with', () => {
  const read = (file: string) => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
  expect(read('.npmrc').split('\n')).toContain('omit-lockfile-registry-resolved=true');
  expect(read('package-lock.json')).not.toContain('"resolved"');
  const vite = JSON.parse(read('package-lock.json')) as { packages: Record<string, { version: string }> };
  expect(vite.packages['node_modules/vite']?.version).toMatch(/^8\.3\./);
});
