/**
 * An export writes names beside IDs, and people edit the names. The texts beside an ID decide where they are not those
 * of its record, if the stored row still links to this record, or already to theirs: people import a file, edit it
 * further, and import it again. An ID that was edited alone looks the same: a note says that the name counts. Others
 * are refused.
 */
import type { Yardgraph } from '../../client/index.ts';
import { words } from '../model/labels.ts';
import type { RecordKind, Values } from '../model/record-kind.ts';
import { isBlank } from '../model/schemas.ts';
import { kindOfId, label, labelKey, labelledFields } from '../records/index.ts';
import { contradiction, type RowIndex } from './items.ts';
import type { Reading, WarnOf } from './reading.ts';
import { readNodes, slices } from './requests.ts';
import { columnPath, type FileRow, keyValue, type LinkCell } from './row.ts';

/** `by` is of the cells that decide, as in a `LinkCell`; empty if the row is refused. */
export type Edit = readonly [row: number, field: string, by: readonly string[]];

/** An unknown label may be one that the import brings. */
export async function findEdits(
  { yardgraph, reader }: Reading & { readonly yardgraph: Yardgraph },
  index: RowIndex,
  rows: readonly FileRow[],
  bringsLabels: boolean,
  warnOf: WarnOf,
): Promise<Edit[]> {
  const isExported = ({ kind, id = '' }: FileRow) => index.upsertKey(kind) === 'id' && kindOfId(id) === kind;
  const all = rows.flatMap((row, at) => textsBesideIds(row).map((beside) => ({ ...beside, at, row })));
  const relevant = all.filter(({ row, id }) => id.target === label || isExported(row));
  const wanted = relevant.map(({ id, key, texts }): Wanted => [id.target, key, texts.map(({ by }) => by)]);
  const targets = await readByKeys(yardgraph, wanted);
  const differing = relevant.flatMap((beside) => {
    const target = targets.get(beside.key ?? '');
    const edited = beside.texts.filter(({ by, value }) => textOf(target, by) !== value);
    return edited.length > 0 ? [{ ...beside, target, edited }] : [];
  });
  const exported = differing.filter(({ row }) => isExported(row));
  const ofRows = exported.map(({ row, id }): Wanted => [row.kind, row.id, [id.field, 'updatedAt']]);
  const stored = await readByKeys(yardgraph, ofRows);
  const linkOf = (row: FileRow, field: string) => (stored.get(row.id ?? '')?.[field] as string | undefined) ?? null;
  const linked = await readByKeys(
    yardgraph,
    exported.map(({ row, id, keyOf, edited }) => [id.target, keyOf(linkOf(row, id.field)), edited.map(({ by }) => by)]),
  );
  return differing.flatMap(({ at, row, id, keyOf, texts, target, edited }): Edit[] => {
    const { name, field, target: kind, value } = id;
    const before = isExported(row) ? stored.get(row.id ?? '') : undefined;
    const isEmpty = texts.every((text) => text.value === null);
    // An earlier part has renamed a record, perhaps this one: nobody may have edited the text.
    const isRenamed = edited.some(({ by, value }) => index.isChangedEarlier(kind, by, value));
    const link = before ? linkOf(row, field) : null;
    const record = linked.get(keyOf(link) ?? '');
    const isStored = isEmpty ? link === null : edited.every((text) => textOf(record, text.by) === text.value);
    const hasText = isEmpty || edited.some((text) => text.value !== null);
    if ((link === value || (before && isStored)) && hasText && !isRenamed) {
      const message = `the ID beside it is of another ${kind === label ? words(name) : kind.label}: the name counts`;
      const column = row.source.names[texts[0]?.cell ?? -1] ?? name;
      // A changed record has probably got the name from an earlier import of this file.
      const isAlone = value !== null && link !== value && !reader.isOlder(row, before);
      if (isAlone) warnOf(row.file)?.({ line: row.source.line, column, message });
      return [[at, field, edited.map(({ by }) => by)]];
    }
    return kind === label && (before || (!isEmpty && (target || !bringsLabels))) ? [[at, field, []]] : [];
  });
}

/** A cell of white space is empty. */
function textOf(target: Values | undefined, by: string): string | null {
  const text = keyValue(target, by);
  return typeof text === 'string' && !isBlank(text) ? text : null;
}

/** The cells of links that have an ID and texts. The IDs of labels are fields. */
function textsBesideIds({ kind, fields, links }: FileRow) {
  const all = links.filter(({ by }) => by !== 'id' && by !== 'any');
  return [...new Set(all.map(({ field }) => field))].flatMap((field) => {
    const texts = all.filter((link) => link.field === field);
    const { type } = labelledFields(kind).find((labelled) => labelled.field === field) ?? {};
    const value = typeof fields[field] === 'string' ? fields[field] : null;
    const ofLabel = texts.slice(0, 1).map((text): LinkCell => ({ ...text, by: 'id', value }));
    const [id] = type ? ofLabel : links.filter((link) => link.field === field && link.by === 'id');
    if (!id) return [];
    const keyOf = (value: string | null) =>
      type ? labelKey(type, value ?? '') : kindOfId(value ?? '') === id.target ? value : null;
    return [{ id, keyOf, key: keyOf(id.value), texts }];
  });
}

export type Wanted = readonly [kind: RecordKind, key: string | null | undefined, fields: readonly string[]];

/** By ID, or by the key of a label. */
export async function readByKeys(yardgraph: Yardgraph, wanted: readonly Wanted[]) {
  const found = new Map<string, Values>();
  for (const kind of new Set(wanted.map(([kind]) => kind))) {
    const ofKind = wanted.filter(([other]) => other === kind);
    const by = kind === label ? 'key' : 'id';
    const fields = new Set([by, ...ofKind.flatMap(([, , fields]) => fields.map((field) => columnPath(field)[0]))]);
    for (const keys of slices([...new Set(ofKind.flatMap(([, key]) => key ?? []))])) {
      const nodes = readNodes(yardgraph, kind, [...fields].join(' '), { [by]: { in: keys } });
      for await (const node of nodes) found.set(node[by] ?? '', node);
    }
  }
  return found;
}

export function applyEdits(rows: readonly FileRow[], edits: readonly Edit[]): readonly FileRow[] {
  const edited = [...rows];
  for (const [at, field, by] of edits) edited[at] = applyEdit(edited[at] as FileRow, field, by);
  return edited;
}

function applyEdit(row: FileRow, field: string, by: readonly string[]): FileRow {
  const { id, key, texts = [] } = textsBesideIds(row).find((beside) => beside.id.field === field) ?? {};
  if (id && by.length === 0) return { ...row, issues: [...row.issues, contradiction([id, ...texts]).issue] };
  const links = row.links.flatMap((link) => {
    if (link.field !== field) return [link];
    return by.includes(link.by) ? [{ ...link, beside: key }] : [];
  });
  if (id?.target !== label) return { ...row, links };
  const value = texts[0]?.value ?? null;
  const named = value === null ? row.named : { ...row.named, [field]: 'name' as const };
  return { ...row, links, fields: { ...row.fields, [field]: value }, named };
}
