import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const root = fileURLToPath(new URL('..', import.meta.url));

/** What takes too long for every run: `npm run test:deep`. */
export default defineConfig({
  root,
  resolve: { alias: { 'tool-call-closure': `${root}src/index.ts` } },
  test: { include: ['test/**/*.deep.test.ts'] },
});
