// Node, Bun and Deno: the package by its name, by import.
import * as library from 'tool-call-closure';
import { smoke } from './smoke.mjs';

console.log(JSON.stringify(await smoke(library)));
