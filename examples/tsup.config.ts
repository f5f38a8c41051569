import { defineConfig } from 'tsup';

// Examples run as a user's program would: against the built package, which resolves by its own name.
export default defineConfig({
  entry: { 'agent-loop': 'examples/agent-loop.ts' },
  outDir: 'examples/.out',
  format: ['esm'],
  platform: 'node',
  target: 'node18',
  external: ['tool-call-closure', 'openai', '@anthropic-ai/sdk'],
  clean: true,
  silent: true,
});
