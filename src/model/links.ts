/**
 * Parts of an input item besides the fields of its kind: references by an external ID or by the `ref` of another item,
 * instead of an ID, the item's own `ref`, external IDs that are merged into the stored ones, and which record it changes in which version. The
 * services resolve them: see services/match.ts.
 */
import { type ExternalIdsPatch, externalIds, type ReferenceField } from './fields.ts';
import { expected, type Issue, isObject, type Parsed, validValues } from './issues.ts';
import { linkField } from './labels.ts';
import type { RecordKind, UpdateOf } from './record-kind.ts';
import {
  externalIdsIssues,
  identifierProblem,
  idProblem,
  maxIdentifierLength,
  maxLengthOf,
  parseComparedValue,
  type RecordParser,
  textProblem,
  unknownFieldIssues,
  type ValueLimits,
} from './schemas.ts';

export type RecordLink =
  | { readonly externalId: ExternalId; readonly ref?: never }
  /** The `ref` of a record that the same mutation creates. */
  | { readonly ref: string; readonly externalId?: never };

export interface ExternalId {
  readonly key: string;
  readonly value: string;
}

export interface Link {
  /** The name in the input: `project` */
  readonly name: string;
  /** The reference to set: `projectId` */
  readonly field: string;
  readonly target: string;
  readonly to: RecordLink;
}

/** A parsed item that may have links, a name by which others of the same mutation refer to it, and external IDs to merge. */
export type Linkable<T> = Parsed<T> & {
  readonly links?: readonly Link[];
  readonly ref?: string;
  readonly merge?: ExternalIdsMerge;
};

/** External IDs that are merged into the stored ones, instead of replacing them. */
export interface ExternalIdsMerge {
  /** The name in the input. */
  readonly name: string;
  readonly externalIds: ExternalIdsPatch;
}

type LinkFields = readonly (readonly [name: string, field: string, declared: ReferenceField])[];

export const linkFields = ({ fields }: RecordKind): LinkFields =>
  Object.entries(fields).flatMap(([field, declared]) =>
    declared.type === 'reference' ? [[linkField(field), field, declared] as const] : [],
  );

interface Linking {
  readonly fields: ReturnType<typeof linkFields>;
  /** The ways to refer to records. With `ref`, an item may also have a `ref` of its own. */
  readonly ways: readonly (keyof RecordLink)[];
}

/** Parses an item with its links. A link that is null clears its reference, as the ID would. */
export function linkParser<T>(
  { fields: declared, ways }: Linking,
  limits: ValueLimits,
  parse: (input: unknown) => Linkable<T>,
): (input: unknown) => Linkable<T> {
  return (input) => {
    if (!isObject(input)) return parse(input);
    const fields: Record<string, unknown> = { ...input };
    const links: Link[] = [];
    const issues: Issue[] = [];
    for (const [name, field, { target }] of declared) {
      const { [name]: sent } = fields;
      if (sent === undefined) continue;
      delete fields[name];
      if (fields[field] !== undefined) {
        issues.push({ path: [name], message: `expected ${field} or ${name}, received both` });
        delete fields[field];
      } else if (sent === null) fields[field] = null;
      else {
        const problems = linkIssues(sent, ways, limits);
        // The cast is safe: a link without issues has this type.
        if (problems.length === 0) links.push({ name, field, target, to: sent as RecordLink });
        for (const { path, message } of problems) issues.push({ path: [name, ...path], message });
      }
    }
    const { ref } = fields;
    if (ways.includes('ref')) {
      delete fields.ref;
      if ((ref ?? null) !== null) issues.push(...refIssues(ref));
    }
    return {
      ...withIssues(parse(fields), issues),
      ...(links.length > 0 && { links }),
      ...(typeof ref === 'string' && { ref }),
    };
  };
}

function linkIssues(sent: unknown, ways: Linking['ways'], limits: ValueLimits): Issue[] {
  const issues = shapeIssues(sent, ways, 'an object such as {"externalId":{"key":"erp","value":"4711"}}');
  if (issues.length > 0 || !isObject(sent)) return issues;
  const [way, other] = Object.keys(sent);
  if (way === undefined || other !== undefined) {
    const received = way === undefined ? 'an empty object' : 'both';
    return [{ path: [], message: `expected ${ways.join(' or ')}, received ${received}` }];
  }
  if (way === 'ref') return refIssues(sent.ref);
  return externalIdIssues(sent.externalId, limits).map(({ path, message }) => ({ path: [way, ...path], message }));
}

