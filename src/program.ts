/** Where this program is, and how it is called, for messages that name one of its commands. */
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

const compiledTo = dirname(__dirname);

/** The folder of the package: in a checkout, and where it is installed, this file may be below `dist`. */
export const root = basename(compiledTo) === 'dist' ? dirname(compiledTo) : compiledTo;

/** Only a checkout has the source, and there is no command `yardgraph` there. */
export const program = existsSync(join(root, 'src')) ? 'node dist/src/cli.js' : 'yardgraph';
