/** The error lists every invalid field of a batch, so that an integrator can fix all of them at once. */
import { conflict, invalid } from '../../errors.ts';
import { count, type Issue, type Parsed, type Path, type PathOf, quote, validValues } from '../../model/issues.ts';
import type { RecordKind, Values } from '../../model/record-kind.ts';
import { kindNamed, kindOfId } from '../../records/index.ts';
import type { References } from '../../store/query/dialect.ts';
import type { Lookups } from '../../store/writes/lookups.ts';
import { noRecord, wrongKind } from './batch.ts';

type CheckLookups = Pick<Lookups, 'existingValues'>;

interface ParsedBatch {
  readonly parsed: readonly Parsed<object>[];
  readonly pathOf: PathOf;
}

interface Candidates extends ParsedBatch {
  readonly unresolved: readonly Issue[];
  /** For changes, the stored record of each, if there is one: it may keep its own unique values. */
  readonly current?: readonly (object | undefined)[];
  /** Issues that the service has found itself: invalid input, and conflicts with stored records. */
  readonly invalid?: readonly Issue[];
  readonly conflicts?: readonly Issue[];
  /** A field of which the service has looked up all values itself. */
  readonly lookedUp?: string | undefined;
}

interface Issues {
  readonly issues: readonly Issue[];
  /** Larger than the list if an issue such as "and 12 more" stands for several. */
  readonly total: number;
  readonly areConflicts: boolean;
}

/** What a write does with the invalid items of a batch: rejects the whole batch, or leaves them out and stores the others. */
export type OnInvalid = 'fail' | 'skip';

/** An item that was left out, and why. The paths of its issues begin in the item. */
export interface Rejected {
  readonly outcome: 'rejected';
  readonly issues: readonly Issue[];
}

/** True for an item that was left out: no field of a record is a list. */
export const isRejected = (item: object): item is Rejected => 'issues' in item && Array.isArray(item.issues);

/** By the index of the item. */
export type RejectedItems = Map<number, Issue[]>;

export function rejectedItems({ issues }: Pick<Issues, 'issues'>): RejectedItems {
  const rejected: RejectedItems = new Map();
  for (const { path, message } of issues) {
    const depth = path.findIndex((step) => typeof step === 'number');
    rejectItem(rejected, Number(path[depth] ?? 0), { path: path.slice(depth + 1), message });
  }
  return rejected;
}

export function rejectItem(rejected: RejectedItems, index: number, issue: Issue): void {
  const issues = rejected.get(index);
  if (issues) issues.push(issue);
  else rejected.set(index, [issue]);
}

/** Throws a ServiceError that lists every issue, if there are any: 400, or 409 if all of them are conflicts with other records. */
export function throwIssues(found: readonly Issues[]): void {
  const issues = found.flatMap((each) => each.issues);
  if (issues.length === 0) return;
  if (found.every(({ areConflicts }) => areConflicts)) throw conflict(issues);
  throw invalid(
    issues,
    found.reduce((sum, { total }) => sum + total, 0),
  );
}

export async function findIssues(find: CheckLookups, kind: RecordKind, candidates: Candidates): Promise<Issues> {
  const { parsed, unresolved, invalid = [], conflicts = [] } = candidates;
  const malformed = malformedIssues(candidates);
  const taken = await uniquenessIssues(find, kind, candidates);
  const others = [...invalid, ...unresolved, ...conflicts, ...taken];
  return {
    issues: others.length > 0 ? inOrder([...malformed, ...others]) : malformed,
    total: parsed.reduce((sum, { issues = [] }) => sum + issues.length, others.length),
    areConflicts: malformed.length + unresolved.length + invalid.length === 0,
  };
}

/** Issues listed per batch. Beyond that, only the first issue of each record is listed, and the rest are counted. */
const maxListed = 10_000;