function externalIdIssues(sent: unknown, limits: ValueLimits): Issue[] {
  const maxLength = maxLengthOf(externalIds(), limits);
  const parts = ['key', 'value'] as const;
  const issues = shapeIssues(sent, parts, 'an object such as {"key":"erp","value":"4711"}');
  if (!isObject(sent)) return issues;
  const ofParts = parts.flatMap((part) => {
    const { [part]: text } = sent;
    const problem = typeof text === 'string' ? textProblem(text, maxLength) : expected('text', text);
    return problem === undefined ? [] : [{ path: [part], message: problem }];
  });
  return [...issues, ...ofParts];
}

function shapeIssues(sent: unknown, names: readonly string[], what: string): Issue[] {
  if (!isObject(sent)) return [{ path: [], message: expected(what, sent) }];
  const unknown = Object.keys(sent).filter((name) => !names.includes(name));
  return unknownFieldIssues(unknown, names);
}

function refIssues(ref: unknown): Issue[] {
  const what = `a text of 1 to ${maxIdentifierLength} characters`;
  const problem = typeof ref === 'string' ? identifierProblem(ref, what) : expected(what, ref);
  return problem === undefined ? [] : [{ path: ['ref'], message: problem }];
}

/** Parses changes of which the object `name` is merged into the stored external IDs: in `externalIds` itself, null clears all of them. */
export function mergeParser<T>(
  kind: RecordKind,
  name: 'externalIds' | 'mergeExternalIds',
  limits: ValueLimits,
  parse: RecordParser<T>,
): (input: unknown) => Linkable<T> {
  const { externalIds: field } = kind.fields;
  return (input) => {
    if (!field || !isObject(input) || input[name] === undefined) return parse(input);
    const { [name]: sent, ...fields } = input;
    if (sent === null) return parse(name === 'externalIds' ? input : fields);
    if (fields.externalIds !== undefined) {
      return withIssues(parse(fields), [{ path: [name], message: `expected externalIds or ${name}, received both` }]);
    }
    const issues = externalIdsIssues(field, sent, limits, true);
    const located = issues.map(({ path, message }) => ({ path: [name, ...path], message }));
    if (issues.length > 0) return withIssues(parse(fields), located);
    // The cast is safe: external IDs without issues have this type.
    return { ...parse(fields), merge: { name, externalIds: sent as ExternalIdsPatch } };
  };
}

function withIssues<T>(item: Linkable<T>, issues: readonly Issue[]): Linkable<T> {
  if (issues.length === 0) return item;
  const { value: _, issues: others = [], validFields = validValues(item), ...rest } = item;
  return { ...rest, issues: [...issues, ...others], validFields };
}

/** Changes to one record of a batch. */
export interface Patch<K extends RecordKind> {
  /** Undefined if none was sent, which is an issue of the change. */
  readonly id?: string | undefined;
  /** The `updatedAt` that the record must still have. */
  readonly ifUpdatedAt?: string | undefined;
  readonly change: Linkable<UpdateOf<K>>;
}

/** Parses a patch, whose ID must be a text: the service finds out whether there is such a record. */
export function patchParser<K extends RecordKind>(
  kind: K,
  limits: ValueLimits,
  parseChange: (input: unknown) => Linkable<UpdateOf<K>>,
): (input: unknown) => Patch<K> {
  return (input) => {
    if (!isObject(input)) return { change: parseChange(input) };
    const { id, ifUpdatedAt = null, ...fields } = input;
    const problem = idProblem(kind, id);
    const issues = problem === undefined ? [] : [{ path: ['id'], message: problem }];
    const time =
      ifUpdatedAt === null ? undefined : parseComparedValue({ type: 'dateTime' }, ifUpdatedAt, limits.maxTextLength);
    if (time && 'problem' in time) issues.push({ path: ['ifUpdatedAt'], message: time.problem });
    return {
      change: withIssues(parseChange(fields), issues),
      ...(typeof id === 'string' && { id }),
      ...(time && 'value' in time && { ifUpdatedAt: String(time.value) }),
    };
  };
}
