// publint (strict) and Are The Types Wrong over the packed tarball: neither may have anything to say.
import { readFileSync } from 'node:fs';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { pack, printTable, scratch } from '../tarball.mjs';

const tarball = readFileSync(pack(scratch('lint')));

const { messages, pkg } = await publint({ pack: { tarball: new Uint8Array(tarball).buffer }, strict: true });
const findings = messages.map((message) => ['publint', formatMessage(message, pkg, { color: false })]);
const rows = [['publint, strict', messages.length === 0 ? 'ok' : 'FAILED']];

const analysis = await checkPackage(createPackageFromTarballData(new Uint8Array(tarball)));
if (analysis.types === false) throw new Error('no types were found');
const kindOf = (problem) => problem.resolutionKind ?? (problem.resolutionOption === 'node16' ? 'node16' : problem.resolutionOption);
// node10 ignores exports; main and types serve it.
for (const kind of ['node10', 'node16-cjs', 'node16-esm', 'bundler']) {
  const { resolution, isWildcard } = analysis.entrypoints['.'].resolutions[kind];
  const found = analysis.problems.filter((problem) => kind.startsWith(kindOf(problem) ?? kind));
  findings.push(...found.map((problem) => [`attw, ${kind}`, JSON.stringify(problem)]));
  const file = resolution?.fileName.replace(/^.*\/tool-call-closure\//, '');
  rows.push([`attw, ${kind}`, found.length === 0 && file !== undefined && !isWildcard ? `ok (${file})` : 'FAILED']);
}

printTable([['check', 'result'], ...rows]);
for (const finding of findings) console.error(`\n${finding.join(': ')}`);
const failed = rows.filter(([, result]) => result === 'FAILED').length;
console.log(`\n${rows.length - failed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
