import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startStandIn } from '../../../test/support/stand-in.js';
import { providers, type Api, type Json } from './providers.js';
import { script, textOf } from './scenario.js';
import { batchesIn } from './transcript.js';
import { killKinds, readLedger, type KillPoint } from './witness.js';

// The loop without an engine, killed once at each kind of step, for each of the three APIs, and started again.
const folder = mkdtempSync(join(tmpdir(), 'durable-contrast-'));
const standIn = await startStandIn({ script });

interface Loss {
  lost: number;
  finished: number;
  charged: number;
  /** The rule by which the provider refuses the history as the kill left it. */
  refusal: string;
}

async function killOnce(api: Api, conversation: string, message: number): Promise<Loss> {
  const kind = killKinds[message - 1]!;
  const text = textOf(conversation, message);
  const where = kind.includes('request') ? `${text}, request 3` : `${conversation}_m${message}t2_charge`;
  const file = join(folder, `${conversation}-${message}.json`);
  const ledger = `${file}.ledger`;
  const kills: KillPoint[] = [{ kind, where }];
  const env = { ...process.env, PROVIDER_URL: standIn.anthropicBaseURL, TRIAL_LEDGER: ledger, TRIAL_KILLS: JSON.stringify(kills) };
  const loop = fileURLToPath(new URL('plain-loop.ts', import.meta.url));
  const run = async (): Promise<string> => {
    const child = spawn(process.execPath, ['--import', 'tsx', loop, api, text, file], { env, stdio: 'inherit' });
    const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
    return String(signal ?? code);
  };

  const first = await run();
  if (first !== 'SIGKILL') throw new Error(`${where} was not killed, but ended with ${first}`);
  const left = JSON.parse(readFileSync(file, 'utf8')) as Json[];
  const refusal = await refusalOf(api, left);
  const second = await run();
  if (second !== '0' || !existsSync(file)) throw new Error(`${where} ended with ${second} after the kill`);

  const entries = readLedger(ledger);
  const body = providers[api].request(JSON.parse(readFileSync(file, 'utf8')) as Json[]);
  const batches = batchesIn(api, body);
  for (const { announced, answered } of batches) {
    if (announced.join() !== answered.map((result) => result.id).join()) throw new Error(`${announced.join()} is not answered in order`);
  }
  const lost = batches.flatMap((batch) => batch.answered).filter((result) => result.text.includes('"process_lost"'));
  const count = (at: 'delivered' | 'effect'): number =>
    lost.filter(({ id }) => entries.some((entry) => entry.at === at && entry.call === id)).length;
  return { lost: lost.length, finished: count('delivered'), charged: count('effect'), refusal };
}

async function refusalOf(api: Api, history: Json[]): Promise<string> {
  const { path, headers, request } = providers[api];
  const response = await fetch(`${standIn.anthropicBaseURL}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(request(history)),
  });
  await response.arrayBuffer();
  return response.headers.get('x-rule') ?? 'none';
}

const apis: readonly [string, Api][] = [['c1', 'chat'], ['c2', 'responses'], ['c3', 'anthropic']];
let failed = false;
console.log('killed                             told process_lost  of these finished  of these charged  history refused by rule');
for (const [i, kind] of killKinds.entries()) {
  try {
    const losses = await Promise.all(apis.map(([conversation, api]) => killOnce(api, conversation, i + 1)));
    const sum = (of: (loss: Loss) => number): string => String(losses.reduce((total, loss) => total + of(loss), 0));
    const cells = [sum((loss) => loss.lost).padStart(17), sum((loss) => loss.finished).padStart(17), sum((loss) => loss.charged).padStart(16)];
    console.log(`${kind.padEnd(33)}  ${cells.join('  ')}  ${losses.map((loss) => loss.refusal).join(' ')}`);
  } catch (error) {
    console.error(error);
    failed = true;
  }
}
await standIn.close();
rmSync(folder, { recursive: true, force: true });
process.exit(failed ? 1 : 0);
