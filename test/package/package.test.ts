import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import ts from 'typescript';
import { afterAll, describe, expect, test } from 'vitest';

// The packed thing, as a user gets it: a tarball, installed into an empty folder without a network, loaded by plain Node.

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MAX_GZIPPED_BYTES = 4500;

const FILES = [
  'CHANGELOG.md',
  'LICENSE',
  'NOTICE.md',
  'README.md',
  'SECURITY.md',
  'dist/index.cjs',
  'dist/index.cjs.map',
  'dist/index.d.cts',
  'dist/index.d.ts',
  'dist/index.js',
  'dist/index.js.map',
  'package.json',
];

const folder = mkdtempSync(join(tmpdir(), 'tool-call-closure-package-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const npm = (...args: string[]) => execFileSync('npm', [...args, '--ignore-scripts', '--silent'], { encoding: 'utf8' });

npm('pack', ROOT, '--pack-destination', folder);
const tarball = join(folder, readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? '');
writeFileSync(join(folder, 'package.json'), '{ "private": true }');
npm('install', tarball, '--prefix', folder, '--offline', '--no-audit', '--no-fund');

const place = join(folder, 'node_modules', 'tool-call-closure');
const read = (path: string) => readFileSync(join(place, path), 'utf8');
const manifest = JSON.parse(read('package.json'));

function run(name: string, program: string): unknown {
  const file = join(folder, name);
  writeFileSync(file, program);
  // Options of the test runner are none of the user's.
  const { NODE_OPTIONS: _, ...env } = process.env;
  return JSON.parse(execFileSync(process.execPath, [file], { cwd: folder, encoding: 'utf8', env }));
}

test('the tarball holds these files and no other', () => {
  const packed = execFileSync('tar', ['-tzf', tarball], { encoding: 'utf8' }).trim().split('\n');
  expect(packed.map((path) => path.replace(/^package\//, '')).sort()).toEqual(FILES);
});

test('nothing else is installed with it', () => {
  const installed = readdirSync(join(folder, 'node_modules')).filter((name) => !name.startsWith('.'));
  expect(installed).toEqual(['tool-call-closure']);
});

describe('package.json', () => {
  test('names no dependency of any kind and no script that npm would run', () => {
    const kinds = [
      'dependencies',
      'peerDependencies',
      'optionalDependencies',
      'bundleDependencies',
      'bundledDependencies',
      'peerDependenciesMeta',
    ];
    expect(Object.keys(manifest).filter((key) => kinds.includes(key))).toEqual([]);
    const hooks = ['preinstall', 'install', 'postinstall', 'prepare', 'prepublish'];
    expect(Object.keys(manifest.scripts).filter((script) => hooks.includes(script))).toEqual([]);
  });

  test('says what bundlers and package managers ask', () => {
    expect(manifest).toMatchObject({
      name: 'tool-call-closure',
      license: 'MIT',
      type: 'module',
      sideEffects: false,
      engines: { node: '>=18' },
    });
  });

  test('nests the types inside each condition, types first', () => {
    expect(JSON.stringify(manifest.exports)).toBe(
      JSON.stringify({
        '.': {
          import: { types: './dist/index.d.ts', default: './dist/index.js' },
          require: { types: './dist/index.d.cts', default: './dist/index.cjs' },
        },
        './package.json': './package.json',
      }),
    );
  });

  test('gives the CommonJS build to resolution that ignores exports', () => {
    expect(manifest).toMatchObject({ main: './dist/index.cjs', types: './dist/index.d.cts' });
    // A path to the folder is resolved by `main`.
    expect(run('main.cjs', `console.log(JSON.stringify(Object.keys(require(${JSON.stringify(place)}))))`)).toEqual(
      expect.arrayContaining(['ToolCallClosure', 'createToolCallClosure', 'default']),
    );
  });
});

describe('in plain Node', () => {
  const use = `
    class Counting extends ToolCallClosure {
      count = 0;
      settle(...args) { this.count += 1; return super.settle(...args); }
    }
    const closure = new Counting({ maxCalls: 2 });
    const { handle } = closure.begin([{ id: 'a', name: 'read' }, { id: 'b', name: 'write' }]);
    closure.settle(handle, 'a', { status: 'success', content: { rows: 1 } });
    const closed = closure.close(handle, new Error('stopped'));
    console.log(JSON.stringify({
      names: Object.keys(module).sort(),
      defaults: Object.keys(byDefault).sort(),
      same: byDefault.ToolCallClosure === ToolCallClosure && byDefault.createToolCallClosure === createToolCallClosure,
      made: createToolCallClosure() instanceof ToolCallClosure,
      subclass: closure instanceof ToolCallClosure && closure.count === 1,
      results: closure.toAnthropicToolResults(closed),
    }));
  `;
  const expected = {
    names: ['ToolCallClosure', 'createToolCallClosure', 'default'],
    defaults: ['ToolCallClosure', 'createToolCallClosure'],
    same: true,
    made: true,
    subclass: true,
    results: [
      { type: 'tool_result', tool_use_id: 'a', content: '{"rows":1}' },
      {
        type: 'tool_result',
        tool_use_id: 'b',
        content: '{"error":{"code":"cancelled","message":"stopped","side_effect_state":"unknown"}}',
        is_error: true,
      },
    ],
  };

  test('import gives the names, the default export and a class to extend', () => {
    const head = `
      import byDefault, { createToolCallClosure, ToolCallClosure } from 'tool-call-closure';
      import * as module from 'tool-call-closure';
    `;
    expect(run('import.mjs', head + use)).toEqual(expected);
  });

  test('require gives the same', () => {
    const head = `
      const loaded = require('tool-call-closure');
      const { createToolCallClosure, ToolCallClosure, default: byDefault } = loaded;
    `;
    expect(run('require.cjs', `${head}{ const module = loaded; ${use} }`)).toEqual(expected);
  });

  test('the two builds tell their classes apart, and each its own handles', () => {
    const program = `
      import { createRequire } from 'node:module';
      import { createToolCallClosure, ToolCallClosure } from 'tool-call-closure';
      const other = createRequire(import.meta.url)('tool-call-closure');
      const closure = createToolCallClosure();
      const { handle } = closure.begin([]);
      const twin = other.createToolCallClosure();
      twin.begin([]);
      console.log(JSON.stringify([
        twin instanceof ToolCallClosure,
        twin.seal(handle).reason,
        closure.seal(handle).closed,
      ]));
    `;
    expect(run('both.mjs', program)).toEqual([false, 'stale_generation', true]);
  });

  test('no other file of the package can be reached', () => {
    const program = `
      const codes = ['tool-call-closure/dist/index.js', 'tool-call-closure/src/index.ts'].map((name) => {
        try { return require(name) && 'loaded'; } catch (error) { return error.code; }
      });
      console.log(JSON.stringify([...codes, require('tool-call-closure/package.json').name]));
    `;
    expect(run('deep.cjs', program)).toEqual([
      'ERR_PACKAGE_PATH_NOT_EXPORTED',
      'ERR_PACKAGE_PATH_NOT_EXPORTED',
      'tool-call-closure',
    ]);
  });
});

describe('dist', () => {
  test.each(['index.js', 'index.cjs'])('%s asks its host for the Encoding API and nothing else', (name) => {
    const file = join(place, 'dist', name);
    // The checker knows ECMAScript 2022; what it can't find is what the host would have to give.
    const program = ts.createProgram([file], {
      allowJs: true,
      checkJs: true,
      noEmit: true,
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.Node16,
      lib: ['lib.es2022.d.ts'],
      types: [],
    });
    const missing = program
      .getSemanticDiagnostics(program.getSourceFile(file))
      .map(({ messageText }) => /^Cannot find name '(.+?)'/.exec(ts.flattenDiagnosticMessageText(messageText, '\n'))?.[1])
      .filter((found) => found !== undefined);
    expect([...new Set(missing)].sort()).toEqual(['TextDecoder', 'TextEncoder']);
    const code = read(`dist/${name}`);
    expect(code).not.toMatch(/\bglobalThis\b/);
    expect(code).not.toMatch(/\beval\b|\bnew Function\b/);
    expect(ts.preProcessFile(code, true, true).importedFiles).toEqual([]);
  });

  test('both declaration files say the same', () => {
    expect(read('dist/index.d.cts')).toBe(read('dist/index.d.ts'));
    expect(ts.preProcessFile(read('dist/index.d.ts')).importedFiles).toEqual([]);
    expect(read('dist/index.d.ts')).not.toContain('/// <reference');
  });

  test.each(['index.js', 'index.cjs'])('the map of %s carries the sources, which are not in the tarball', (name) => {
    expect(read(`dist/${name}`).trimEnd().endsWith(`//# sourceMappingURL=${name}.map`)).toBe(true);
    const { sources, sourcesContent } = JSON.parse(read(`dist/${name}.map`));
    expect(sources).toEqual(expect.arrayContaining(['../src/closure.ts', '../src/input.ts', '../src/text.ts']));
    expect(sourcesContent).toEqual(
      sources.map((source: string) => readFileSync(join(ROOT, 'dist', source), 'utf8')),
    );
  });

  test(`the ESM file stays within ${MAX_GZIPPED_BYTES} bytes, minified and gzipped`, async () => {
    // The minifier that comes with the bundler.
    const bundler = createRequire(createRequire(import.meta.url).resolve('tsup'));
    const esbuild: { transform(code: string, options: object): Promise<{ code: string }> } = bundler('esbuild');
    const { code } = await esbuild.transform(read('dist/index.js'), { minify: true, format: 'esm', target: 'es2022' });
    const { length } = gzipSync(code, { level: 9 });
    console.log(`dist/index.js: ${code.length} bytes minified, ${length} gzipped`);
    expect(length).toBeLessThanOrEqual(MAX_GZIPPED_BYTES);
    // Compression differs by a few bytes from one zlib to the next.
    const told = Number(readFileSync(join(ROOT, 'README.md'), 'utf8').match(/\(([\d,]+) in 1\.1\.0/)?.[1]?.replace(',', ''));
    expect(Math.abs(told - length)).toBeLessThan(25);
  });
});
