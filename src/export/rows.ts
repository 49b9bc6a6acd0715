/** Records as rows: flat, a column for each field, in the form that an import reads. */
import { csvCell } from '../model/csv.ts';
import { constantCase, uncapitalized } from '../model/labels.ts';
import { linkFields } from '../model/links.ts';
import type { RecordKind, RecordOf, Values } from '../model/record-kind.ts';
import { kindNamed } from '../records/index.ts';
import type { RecordReads } from '../store/records/read-records.ts';

/** The external IDs of the records that links lead to, by their IDs. */
type Targets = ReadonlyMap<string, Values>;

export interface Column {
  readonly name: string;
  readonly read: (record: Values, targets: Targets) => unknown;
}

/**
 * Returns the columns of a kind: its fields, with external IDs as one object. If keys are named, these have a column each instead, and so
 * do those of the records that links lead to.
 */
export function columnsOf(kind: RecordKind, keys: readonly string[]): Column[] {
  const links = new Map(
    linkFields(kind).map(([link, field, { target }]) => [field, { link, target: kindNamed(target) }]),
  );
  return Object.keys(kind.storedFields).flatMap((field): Column[] => {
    if (field === 'workspaceId') return [];
    const plain: Column = { name: field, read: (record) => record[field] };
    if (keys.length === 0) return [plain];
    if (field === 'externalIds') {
      return keys.map((key) => ({ name: `externalIds.${key}`, read: ({ externalIds }) => idIn(externalIds, key) }));
    }
    const link = links.get(field);
    if (!link?.target.fields.externalIds) return [plain];
    return [
      plain,
      ...keys.map(
        (key): Column => ({
          name: `${link.link}.externalIds.${key}`,
          read: (record, targets) => idIn(targets.get(String(record[field])), key),
        }),
      ),
    ];
  });
}

const idIn = (externalIds: unknown, key: string): unknown =>
  typeof externalIds === 'object' && externalIds !== null && Object.hasOwn(externalIds, key)
    ? (externalIds as Values)[key]
    : undefined;

export async function readTargets(
  store: Pick<RecordReads, 'find'>,
  kind: RecordKind,
  records: readonly RecordOf<RecordKind>[],
): Promise<Targets> {
  const idsByKind = new Map<RecordKind, Set<string>>();
  for (const [, field, { target }] of linkFields(kind)) {
    const ids = idsByKind.get(kindNamed(target)) ?? new Set<string>();
    for (const record of records as readonly Values[]) if (typeof record[field] === 'string') ids.add(record[field]);
    idsByKind.set(kindNamed(target), ids);
  }
  const targets = new Map<string, Values>();
  for (const [target, ids] of idsByKind) {
    if (!target.fields.externalIds || ids.size === 0) continue;
    for (const found of await store.find(target, [...ids], new Set(['id', 'externalIds']))) {
      const { id, externalIds } = found as Values;
      targets.set(String(id), (externalIds ?? {}) as Values);
    }
  }
  return targets;
}

export interface Format {
  readonly type: string;
  header(columns: readonly Column[]): string;
  row(kind: RecordKind, columns: readonly Column[], record: Values, targets: Targets): string;
}

export const ndjson: Format = {
  type: 'application/x-ndjson; charset=utf-8',
  header: () => '',
  row(kind, columns, record, targets) {
    const row: Record<string, unknown> = { kind: constantCase(uncapitalized(kind.name)) };
    for (const { name, read } of columns) {
      const value = read(record, targets);
      if ((value ?? null) !== null) row[name] = value;
    }
    return `${JSON.stringify(row)}\n`;
  },
};

const csvWith = (start: string, protect: (text: string) => string): Format => ({
  type: 'text/csv; charset=utf-8',
  header: (columns) => `${start}${columns.map(({ name }) => csvCell(protect(name))).join(',')}\n`,
  row: (_kind, columns, record, targets) =>
    `${columns.map(({ read }) => csvCell(cellOf(read(record, targets), protect))).join(',')}\n`,
});

function cellOf(value: unknown, protect: (text: string) => string): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return protect(value);
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

export const csv = csvWith('', (text) => text);

/** For spreadsheet programs: with a byte order mark, and an apostrophe before texts that they would execute. */
export const excelCsv = csvWith('\uFEFF', (text) => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text));
