import { defineConfig } from 'tsup';

export default defineConfig({
  entry: ['bench/run.ts'],
  outDir: 'bench/.out',
  format: 'esm',
  platform: 'node',
  target: 'node18',
  // What is measured is the built file, as users load it.
  external: ['tool-call-closure'],
  clean: true,
});
