// Runs the smoke test over both builds of the packed tarball in every runtime, and compares what they saw.
import { spawn, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { install, pack, printTable, scratch } from '../package/tarball.mjs';

const DEADLINE_MS = 120_000;
// Old, so that nothing newer than it is switched on by its date; and no flag is.
const WORKERD_DATE = '2023-01-01';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const program = (path) => (existsSync(at(`node_modules/${path}`)) ? at(`node_modules/${path}`) : null);

const folder = scratch('runtimes');
const dist = join(install(pack(scratch('tarball')), folder), 'dist');
writeFileSync(join(folder, 'package.json'), '{ "private": true }');
copyFileSync(at('smoke.mjs'), join(folder, 'smoke.mjs'));
for (const host of ['esm.mjs', 'cjs.cjs', 'bare.mjs', 'worker.mjs', 'page.html']) {
  copyFileSync(at(`hosts/${host}`), join(folder, host));
}

// Nothing may look for a newer version of itself or report on itself: no traffic leaves the machine.
const env = {
  PATH: process.env.PATH,
  HOME: folder,
  NO_COLOR: '1',
  DO_NOT_TRACK: '1',
  DENO_NO_UPDATE_CHECK: '1',
  DENO_DIR: join(folder, 'deno'),
};

/** Runs a program to its end; gives what it printed. */
function output(file, args) {
  const child = spawnSync(file, args, { cwd: folder, env, encoding: 'utf8', timeout: DEADLINE_MS, killSignal: 'SIGKILL' });
  if (child.status !== 0) throw new Error(child.error?.message ?? `${child.signal ?? child.status}: ${child.stderr}`);
  return child.stdout.trim();
}

/** Starts a program, waits for `answer`, and ends it again. */
async function during(file, args, stdio, answer) {
  const child = spawn(file, args, { cwd: folder, env, stdio });
  const ended = new Promise((done) => child.once('close', done).once('error', done));
  let timer;
  const late = new Promise((_, fail) => {
    timer = setTimeout(() => fail(new Error('no answer')), DEADLINE_MS);
    void ended.then((code) => fail(new Error(`ended early: ${code}`)));
  });
  try {
    return await Promise.race([answer(child), late]);
  } finally {
    clearTimeout(timer);
    child.kill('SIGKILL');
    await ended;
  }
}

const script = { esm: 'esm.mjs', cjs: 'cjs.cjs' };

const node = (name, file) => ({
  name,
  file,
  version: () => output(file, ['--version']),
  run: (format) => output(file, [script[format]]),
});

const bare = {
  name: 'bare vm context',
  file: process.execPath,
  version: () => `Node ${process.version}`,
  run: (format) =>
    output(process.execPath, ['--no-warnings', '--experimental-vm-modules', 'bare.mjs', format, folder]),
};

const bun = {
  name: 'Bun',
  file: program('bun/bin/bun'),
  version: () => output(bun.file, ['--version']),
  run: (format) => output(bun.file, ['--no-install', script[format]]),
};

const deno = {
  name: 'Deno',
  file: program('deno/deno'),
  version: () => output(deno.file, ['--version']).split(' ')[1],
  // No permission at all by import; `require` itself reads the file it loads.
  run: (format) =>
    output(deno.file, [
      'run',
      '--no-prompt',
      '--no-remote',
      '--quiet',
      ...(format === 'cjs' ? [`--allow-read=${folder}`] : []),
      script[format],
    ]),
};

const workerd = {
  name: 'workerd',
  file: program('workerd/bin/workerd'),
  version: () => output(workerd.file, ['--version']).split(' ')[1],
  run(format) {
    const library = format === 'esm' ? 'esModule = embed "index.js"' : 'commonJsModule = embed "index.cjs"';
    for (const file of ['index.js', 'index.cjs']) copyFileSync(join(dist, file), join(folder, file));
    writeFileSync(
      join(folder, 'config.capnp'),
      `using Workerd = import "/workerd/workerd.capnp";
      const config :Workerd.Config = (
        services = [(name = "main", worker = .main)],
        sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
      );
      const main :Workerd.Worker = (
        modules = [
          (name = "worker.mjs", esModule = embed "worker.mjs"),
          (name = "smoke.mjs", esModule = embed "smoke.mjs"),
          (name = "tool-call-closure", ${library}),
        ],
        compatibilityDate = "${WORKERD_DATE}",
      );`,
    );
    const args = ['serve', '--control-fd=3', 'config.capnp'];
    return during(workerd.file, args, ['ignore', 'inherit', 'inherit', 'pipe'], async (child) => {
      const port = await new Promise((found) => {
        child.stdio[3].on('data', (data) => {
          const listening = /"port":(\d+)/.exec(data);
          if (listening) found(listening[1]);
        });
      });
      return (await fetch(`http://127.0.0.1:${port}/`)).text();
    });
  },
};

const installed = (name) => spawnSync(name, ['--version'], { env, encoding: 'utf8' }).status === 0;

const chromium = {
  name: 'Chromium',
  file: ['chromium', 'chromium-browser', 'google-chrome', 'chrome'].find(installed) ?? null,
  mayBeAbsent: true,
  version: () => /[\d.]+/.exec(output(chromium.file, ['--version']))?.[0],
  async run(format) {
    const files = {
      '/': ['page.html', 'text/html'],
      '/smoke.mjs': ['smoke.mjs', 'text/javascript'],
      '/index.js': ['node_modules/tool-call-closure/dist/index.js', 'text/javascript'],
      '/index.cjs': ['node_modules/tool-call-closure/dist/index.cjs', 'text/javascript'],
    };
    let deliver;
    const result = new Promise((done) => (deliver = done));
    const server = createServer((request, response) => {
      const [path] = request.url.split('?');
      if (request.method === 'POST' && path === '/result') {
        let body = '';
        request.setEncoding('utf8').on('data', (chunk) => (body += chunk));
        request.on('end', () => response.end(() => deliver(body)));
        return;
      }
      const [file, type] = files[path] ?? [];
      if (file === undefined) response.writeHead(404).end();
      else response.writeHead(200, { 'content-type': type }).end(readFileSync(join(folder, file)));
    });
    await new Promise((done) => server.listen(0, '127.0.0.1', done));
    const args = [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      `--user-data-dir=${scratch('profile')}`,
      `http://127.0.0.1:${server.address().port}/?${format}`,
    ];
    try {
      return await during(chromium.file, args, 'ignore', () => result);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  },
};

const runtimes = [
  ...[18, 20, 22, 24].map((major) => node(`Node ${major}`, program(`node-${major}/bin/node`))),
  bun,
  deno,
  workerd,
  chromium,
  bare,
];

// The registry's packages hold programs for Linux on x64; on other machines what is there is compared.
const all = process.platform === 'linux' && process.arch === 'x64';
const rows = [];
const failures = [];
const seen = new Set();

for (const { name, file, mayBeAbsent, version, run } of runtimes) {
  if (file === null) {
    rows.push([name, 'not installed', '', '', '']);
    if (all && !mayBeAbsent) failures.push(`${name} is not installed`);
    continue;
  }
  const cells = [];
  let observed = '';
  for (const format of ['esm', 'cjs']) {
    try {
      const text = await run(format);
      let result;
      try {
        result = JSON.parse(text);
      } catch {
        throw new Error(text);
      }
      seen.add(`${result.digest} of ${result.observations}`);
      observed = result.observations;
      cells.push(result.digest);
    } catch (error) {
      cells.push('FAILED');
      failures.push(`${name}, ${format}: ${error.message}`);
    }
  }
  rows.push([name, version(), ...cells, observed]);
}

printTable([['runtime', 'version', 'ESM', 'CommonJS', 'observations'], ...rows]);
if (seen.size > 1) failures.push(`the digests differ: ${[...seen].join(', ')}`);
for (const failure of failures) console.error(`\n${failure}`);
const passed = rows.flat().filter((cell) => /^[0-9a-f]{16}$/.test(cell)).length;
console.log(`\n${passed} passed, ${failures.length} failed`);
process.exitCode = failures.length > 0 ? 1 : 0;
