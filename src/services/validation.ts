/**
 * Validates records against the rules and the stored records: shapes, references and unique fields. The error lists every
 * invalid field of a batch, so that an integrator can fix all of them at once.
 */
import { conflict, invalid } from '../errors.ts';
import { count, type Issue, type Parsed, type Path, quote } from '../model/issues.ts';
import type { RecordKind } from '../model/record-kind.ts';
import { kindNamed, kindOfId } from '../records/index.ts';
import type { CheckStore } from '../store/check-store.ts';
import { noRecord, wrongKind } from './unknown-ids.ts';

type Values = Readonly<Record<string, unknown>>;

/** Parsed records: a batch, where paths begin with an index, or a single change. */
interface Candidates {
  readonly parsed: readonly Parsed<object>[];
  readonly isSingle?: boolean;
  /** For changes, the stored record of each, if there is one: it may keep its own unique values. */
  readonly current?: readonly (object | undefined)[];
  /**
   * What the service has found itself: issues that make the request invalid, among them those of references, and conflicts with stored
   * records.
   */
  readonly found?: { readonly invalid: readonly Issue[]; readonly conflicts: readonly Issue[] };
  /** A field of which the service has looked up all values itself. */
  readonly lookedUp?: string | undefined;
}

/**
 * Throws a ServiceError that lists every issue of the candidates: 400, or 409 if all of them are conflicts with other records.
 * Runs inside the transaction that stores them. With `uniqueness: 'database'` it looks up taken values only if there are other
 * issues. They are rare, and the lookup costs a statement: otherwise the database rejects them, and the check runs again with
 * 'lookup'.
 */
export async function requireValid(
  store: CheckStore,
  kind: RecordKind,
  candidates: Candidates,
  uniqueness: 'lookup' | 'database',
): Promise<void> {
  throwIssues([await findIssues(store, kind, candidates, uniqueness)]);
}

/** The issues of candidates, in their order. */
interface Issues {
  readonly issues: readonly Issue[];
  /** Larger than the list if an issue such as "and 12 more" stands for several. */
  readonly total: number;
  /** Whether all of them are conflicts with other records. */
  readonly areConflicts: boolean;
}

/** Throws a ServiceError if there are issues. */
export function throwIssues(found: readonly Issues[]): void {
  const issues = found.flatMap((each) => each.issues);
  if (issues.length === 0) return;
  if (found.every(({ areConflicts }) => areConflicts)) throw conflict(issues);
  throw invalid(
    issues,
    found.reduce((sum, { total }) => sum + total, 0),
  );
}

/** What requireValid would throw. Paths begin with `prefix`. */
export async function findIssues(
  store: CheckStore,
  kind: RecordKind,
  candidates: Candidates,
  uniqueness: 'lookup' | 'database',
  prefix: Path = [],
): Promise<Issues> {
  const { parsed, found } = candidates;
  const malformed = malformedIssues(candidates);
  const unresolved = found ? found.invalid : await referenceIssues(store, kind, candidates);
  const isInvalid = malformed.length + unresolved.length > 0;
  const taken = isInvalid || uniqueness === 'lookup' ? await uniquenessIssues(store, kind, candidates) : [];
  const conflicts = [...(found?.conflicts ?? []), ...taken];
  const others = [...unresolved, ...conflicts];
  const issues = others.length > 0 ? inOrder([...malformed, ...others]) : malformed;
  return {
    issues: prefix.length > 0 ? issues.map((issue) => ({ ...issue, path: [...prefix, ...issue.path] })) : issues,
    total: parsed.reduce((sum, { issues = [] }) => sum + issues.length, others.length),
    areConflicts: !isInvalid,
  };
}

/** Issues listed per batch. Beyond that, only the first issue of each record is listed, and the rest are counted. */
const maxListed = 10_000;

