/** Links of rows: to records that are stored, and to rows of the same import, which have no IDs of the service yet. */
import { type Issue, quote } from '../model/issues.ts';
import { linkFields } from '../model/links.ts';
import type { RecordKind } from '../model/record-kind.ts';
import { kindOfId, recordKinds } from '../records/index.ts';
import type { Outside, Row } from './rows.ts';
import type { LateLink, State } from './state.ts';

interface Linked {
  readonly row: Row;
  readonly record: Readonly<Record<string, unknown>>;
  readonly issues: readonly Issue[];
  readonly late: readonly Omit<LateLink, 'kind' | 'record'>[];
  /** The IDs of the records that earlier rows got, by the references that have the IDs of these rows. */
  readonly known: ReadonlyMap<string, string>;
}

const targets = new Set(recordKinds.flatMap((kind) => linkFields(kind).map(([, , { target }]) => target)));

export const isTarget = ({ name }: RecordKind): boolean => targets.has(name);

/**
 * Returns the rows with their links. One that leads to an earlier row has its record's ID; one to a row of the same part has its `ref`, if
 * the rows are created; one to a later row is set when that is stored.
 */
export async function linkRows(
  state: State,
  kind: RecordKind,
  rows: readonly Row[],
  areCreated: boolean,
): Promise<readonly Linked[]> {
  const links = linkFields(kind);
  const found = new Map<string, ReadonlyMap<string, string | null>>();
  for (const [, field, { target }] of links) {
    const ids = rows.flatMap(({ fields: { [field]: id } }) => (typeof id === 'string' ? [id] : []));
    if (ids.length > 0) found.set(field, await state.findRows(target, ids));
  }
  const ownIds = rows.flatMap(({ id }) => id ?? []);
  const own = isTarget(kind) ? await state.findRows(kind.name, ownIds) : new Map();
  const inPart = new Set<string>();
  const isDouble = rows.map(({ id }) => {
    if (id === undefined || !isTarget(kind)) return false;
    const isKnown = inPart.has(id) || (own.get(id) ?? null) !== null;
    inPart.add(id);
    return isKnown;
  });

  return rows.map((row, index): Linked => {
    const record: Record<string, unknown> = { ...row.fields };
    const issues: Issue[] = [...row.issues];
    const late: Linked['late'][number][] = [];
    const known = new Map<string, string>();
    if (isDouble[index]) issues.push({ path: ['id'], message: `an earlier row has the ID ${quote(row.id ?? '')}` });
    for (const [link, field, { target }] of links) {
      const { [field]: id } = record;
      const to = typeof id === 'string' ? found.get(field)?.get(id) : undefined;
      if (typeof id !== 'string' || to === undefined) {
        setOutside(record, row.outside, { link, field });
        continue;
      }
      if (to === '') issues.push(refusedTarget(field, id));
      else if (to !== null) {
        record[field] = to;
        known.set(field, to);
      } else {
        delete record[field];
        if (areCreated && target === kind.name && inPart.has(id)) record[link] = { ref: id };
        else late.push({ field, target, id });
      }
    }
    return {
      row,
      record: areCreated && isTarget(kind) && row.id !== undefined ? { ...record, ref: row.id } : record,
      issues,
      late,
      known,
    };
  });
}

function setOutside(
  record: Record<string, unknown>,
  outside: readonly Outside[],
  { link, field }: { link: string; field: string },
): Outside | undefined {
  const given = outside.find((other) => other.link === link);
  if (!given) return undefined;
  delete record[field];
  record[link] = { externalId: { key: given.key, value: given.value } };
  return given;
}

export interface Checked {
  readonly row: Row;
  readonly record: Record<string, unknown>;
  /** The names of the links and references to rows of the import. The service cannot find their targets before they are stored. */
  readonly coming: Set<string>;
  /** Why the row will be refused, whatever the service says of it. */
  readonly issues: Issue[];
  /** Links to IDs that no row has, and that the service does not give: it keeps them as those of another system. */
  readonly foreign: ForeignLink[];
}

export interface ForeignLink {
  readonly link: string;
  readonly id: string;
}

export async function linkUnstored(state: State, kind: RecordKind, rows: readonly Row[]): Promise<readonly Checked[]> {
  const checked = rows.map(
    (row): Checked => ({ row, record: { ...row.fields }, coming: new Set(), issues: [], foreign: [] }),
  );
  for (const [link, field, { target }] of linkFields(kind)) {
    const byKey = new Map<string, { readonly value: string; readonly coming: Set<string> }[]>();
    const withId = checked.flatMap((row) => {
      const given = setOutside(row.record, row.row.outside, { link, field });
      if (given) {
        const others = byKey.get(given.key) ?? [];
        byKey.set(given.key, others);
        others.push({ value: given.value, coming: row.coming });
      }
      const { [field]: id } = row.record;
      return typeof id === 'string' ? [{ ...row, id }] : [];
    });
    const ids = withId.map(({ id }) => id);
    const expected = ids.length > 0 ? await state.findExpected(target, ids) : new Map<string, boolean>();
    for (const { id, coming, issues, foreign } of withId) {
      const isRefused = expected.get(id);
      if (isRefused !== undefined) coming.add(field);
      else if (kindOfId(id)?.name !== target) foreign.push({ link, id });
      if (isRefused) issues.push(refusedTarget(field, id));
    }
    for (const [key, links] of byKey) {
      const values = links.map(({ value }) => value);
      const found = await state.findOutside(target, key, values);
      for (const { value, coming } of links) if (found.has(value)) coming.add(link);
    }
  }
  return checked;
}

const refusedTarget = (field: string, id: string): Issue => ({
  path: [field],
  message: `the row with the ID ${quote(id)} was refused`,
});
