import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startStandIn } from '../../../test/support/stand-in.js';
import { check } from './checks.js';
import { startRestateServer } from './restate-server.js';
import { conversations, messages, planKills, script, textOf } from './scenario.js';
import { readLedger, type KillPoint } from './witness.js';

const limit = 150_000;

/** Puts into `cleanUp` how to stop what it started. */
async function trial(seed: number, folder: string, cleanUp: (() => Promise<void>)[]): Promise<boolean> {
  const began = Date.now();
  try {
    const standIn = await startStandIn({ script });
    cleanUp.push(() => standIn.close());
    const restate = await startRestateServer(folder, cleanUp);

    const planned = planKills(seed);
    const ledger = join(folder, 'ledger');
    const service = await keepAlive(join(folder, 'service.log'), {
      PORT: String(await freePort()),
      PROVIDER_URL: standIn.anthropicBaseURL,
      TRIAL_LEDGER: ledger,
      TRIAL_KILLS: JSON.stringify(planned.map(({ kind, where }): KillPoint => ({ kind, where }))),
    });
    cleanUp.push(service.stop);
    await answering(service.port);
    await post(`${restate.admin}/deployments`, { uri: `http://127.0.0.1:${service.port}` }, 10_000);

    await Promise.all(
      Object.entries(conversations).map(async ([conversation, api]) => {
        for (const message of messages) {
          await post(`${restate.ingress}/conversation/${conversation}/say`, { api, text: textOf(conversation, message) }, limit);
        }
      }),
    );
    await service.stop();
    return check({ seed, planned, ledger: readLedger(ledger), sigkills: service.sigkills(), requests: standIn.requests, ms: Date.now() - began });
  } catch (error) {
    if (stopped) return false;
    console.error(error);
    console.error(tail(join(folder, 'service.log')));
    return false;
  }
}

interface Service {
  readonly port: number;
  /** How often the process was ended by SIGKILL other than by `stop`. */
  sigkills(): number;
  stop(): Promise<void>;
}

/** Runs the service and starts it again whenever it ends, as any supervisor would. */
async function keepAlive(log: string, env: Record<string, string>): Promise<Service> {
  let stopping = false;
  let sigkills = 0;
  let child: ChildProcess;
  const start = (): void => {
    const output = openSync(log, 'a');
    child = spawn(process.execPath, ['--import', 'tsx', fileURLToPath(new URL('service.ts', import.meta.url))], {
      env: { ...process.env, ...env },
      stdio: ['pipe', output, output],
    });
    closeSync(output);
    child.once('exit', (_code, signal) => {
      if (stopping) return;
      if (signal === 'SIGKILL') sigkills++;
      start();
    });
  };
  start();
  return {
    port: Number(env['PORT']),
    sigkills: () => sigkills,
    stop: async () => {
      if (stopping) return;
      stopping = true;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}

async function post(url: string, body: object, timeout: number): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(timeout),
  });
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
  await response.arrayBuffer();
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}

/** Waits until something listens on the port: the engine asks a new deployment a few times only. */
async function answering(port: number): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    const socket = connect(port, '127.0.0.1');
    const open = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (open) return;
    await sleep(100);
  }
  throw new Error('the service did not start');
}

const tail = (file: string): string => readFileSync(file, 'utf8').split('\n').slice(-30).join('\n');

const folder = mkdtempSync(join(tmpdir(), 'durable-trial-'));
let stopped = false;
const interrupted = Promise.race(['SIGINT', 'SIGTERM', 'SIGHUP'].map((signal) => once(process, signal))).then(() => {
  stopped = true;
  return false;
});
const cleanUp: (() => Promise<void>)[] = [];
const holds = await Promise.race([trial(Number(process.env['TRIAL_SEED'] ?? 1), folder, cleanUp), interrupted]);
for (const step of cleanUp.reverse()) await step();
rmSync(folder, { recursive: true, force: true });
process.exit(holds ? 0 : 1);
