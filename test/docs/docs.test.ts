import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ClosedSnapshot, ToolCallClosure } from 'tool-call-closure';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../src/input.js';
import { install, pack, scratch } from '../package/tarball.mjs';
import { STATE_TABLE, STATES } from '../support/state-table.js';
import { type Block, blocks, document, table } from './blocks.js';

// Documents are code: what they show is checked against the packed package, as a user would have it.

const root = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const DOCUMENTS = ['README.md', 'SECURITY.md', 'CHANGELOG.md', 'NOTICE.md'];
const all = DOCUMENTS.flatMap(blocks);
const at = ({ file, line }: Block) => `${file}:${line}`;

let folder: string;
const fileOf = ({ file, line, language }: Block) => join(folder, `${file}-${line}.${language === 'js' ? 'cjs' : 'ts'}`);

/** A fragment becomes the body of a function, its imports stay outside. */
function source({ mode, code }: Block): string {
  if (mode === 'run') return code;
  const imports = code.split('\n').filter((line) => line.startsWith('import '));
  const body = code.split('\n').filter((line) => !line.startsWith('import '));
  // On the first line, so that line numbers in messages stay near the document's.
  return `${imports.join(' ')} export async function fragment() {${body.join('\n')}}`;
}

beforeAll(() => {
  folder = scratch('docs');
  install(pack(folder), folder);
  for (const name of ['openai', '@anthropic-ai', '@types']) symlinkSync(root(`node_modules/${name}`), join(folder, 'node_modules', name));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'context.d.ts'), readFileSync(root('test/docs/context.d.ts')));
  cpSync(root('examples'), join(folder, 'examples'), { recursive: true, filter: (path) => !/examples.(durable|agent-loop|tsup|\.out)/.test(path) });
  for (const block of all) if (['ts', 'js'].includes(block.language)) writeFileSync(fileOf(block), source(block));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('code blocks', () => {
  it('say what they are: a program to run, a fragment with known names, or no code', () => {
    for (const block of all) {
      const kind = `${block.language} ${block.mode}`.trim();
      expect(['ts run', 'ts context', 'js run', 'sh', 'json', 'mermaid', 'text'], at(block)).toContain(kind);
    }
    expect(all.filter(({ mode }) => mode === 'run').length).toBeGreaterThanOrEqual(2);
  });

  it('compile in strict TypeScript under nodenext', () => {
    const files = all.filter(({ language }) => language === 'ts').map(fileOf);
    const program = ts.createProgram([...files, join(folder, 'context.d.ts')], {
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      target: ts.ScriptTarget.ES2022,
      lib: ['lib.es2023.d.ts'],
      types: ['node'],
      skipLibCheck: true,
      noEmit: true,
    });
    const faults = ts.getPreEmitDiagnostics(program).map(({ file, start, messageText }) => {
      const line = file && start !== undefined ? file.getLineAndCharacterOfPosition(start).line : 0;
      return `${file?.fileName.split('/').pop()} +${line + 1}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
    });
    expect(faults).toEqual([]);
  });

  it.each(all.filter(({ mode }) => mode === 'run').map((block) => [at(block), block] as const))('%s prints what its comments say', (_, block) => {
    let program = fileOf(block);
    if (block.language === 'ts') {
      program = program.replace(/\.ts$/, '.js');
      const options = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 };
      writeFileSync(program, ts.transpileModule(block.code, { compilerOptions: options }).outputText);
    }
    const printed = execFileSync(process.execPath, [program], { cwd: folder, encoding: 'utf8' });
    const promised = [...block.code.matchAll(/^\s*\/\/=> (.*)$/gm)].map(([, text]) => text);
    expect(promised.length).toBeGreaterThan(0);
    expect(printed.trimEnd().split('\n')).toEqual(promised);
  });

  it('the whole loops are those that the end-to-end tests run', () => {
    const tested = document('examples/loops.ts').replaceAll('export async function', 'async function');
    const shown = all.filter(({ code }) => code.includes('async function ')).map(({ code }) => code.slice(code.indexOf('async function ')));
    expect(shown).toHaveLength(2);
    for (const code of shown) expect(tested).toContain(code);
  });

  it('that are JSON parse, and are what an adapter gives', () => {
    const closure = new ToolCallClosure();
    const { handle } = closure.begin([{ id: 'a', name: 'n' }]);
    closure.settle(handle, 'a', { status: 'cancelled', code: 'denied', message: 'The user said no.', sideEffectState: 'not_started' });
    closure.seal(handle);
    const json = all.filter(({ language }) => language === 'json').map(({ code }) => code.trim());
    expect(json).toEqual([closure.toOpenAIResponses()[0]!.output]);
  });
});

describe('README tables', () => {
  it('options, in order, with the defaults of the code', () => {
    const [, ...rows] = table('README.md', 'option');
    expect(rows.map(([name, initial]) => [name, Number(initial)])).toEqual(Object.entries(limits(undefined)));
  });

  it('default codes of the shorthands', () => {
    const closure = new ToolCallClosure();
    const { handle } = closure.begin(['a', 'b'].map((id) => ({ id, name: 'n' })));
    const codes = [closure.fail(handle, 'a', 'x'), closure.cancel(handle, 'b')].map(
      (result) => result.accepted && result.settlement.status !== 'success' && result.settlement.code,
    );
    const [, , ...rows] = table('README.md', 'shorthand');
    expect(rows.map(([, , code]) => code)).toEqual(codes);
  });

  it('error texts among the symptoms, as the code gives them', () => {
    const closure = new ToolCallClosure();
    const { handle } = closure.begin([{ id: 'a', name: 'n' }]);
    const misuses = [
      () => closure.begin([{ id: '', name: 'n' }]),
      () => closure.succeed(handle, 'a', Promise.resolve()),
      () => closure.toOpenAIResponses(),
      () => closure.toOpenAIResponses(structuredClone(closure.snapshot()) as ClosedSnapshot),
    ];
    const told = table('README.md', "symptom or provider's text").flatMap(([symptom]) => (symptom!.startsWith('TypeError: ') ? [symptom!.slice(11)] : []));
    expect(told.length).toBe(misuses.length);
    for (const [i, misuse] of misuses.entries()) expect(misuse).toThrow(told[i]);
  });

  it('refusal reasons', () => {
    const reasons = new Set(Object.values(STATE_TABLE).flat().filter((cell) => /^[a-z]+_[a-z]+$/.test(cell)));
    const [, ...rows] = table('README.md', 'reason | when').map(([reason]) => reason);
    expect(rows.sort()).toEqual([...reasons].sort());
  });

  it('states', () => {
    expect(table('README.md', 'operation | no batch yet')).toEqual([
      ['operation', ...STATES],
      ...Object.entries(STATE_TABLE).map(([operation, row]) => [operation, ...row]),
    ]);
  });

  it('every public method and getter has its place', () => {
    const text = document('README.md');
    for (const name of Object.getOwnPropertyNames(ToolCallClosure.prototype)) if (name !== 'constructor') expect(text).toContain(`\`${name}`);
  });
});

describe('commands and links', () => {
  const { scripts, version } = JSON.parse(readFileSync(root('package.json'), 'utf8')) as { scripts: Record<string, string>; version: string };

  it('the newest entry of the changelog is the version of the package', () => {
    expect(/^## \[(.+?)\]/m.exec(document('CHANGELOG.md'))?.[1]).toBe(version);
  });

  it('every npm script that is named exists', () => {
    for (const file of DOCUMENTS) {
      for (const [, name] of document(file).matchAll(/npm run ([\w:]+)/g)) expect(scripts, `${file}: ${name}`).toHaveProperty([name!]);
      for (const [, folder, name] of document(file).matchAll(/npm --prefix (\S+) run ([\w:]+)/g)) {
        const own = JSON.parse(readFileSync(root(`${folder}/package.json`), 'utf8')) as { scripts: object };
        expect(own.scripts, `${file}: ${folder} ${name}`).toHaveProperty([name!]);
      }
    }
  });

  it('there are exactly two set-up commands, each with the install, and CI runs the second to the letter', () => {
    const section = document('README.md').split('\n## ').find((part) => part.startsWith('Two commands'))!;
    const commands = [...section.matchAll(/^```sh\n(.*)\n```$/gm)].map(([, command]) => command!);
    expect(commands).toEqual(['npm ci && npm run demo', 'npm ci && npm test']);
    expect(readFileSync(root('.ci/run'), 'utf8').split('\n')).toContain(commands[1]);
  });

  it('every relative link leads somewhere', () => {
    for (const file of DOCUMENTS) {
      const text = document(file);
      const anchors = [...text.matchAll(/^#+ (.*)$/gm)].map(([, title]) => title!.toLowerCase().replace(/[^\w -]/g, '').replaceAll(' ', '-'));
      for (const [, target] of text.matchAll(/\]\((?!https?:)([^)]+)\)/g)) {
        const [path, anchor] = target!.split('#');
        if (path) expect(existsSync(root(path)), `${file}: ${target}`).toBe(true);
        else expect(anchors, `${file}: ${target}`).toContain(anchor);
      }
    }
  });
});
