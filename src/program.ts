/** How this program is called, for messages that name one of its commands. */
import { basename } from 'node:path';

/** `yardgraph` where the package is installed; in a checkout, no command has this name. */
export const program = basename(process.argv[1] ?? '') === 'yardgraph' ? 'yardgraph' : 'node dist/src/cli.js';