function malformedIssues(candidates: Candidates): Issue[] {
  const malformed: Issue[] = [];
  candidates.parsed.forEach(({ issues = [] }, index) => {
    const path = pathOf(candidates, index);
    const listed = malformed.length < maxListed ? issues : issues.slice(0, 1);
    for (const issue of listed) malformed.push({ ...issue, path: [...path, ...issue.path] });
    const others = issues.length - listed.length;
    if (others > 0) malformed.push({ path, message: `and ${count(others)} more` });
  });
  return malformed;
}

const pathOf = ({ isSingle }: Pick<Candidates, 'isSingle'>, index: number): Path => (isSingle ? [] : [index]);

interface SentText {
  readonly index: number;
  readonly path: Path;
  readonly text: string;
}

/** The valid texts of a field, each with its path in the input. */
function* textsOf(candidates: Pick<Candidates, 'parsed' | 'isSingle'>, field: string): Generator<SentText> {
  for (const [index, { issues, value, validFields }] of candidates.parsed.entries()) {
    const text = ((issues ? validFields : value) as Values)[field];
    if (typeof text === 'string') yield { index, path: [...pathOf(candidates, index), field], text };
  }
}

/** By position in the batch. The issues of one record keep their order. */
const inOrder = (issues: readonly Issue[]): Issue[] =>
  issues.toSorted(({ path: [a] }, { path: [b] }) => (typeof a === 'number' && typeof b === 'number' ? a - b : 0));

interface Reference {
  readonly path: Path;
  readonly target: RecordKind;
  readonly id: string;
}

/**
 * An ID of this service must be of the right kind and exist. Any other text is a foreign identifier, if the field may have one. The
 * records that it looks up are locked: a transaction calls this before it locks those that refer to them, as deletions do, because in
 * another order two transactions could wait for each other.
 */
export async function referenceIssues(
  store: CheckStore,
  kind: RecordKind,
  candidates: Pick<Candidates, 'parsed' | 'isSingle'>,
): Promise<Issue[]> {
  const issues: Issue[] = [];
  const own: Reference[] = [];
  for (const [name, field] of Object.entries(kind.fields)) {
    if (field.type !== 'reference') continue;
    for (const { path, text: id } of textsOf(candidates, name)) {
      const target = kindOfId(id);
      if (target?.name === field.target) own.push({ path, target, id });
      else if (target || field.mustExist) {
        issues.push({ path, message: wrongKind(kindNamed(field.target), id) });
      }
    }
  }

  for (const target of new Set(own.map((reference) => reference.target))) {
    const references = own.filter((reference) => reference.target === target);
    const existing = await store.existingValues(target, 'id', [...new Set(references.map(({ id }) => id))]);
    for (const { path, id } of references) {
      if (!existing.has(id)) issues.push({ path, message: noRecord(target, id) });
    }
  }
  return issues;
}

/** A unique value must not be taken by a stored record, nor by an earlier record of the batch. */
async function uniquenessIssues(store: CheckStore, kind: RecordKind, candidates: Candidates): Promise<Issue[]> {
  const issues: Issue[] = [];
  const current = (candidates.current ?? []) as readonly (Values | undefined)[];
  for (const [name, field] of Object.entries(kind.fields)) {
    if (!field.unique || name === candidates.lookedUp) continue;
    const sent = [...textsOf(candidates, name)].filter(({ index, text }) => text !== current[index]?.[name]);
    if (sent.length === 0) continue;

    const stored = await store.existingValues(kind, name, [...new Set(sent.map(({ text }) => text))]);
    const earlier = new Map<string, Path>();
    for (const { path, text } of sent) {
      const first = earlier.get(text);
      if (stored.has(text)) {
        issues.push({ path, message: `another ${kind.label} has the ${name} ${quote(text)}` });
      } else if (first) {
        issues.push({ path, message: `item [${first[0]}] of this batch has the ${name} ${quote(text)} too` });
      } else earlier.set(text, path);
    }
  }
  return issues;
}
