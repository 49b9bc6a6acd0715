/**
 * Whether records may be stored: their shape, their references and their unique fields. Everything wrong in a batch is
 * named at once, so that an integrator mends it in one go.
 */
import { conflict, invalid } from '../errors.ts';
import type { ReferenceField } from '../model/fields.ts';
import { expected, type Issue, type Parsed, type Path, quote } from '../model/issues.ts';
import type { RecordKind } from '../model/record-kind.ts';
import { kindNamed, kindOfId } from '../records/index.ts';
import type { WorkspaceStore } from '../store/workspace-store.ts';

type Values = Readonly<Record<string, unknown>>;

/** A record as it was sent, and where: `[2]` in a batch, `[]` alone. */
interface Candidate<T> {
  readonly path: Path;
  readonly parsed: Parsed<T>;
  /** What is stored now, when a record is to be changed: it may keep its own unique values. */
  readonly current?: object;
}

/** The fields of a candidate that nothing is wrong with so far. */
interface Fields {
  readonly path: Path;
  readonly values: Values;
  readonly current: Values;
}

/**
 * The values of all candidates, in their order. Throws a ServiceError with every issue there is: 400, or 409 when
 * the only ones are values taken by other records. Runs inside the transaction that stores them.
 */
export async function accepted<T extends object>(
  store: WorkspaceStore,
  kind: RecordKind,
  candidates: readonly Candidate<T>[],
): Promise<T[]> {
  const values: T[] = [];
  const fields: Fields[] = [];
  const malformed: Issue[] = [];
  for (const { path, parsed, current = {} } of candidates) {
    if (parsed.issues) malformed.push(...parsed.issues.map((issue) => ({ ...issue, path: [...path, ...issue.path] })));
    else values.push(parsed.value);
    const sound = parsed.issues ? parsed.sound : (parsed.value as Values);
    fields.push({ path, values: sound, current: current as Values });
  }

  const unresolved = await referenceIssues(store, kind, fields);
  const taken = await uniquenessIssues(store, kind, fields);
  if (malformed.length + unresolved.length > 0) throw invalid(inOrder([...malformed, ...unresolved, ...taken]));
  if (taken.length > 0) throw conflict(inOrder(taken));
  return values;
}

/** By position in the batch; issues of one record stay in the order they were found. */
const inOrder = (issues: readonly Issue[]): Issue[] =>
  issues.toSorted(({ path: [a] }, { path: [b] }) => (typeof a === 'number' && typeof b === 'number' ? a - b : 0));

interface Reference {
  readonly path: Path;
  readonly field: ReferenceField;
  readonly id: string;
}

/** An id in this service's own form must be of the right kind and exist; any other text is a foreign identifier. */
async function referenceIssues(store: WorkspaceStore, kind: RecordKind, records: readonly Fields[]): Promise<Issue[]> {
  const issues: Issue[] = [];
  const own: Reference[] = [];
  for (const reference of referencesOf(kind, records)) {
    const { path, field, id } = reference;
    const target = kindOfId(id);
    if (target?.name === field.target) own.push(reference);
    else if (target || field.mustExist) {
      issues.push({ path, message: expected(`the ID of a stored ${kindNamed(field.target).label}`, id) });
    }
  }

  for (const name of new Set(own.map(({ field }) => field.target))) {
    const target = kindNamed(name);
    const references = own.filter(({ field }) => field.target === name);
    const existing = await store.existing(target, 'id', [...new Set(references.map(({ id }) => id))]);
    for (const { path, id } of references) {
      if (!existing.has(id)) issues.push({ path, message: `there is no ${target.label} with the ID ${quote(id)}` });
    }
  }
  return issues;
}

function* referencesOf(kind: RecordKind, records: readonly Fields[]): Generator<Reference> {
  for (const [name, field] of Object.entries(kind.fields)) {
    if (field.type !== 'reference') continue;
    for (const { path, values } of records) {
      const id = values[name];
      if (typeof id === 'string') yield { path: [...path, name], field, id };
    }
  }
}

/** A unique value must not be taken by a stored record, nor by an earlier one of the batch. */
async function uniquenessIssues(store: WorkspaceStore, kind: RecordKind, records: readonly Fields[]): Promise<Issue[]> {
  const issues: Issue[] = [];
  for (const [name, field] of Object.entries(kind.fields)) {
    if (!field.unique) continue;
    const sent = records.flatMap(({ path, values, current }) => {
      const value = values[name];
      return typeof value === 'string' && value !== current[name] ? [{ path, value }] : [];
    });
    if (sent.length === 0) continue;

    const stored = await store.existing(kind, name, [...new Set(sent.map(({ value }) => value))]);
    const earlier = new Map<string, Path>();
    for (const { path, value } of sent) {
      const first = earlier.get(value);
      if (stored.has(value)) {
        issues.push({ path: [...path, name], message: `another ${kind.label} has the ${name} ${quote(value)}` });
      } else if (first) {
        issues.push({ path: [...path, name], message: `item ${first.join('.')} has the ${name} ${quote(value)} too` });
      } else earlier.set(value, path);
    }
  }
  return issues;
}
