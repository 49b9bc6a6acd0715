/** Counts the statements of a request, for its log line. */
import type { Run } from './driver.ts';

export interface Usage {
  /**
   * Statements that were sent, except those that begin and end transactions, or that set up a connection. One that several requests share
   * counts for each of them.
   */
  statements: number;
}

export const counted =
  (run: Run, usage: Usage): Run =>
  (sql, values) => {
    usage.statements += 1;
    return run(sql, values);
  };
