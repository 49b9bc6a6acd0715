#!/usr/bin/env node
import { runCommand } from './command-line.ts';

// SQLite statements run in libuv's threads, and Node's default of four is fewer than the connections.
process.env.UV_THREADPOOL_SIZE ??= '8';

void runCommand(process.argv.slice(2), process.env).then((code) => {
  process.exitCode = code;
});
