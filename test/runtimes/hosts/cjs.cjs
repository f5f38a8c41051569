// Node, Bun and Deno: the package by its name, by require.
const library = require('tool-call-closure');

import('./smoke.mjs').then(async ({ smoke }) => console.log(JSON.stringify(await smoke(library))));
