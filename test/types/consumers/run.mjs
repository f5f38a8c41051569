// Compiles the type tests against the packed tarball: every compiler × every way to resolve the package.
import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { install, pack, pool, printTable, scratch } from '../../package/tarball.mjs';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));

const IMPORT = 'index.d.ts';
const REQUIRE = 'index.d.cts';
const CORE = ['usage.test-d.ts', 'misuse.test-d.ts'];
const ENTRY = 'require.test-d.cts';

/** `uses`: the declaration files that must be reached, and no other. */
const MODES = [
  { name: 'node16 import', type: 'module', files: [...CORE, ENTRY], uses: [IMPORT, REQUIRE], module: 'node16' },
  { name: 'node16 require', type: 'commonjs', files: [...CORE, ENTRY], uses: [REQUIRE], module: 'node16' },
  { name: 'nodenext import', type: 'module', files: [...CORE, ENTRY], uses: [IMPORT, REQUIRE], module: 'nodenext' },
  { name: 'nodenext require', type: 'commonjs', files: [...CORE, ENTRY], uses: [REQUIRE], module: 'nodenext' },
  { name: 'bundler import', type: 'module', files: CORE, uses: [IMPORT], module: 'esnext', resolution: 'bundler' },
  {
    name: 'bundler require',
    type: 'commonjs',
    files: [ENTRY],
    uses: [REQUIRE],
    module: 'preserve',
    resolution: 'bundler',
    from: 5.4,
  },
  {
    name: 'node10',
    type: 'commonjs',
    files: [...CORE, ENTRY],
    uses: [REQUIRE],
    module: 'commonjs',
    resolution: 'node10',
    before: 7,
  },
  {
    name: 'DOM signals',
    type: 'module',
    files: ['signals.test-d.ts'],
    uses: [IMPORT],
    module: 'nodenext',
    lib: ['es2022', 'dom'],
  },
];

const compilers = Object.keys(JSON.parse(readFileSync(at('package.json'), 'utf8')).devDependencies).map((name) => ({
  name,
  number: Number(name.replace('typescript-', '')),
  version: JSON.parse(readFileSync(at(`node_modules/${name}/package.json`), 'utf8')).version,
}));

const folder = scratch('consumers');
install(pack(folder), folder);
for (const type of ['module', 'commonjs']) {
  mkdirSync(join(folder, type));
  writeFileSync(join(folder, type, 'package.json'), JSON.stringify({ private: true, type }));
  for (const file of ['support.ts', 'signals.test-d.ts', ENTRY, ...CORE]) {
    copyFileSync(at(`../${file}`), join(folder, type, file));
  }
}

const failures = [];

/** Gives the cell of the table. */
async function compile(compiler, mode) {
  if (compiler.number < (mode.from ?? 0)) return 'not yet';
  if (compiler.number >= (mode.before ?? Infinity)) return 'no more';
  const label = `${compiler.name}, ${mode.name}`;
  const config = join(folder, mode.type, `tsconfig.${label.replace(/[^a-z0-9.]+/g, '-')}.json`);
  writeFileSync(
    config,
    JSON.stringify({
      compilerOptions: {
        target: 'es2022',
        lib: mode.lib ?? ['es2022'],
        types: [],
        module: mode.module,
        moduleResolution: mode.resolution ?? mode.module,
        ...(mode.resolution === 'node10' && compiler.number >= 6 ? { ignoreDeprecations: '6.0' } : {}),
        esModuleInterop: true,
        strict: true,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        skipLibCheck: false,
        // Declarations are made too, so that every inferred type has to be one that a consumer can name.
        declaration: true,
        rootDir: '.',
        outDir: join(folder, 'out', label),
      },
      files: mode.files,
    }),
  );
  const tsc = at(`node_modules/${compiler.name}/bin/tsc`);
  const { failed, output } = await new Promise((done) => {
    execFile(process.execPath, [tsc, '-p', config, '--listFiles'], { maxBuffer: 2 ** 26 }, (error, stdout, stderr) =>
      done({ failed: error !== null, output: stdout + stderr }),
    );
  });
  const used = [...output.matchAll(/tool-call-closure\/dist\/(\S+)$/gm)].map(([, file]) => file);
  const errors = output.split('\n').filter((line) => /error TS|^\s/.test(line));
  if (!failed && String(used.sort()) === String([...mode.uses].sort())) return 'ok';
  failures.push(`${label}: reached ${used}, not ${mode.uses}\n${errors.join('\n')}`);
  return 'FAILED';
}

const cells = await pool(compilers.flatMap((compiler) => MODES.map((mode) => () => compile(compiler, mode))));
printTable([
  ['TypeScript', ...MODES.map(({ name }) => name)],
  ...compilers.map(({ version }, row) => [version, ...cells.slice(row * MODES.length, (row + 1) * MODES.length)]),
]);
for (const failure of failures) console.error(`\n${failure}`);
console.log(`\n${cells.filter((cell) => cell === 'ok').length} passed, ${failures.length} failed`);
process.exitCode = failures.length > 0 ? 1 : 0;
