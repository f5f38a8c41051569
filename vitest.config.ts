import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Every suite imports `tool-call-closure`; each project gives that name to another build. */
const build = (name: string, entry: string, include: string[], exclude: string[] = []) => ({
  resolve: { alias: { 'tool-call-closure': at(entry) } },
  test: { name, include, exclude: ['**/node_modules/**', '**/*.deep.test.ts', ...exclude], testTimeout: 60_000 },
});

/** What looks at files instead of behaviour. */
const looks = ['test/house.test.ts', 'test/package/**', 'test/docs/**', 'test/support/**'];
/** What has nothing to say about another build: that, the parts of src, and loops whose subject is the provider. */
const once = [...looks, 'test/text.test.ts', 'test/e2e/**', 'test/recipes/**'];
const every = ['test/**/*.test.ts'];

export default defineConfig({
  test: {
    projects: [
      // Mutants exist in src alone, and neither what looks at files nor what counts bytes is a fair judge of one.
      ...(process.env.MUTATION
        ? [build('src', 'src/index.ts', every, [...looks, 'test/memory.test.ts'])]
        : [build('src', 'src/index.ts', every), build('esm', 'dist/index.js', every, once), build('cjs', 'dist/index.cjs', every, once)]),
    ],
    coverage: {
      provider: 'v8',
      include: ['src/**'],
      exclude: ['src/types.ts'],
      thresholds: { lines: 100, branches: 100, functions: 100, statements: 100 },
    },
  },
});
