// Compiles test/types/openai and test/types/anthropic against the packed tarball and each major of that SDK, and with them
// the recipes of examples/recipes, some of which name the types of both.
// A file that begins with `// From version 6.` needs types that older majors lack, and is left out for them.
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { install, pack, pool, printTable, scratch } from '../../package/tarball.mjs';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const read = (path) => JSON.parse(readFileSync(at(path), 'utf8'));

const SDKS = { openai: 'openai', anthropic: '@anthropic-ai/sdk' };
/** Where only one of the SDKs is varied, the other is this. */
const NEWEST = { openai: 'openai-7', anthropic: 'anthropic-1.x' };
const SETTINGS = [
  { name: 'nodenext', module: 'nodenext' },
  { name: 'bundler', module: 'esnext', moduleResolution: 'bundler' },
  { name: 'nodenext, optional = undefined', module: 'nodenext', exactOptionalPropertyTypes: false },
];

const aliases = Object.keys(read('package.json').devDependencies).filter((name) => !name.startsWith('@types/'));
const packed = install(pack(scratch('tarball')), scratch('package'));
const failures = [];

/** Gives a folder in which the SDK's own name means this alias of it. */
function consumer(alias) {
  const kind = alias.split('-')[0];
  const folder = scratch(alias);
  const link = (target, name) => {
    const place = join(folder, 'node_modules', name);
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(target, place, 'dir');
  };
  for (const [each, name] of Object.entries(SDKS)) link(at(`node_modules/${each === kind ? alias : NEWEST[each]}`), name);
  link(at('node_modules/@types/node'), '@types/node');
  link(packed, 'tool-call-closure');
  cpSync(at(`../${kind}`), join(folder, kind), { recursive: true });
  cpSync(at('../../../examples/recipes'), join(folder, 'recipes'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  const { version } = read(`node_modules/${alias}/package.json`);
  const files = [kind, 'recipes']
    .flatMap((part) => readdirSync(join(folder, part)).map((name) => join(part, name)))
    .filter((name) => {
      const [, from = '0'] = /^\/\/ From version (\d+)\./.exec(readFileSync(join(folder, name), 'utf8')) ?? [];
      return Number.parseInt(version) >= Number(from);
    });
  return { alias, folder, files, version };
}

async function compile({ alias, folder, files }, { name, ...options }) {
  const config = join(folder, `tsconfig.${name.replace(/\W+/g, '-')}.json`);
  writeFileSync(
    config,
    JSON.stringify({
      compilerOptions: {
        target: 'es2022',
        lib: ['es2022'],
        types: ['node'],
        strict: true,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        // The SDKs' own declarations are not ours to judge.
        skipLibCheck: true,
        noEmit: true,
        ...options,
      },
      files,
    }),
  );
  // The compiler of the repository: the SDKs vary here, compilers do in test/types/consumers.
  const tsc = at('../../../node_modules/typescript/bin/tsc');
  const output = await new Promise((done) => {
    execFile(process.execPath, [tsc, '-p', config, '--listFiles'], { maxBuffer: 2 ** 26 }, (error, stdout) =>
      done(error === null ? stdout : `FAILED\n${stdout}`),
    );
  });
  const reached = output.includes(`node_modules/${alias}/`) && output.includes(join(packed, 'dist'));
  if (!output.startsWith('FAILED') && reached) return 'ok';
  const errors = output.split('\n').filter((line) => /error TS|^\s/.test(line));
  failures.push(`${alias}, ${name}: ${reached ? '' : 'the SDK or the package was not reached'}\n${errors.join('\n')}`);
  return 'FAILED';
}

const consumers = aliases.map(consumer);
const cells = await pool(consumers.flatMap((each) => SETTINGS.map((setting) => () => compile(each, setting))));
printTable([
  ['SDK', 'version', 'files', ...SETTINGS.map(({ name }) => name)],
  ...consumers.map(({ alias, version, files }, row) => [
    SDKS[alias.split('-')[0]],
    version,
    files.length,
    ...cells.slice(row * SETTINGS.length, (row + 1) * SETTINGS.length),
  ]),
]);
for (const failure of failures) console.error(`\n${failure}`);
console.log(`\n${cells.filter((cell) => cell === 'ok').length} passed, ${failures.length} failed`);
process.exitCode = failures.length > 0 ? 1 : 0;
