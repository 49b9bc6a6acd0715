/** Entries that stay in the browser: columns of tables, and choices and states of imports. */

/** Null for a damaged entry, which would stop each page that reads it. */
export function readEntry(name: string) {
  try {
    return JSON.parse(localStorage.getItem(name) ?? 'null');
  } catch {
    return null;
  }
}

export function writeEntry(name: string, value: unknown): void {
  try {
    localStorage.setItem(name, JSON.stringify(value));
  } catch {
    throw new Error('this browser has no room left to keep the state of an import');
  }
}

/** The columns that were chosen last, by kind. */
export const chosenColumns = (): Readonly<Record<string, string | undefined>> => readEntry('yardgraph.columns') ?? {};

/** Without room, the address alone has the columns. */
export function keepColumns(kind: string, columns?: string): void {
  try {
    writeEntry('yardgraph.columns', { ...chosenColumns(), [kind]: columns });
  } catch {}
}
