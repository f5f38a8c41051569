import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export interface RestateServer {
  readonly ingress: string;
  readonly admin: string;
}

/** Starts the engine on loopback, on ports of its own choice, with its data in a new folder inside `folder`. */
export async function startRestateServer(folder: string, cleanUp: (() => Promise<void>)[]): Promise<RestateServer> {
  const data = join(folder, 'restate');
  const config = join(folder, 'restate.toml');
  mkdirSync(data);
  writeFileSync(
    config,
    [
      `base-dir = ${JSON.stringify(data)}`,
      'node-name = "durable"',
      'listen-mode = "tcp"',
      'bind-ip = "127.0.0.1"',
      'advertised-host = "127.0.0.1"',
      'use-random-ports = true',
      'default-num-partitions = 4',
      'disable-telemetry = true',
      'log-format = "json"',
      '[admin]',
      'disable-web-ui = true',
      // By default an invocation pauses after 70 attempts in a row, and a refused connection counts as one.
      '[default-retry-policy]',
      'initial-interval = "50ms"',
      'max-interval = "200ms"',
      'max-attempts = "unlimited"',
    ].join('\n'),
  );

  // Not the package's launcher: killing that would leave the server behind.
  const require = createRequire(createRequire(import.meta.url).resolve('@restatedev/restate-server/package.json'));
  const binary = require.resolve(`@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`);
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('RESTATE_')));
  const server = spawn(binary, ['--no-logo', '--config-file', config], { env: { ...env, DO_NOT_TRACK: '1' }, stdio: ['ignore', 'pipe', 'pipe'] });
  const log = createWriteStream(join(folder, 'restate.log'));
  server.stdout.pipe(log, { end: false });
  server.stderr.pipe(log, { end: false });

  const exited = once(server, 'exit');
  cleanUp.push(async () => {
    server.kill('SIGKILL');
    await exited;
  });
  const ports = new Map<string, number>();
  const listening = (async () => {
    for await (const line of createInterface({ input: server.stdout })) {
      const { span } = JSON.parse(line) as { span?: { server_name?: string; 'server.port'?: string | number } };
      if (span?.server_name !== undefined) ports.set(span.server_name, Number(span['server.port']));
      if (ports.has('http-ingress-server') && ports.has('admin-api-server')) break;
    }
  })();
  await Promise.race([listening, exited]);

  const ingress = ports.get('http-ingress-server');
  const admin = ports.get('admin-api-server');
  if (ingress === undefined || admin === undefined) throw new Error('the Restate server did not start');
  return { ingress: `http://127.0.0.1:${ingress}`, admin: `http://127.0.0.1:${admin}` };
}
