/** Entries that stay in the browser: columns of tables, and choices and states of imports. */

/** Null for a damaged entry, which would stop each page that reads it. */
export function readEntry(name: string) {
  try {
    return JSON.parse(localStorage.getItem(name) ?? 'null');
  } catch {
    return null;
  }
}

/** False without room. */
export function writeEntry(name: string, value: unknown): boolean {
  try {
    localStorage.setItem(name, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

/** The columns that were chosen last, by kind. */
export function keptColumns(): Readonly<Record<string, string>> {
  const entries = Object.entries<string>(readEntry('yardgraph.columns') ?? {});
  return Object.fromEntries(entries.filter(([, columns]) => typeof columns === 'string'));
}

export const keepColumns = (kind: string, columns?: string) =>
  writeEntry('yardgraph.columns', { ...keptColumns(), [kind]: columns });
