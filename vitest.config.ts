import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Every suite imports `tool-call-closure`; each project gives that name to another build. */
const build = (name: string, entry: string, include: string[], exclude: string[] = []) => ({
  resolve: { alias: { 'tool-call-closure': at(entry) } },
  test: { name, include, exclude: ['**/node_modules/**', '**/*.deep.test.ts', ...exclude], testTimeout: 60_000 },
});

/** What looks into src, at the package, or at the documents has nothing to say about another build. */
const once = ['test/text.test.ts', 'test/house.test.ts', 'test/package/**', 'test/docs/**', 'test/e2e/**', 'test/recipes/**', 'test/support/**'];
const every = ['test/**/*.test.ts'];

export default defineConfig({
  test: {
    projects: [
      build('src', 'src/index.ts', every),
      // Mutants exist in src alone.
      ...(process.env.MUTATION
        ? []
        : [build('esm', 'dist/index.js', every, once), build('cjs', 'dist/index.cjs', every, once)]),
    ],
    coverage: {
      provider: 'v8',
      include: ['src/**'],
      exclude: ['src/types.ts'],
      thresholds: { lines: 100, branches: 100, functions: 100, statements: 100 },
    },
  },
});
