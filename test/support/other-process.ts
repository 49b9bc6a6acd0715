/** Another process that has the same SQLite file open: it holds the write lock on request, and reads what is committed. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

const program = 'test/support/other-process-main.cjs';

export interface OtherProcess {
  /** Runs a statement on the connection that can hold locks. */
  run(sql: string): Promise<void>;
  /** The rows that a connection of its own reads. */
  read(sql: string, values?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>;
  stop(): Promise<void>;
}

export async function startOtherProcess(file: string): Promise<OtherProcess> {
  const child = fork(program, [file], { stdio: 'inherit' });
  await once(child, 'message');
  let last = 0;

  const ask = async (kind: 'run' | 'read', sql: string, values: readonly unknown[] = []) => {
    last += 1;
    const { id, error, rows } = await replyTo(child, { id: last, kind, sql, values });
    if (error) throw new Error(`${id}: ${error}`);
    return rows;
  };

  return {
    run: async (sql) => void (await ask('run', sql)),
    read: (sql, values) => ask('read', sql, values),
    async stop() {
      child.disconnect();
      await once(child, 'exit');
    },
  };
}

interface Reply {
  readonly id: number;
  readonly error?: string;
  readonly rows: readonly Record<string, unknown>[];
}

const replyTo = (child: ChildProcess, message: { id: number; kind: string; sql: string; values: readonly unknown[] }) =>
  new Promise<Reply>((resolve) => {
    const listen = (reply: Reply) => {
      if (reply.id !== message.id) return;
      child.off('message', listen);
      resolve(reply);
    };
    child.on('message', listen);
    child.send(message);
  });
