// Compiles the shapes of examples/recipes/wire-shapes.ts against the vendors' own types, one file per client, and runs the
// one trap that types can't show. Prints a table; the exit code is 1 if anything fails.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ToolMessage$outboundSchema } from '@mistralai/mistralai/models/components';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const clients = {
  gemini: '@google/genai',
  bedrock: '@aws-sdk/client-bedrock-runtime',
  ai: 'ai',
  'ai-6': 'ai-6',
  langchain: '@langchain/core',
  mistral: '@mistralai/mistralai',
  mcp: '@modelcontextprotocol/sdk',
  groq: 'groq-sdk',
  together: 'together-ai',
};

const { stdout, status } = spawnSync(process.execPath, [at('../../../node_modules/typescript/bin/tsc'), '-p', at('tsconfig.json'), '--pretty', 'false'], {
  cwd: at('.'),
  encoding: 'utf8',
});
const wrongFiles = new Set([...stdout.matchAll(/^([\w-]+)\.ts\(\d+,\d+\): error/gm)].map(([, file]) => file));

const rows = Object.entries(clients).map(([file, client]) => {
  const { version } = JSON.parse(readFileSync(at(`node_modules/${client}/package.json`), 'utf8'));
  return { client: client.replace(/^ai-6$/, 'ai'), version, check: 'types', result: wrongFiles.has(file) ? 'FAILED' : 'ok' };
});

const sent = (message) => JSON.stringify(ToolMessage$outboundSchema.parse(message));
const { version } = rows.find(({ client }) => client === clients.mistral);
for (const [check, holds] of [
  ['tool_call_id is dropped', !sent({ role: 'tool', tool_call_id: 'a', content: 'seen' }).includes('"a"')],
  ['toolCallId is sent', sent({ role: 'tool', toolCallId: 'a', name: 'look', content: 'seen' }).includes('"tool_call_id":"a"')],
]) {
  rows.push({ client: clients.mistral, version, check, result: holds ? 'ok' : 'FAILED' });
}

console.table(rows);
if (status !== 0) console.error(stdout);
const failed = rows.filter(({ result }) => result !== 'ok').length;
console.log(`${rows.length - failed} passed, ${failed} failed`);
process.exitCode = failed > 0 || status !== 0 ? 1 : 0;