function malformedIssues({ parsed, pathOf }: ParsedBatch): Issue[] {
  const malformed: Issue[] = [];
  parsed.forEach(({ issues = [] }, index) => {
    const path = pathOf(index);
    const listed = malformed.length < maxListed ? issues : issues.slice(0, 1);
    for (const issue of listed) malformed.push({ ...issue, path: [...path, ...issue.path] });
    const others = issues.length - listed.length;
    if (others > 0) malformed.push({ path, message: `and ${count(others)} more` });
  });
  return malformed;
}

function* textsOf({ parsed, pathOf }: ParsedBatch, field: string) {
  for (const [index, item] of parsed.entries()) {
    const text = validValues(item)[field];
    if (typeof text === 'string') yield { index, path: [...pathOf(index), field], text };
  }
}

const inOrder = (issues: readonly Issue[]): Issue[] =>
  issues.toSorted(({ path: a }, { path: b }) => placeIn(a) - placeIn(b));

/** Before it, a path has only names of lists. */
const placeIn = (path: Path): number => Number(path.find((step) => typeof step === 'number') ?? 0);

interface Reference {
  readonly path: Path;
  readonly id: string;
}

/** A text that is no ID of this service is a foreign identifier, if the field may have one. */
function referencesIn(kind: RecordKind, batch: ParsedBatch) {
  const byTarget = new Map<RecordKind, Reference[]>();
  const issues: Issue[] = [];
  for (const [name, field] of Object.entries(kind.fields)) {
    if (field.type !== 'reference') continue;
    const target = kindNamed(field.target);
    const references = byTarget.get(target) ?? [];
    byTarget.set(target, references);
    for (const { path, text: id } of textsOf(batch, name)) {
      const actual = kindOfId(id);
      if (actual === target) references.push({ path, id });
      else if (actual || field.mustExist) issues.push({ path, message: wrongKind(target, id) });
    }
  }
  return { byTarget, issues };
}

const idsOf = (references: readonly Reference[]): string[] => [...new Set(references.map(({ id }) => id))];

export async function referenceIssues(find: CheckLookups, kind: RecordKind, batch: ParsedBatch): Promise<Issue[]> {
  const { byTarget, issues } = referencesIn(kind, batch);
  for (const [target, references] of byTarget) {
    if (references.length === 0) continue;
    const existing = await find.existingValues(target, 'id', idsOf(references));
    for (const { path, id } of references) {
      if (!existing.has(id)) issues.push({ path, message: noRecord(target, id) });
    }
  }
  return issues;
}

/** Returns the references of a batch that is valid if they are found, and undefined for any other batch. */
export function validReferences(kind: RecordKind, batch: ParsedBatch): References | undefined {
  const { byTarget, issues } = referencesIn(kind, batch);
  if (issues.length > 0 || batch.parsed.some((item) => item.issues)) return undefined;
  return new Map([...byTarget].map(([target, references]) => [target, idsOf(references)]));
}

async function uniquenessIssues(find: CheckLookups, kind: RecordKind, candidates: Candidates): Promise<Issue[]> {
  const issues: Issue[] = [];
  const current = (candidates.current ?? []) as readonly (Values | undefined)[];
  for (const [name, field] of Object.entries(kind.fields)) {
    if (!field.unique || name === candidates.lookedUp) continue;
    const sent = [...textsOf(candidates, name)].filter(({ index, text }) => text !== current[index]?.[name]);
    if (sent.length === 0) continue;

    const stored = await find.existingValues(kind, name, [...new Set(sent.map(({ text }) => text))]);
    const earlier = new Map<string, number>();
    for (const { index, path, text } of sent) {
      const first = earlier.get(text);
      if (stored.has(text)) {
        issues.push({ path, message: `another ${kind.label} has the ${name} ${quote(text)}` });
      } else if (first !== undefined) {
        issues.push({ path, message: `item [${first}] of this batch also has the ${name} ${quote(text)}` });
      } else earlier.set(text, index);
    }
  }
  return issues;
}
