// A context that has ECMAScript, the two classes of the Encoding API, and no way to compile text.
import { readFileSync } from 'node:fs';
import { createContext, Script, SourceTextModule } from 'node:vm';

const [, , format, folder] = process.argv;
const context = createContext({ TextEncoder, TextDecoder }, { codeGeneration: { strings: false, wasm: false } });

async function load(path) {
  const module = new SourceTextModule(readFileSync(path, 'utf8'), { context, identifier: path });
  await module.link((name) => {
    throw new Error(`${path} imports ${name}`);
  });
  await module.evaluate();
  return module.namespace;
}

function required(path) {
  const wrapped = new Script(`(function (module, exports) {${readFileSync(path, 'utf8')}\n})`);
  const module = { exports: {} };
  wrapped.runInContext(context)(module, module.exports);
  return module.exports;
}

const dist = `${folder}/node_modules/tool-call-closure/dist`;
const library = format === 'esm' ? await load(`${dist}/index.js`) : required(`${dist}/index.cjs`);
const { smoke } = await load(`${folder}/smoke.mjs`);
console.log(JSON.stringify(await smoke(library)));
