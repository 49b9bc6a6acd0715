import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

const compiledTo = dirname(__dirname);

/** The folder of the package. This file may be below `dist`. */
export const root = basename(compiledTo) === 'dist' ? dirname(compiledTo) : compiledTo;

/** A checkout, which has the source, has no command `yardgraph`. */
export const program = existsSync(join(root, 'src')) ? 'node dist/src/cli.js' : 'yardgraph';
