// Shared by the side packages: they check what users install, so each starts from a packed tarball of the build.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A folder that is gone when the process ends. */
export function scratch(name) {
  const folder = mkdtempSync(join(tmpdir(), `tool-call-closure-${name}-`));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Packs what `npm run build` left in dist; gives the tarball's path. */
export function pack(folder) {
  execFileSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder], { cwd: ROOT });
  return join(folder, readdirSync(folder).find((name) => name.endsWith('.tgz')));
}

/** Unpacks a tarball where `folder`'s files find it by the package's name; gives that place. */
export function install(tarball, folder) {
  const place = join(folder, 'node_modules', 'tool-call-closure');
  mkdirSync(place, { recursive: true });
  execFileSync('tar', ['-xzf', tarball, '-C', place, '--strip-components=1']);
  return place;
}

/** Runs jobs, two at a time, and keeps the order of their results. */
export async function pool(jobs) {
  const results = [];
  let next = 0;
  const work = async () => {
    while (next < jobs.length) {
      const at = next;
      next += 1;
      results[at] = await jobs[at]();
    }
  };
  await Promise.all([work(), work()]);
  return results;
}

/** Prints rows of cells in columns, the first row as the head. */
export function printTable(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => String(row[column]).length)));
  const line = (row) => `| ${row.map((cell, column) => String(cell).padEnd(widths[column])).join(' | ')} |`;
  const [head, ...body] = rows;
  console.log([line(head), line(widths.map((width) => '-'.repeat(width))), ...body.map(line)].join('\n'));
}
