/**
 * Parts of an input item besides the fields of its kind: links, which say of a record what it has instead of its ID, or the `ref` of another
 * item; the item's own `ref`; external IDs that are merged into the stored ones; and which record it changes in which version. The services
 * resolve them: see services/match.ts.
 */
import { type ExternalIdsPatch, externalIds, type ReferenceField } from './fields.ts';
import { expected, type Issue, isObject, type Parsed, type Path, quote, validValues } from './issues.ts';
import { linkField, withArticle } from './labels.ts';
import { matchableFields, type RecordKind, type Values } from './record-kind.ts';
import {
  externalIdsIssues,
  externalIdsProblem,
  identifierProblem,
  idProblem,
  maxIdentifierLength,
  maxLengthOf,
  parseComparedValue,
  type RecordParser,
  textProblem,
  type ValueLimits,
} from './schemas.ts';

/** What identifies records: a field, or the ID in another system. */
export type RecordKey = { readonly field: string } | { readonly externalId: string };

export interface ExternalId {
  readonly key: string;
  readonly value: string;
}

export interface Link {
  /** The name in the input: `project` */
  readonly name: string;
  /** The reference to set: `projectId` */
  readonly field: string;
  readonly target: RecordKind;
  /** The `ref` of a record that the same mutation creates; otherwise, the link leads to the one stored record that has all of `said`. */
  readonly ref?: string;
  readonly said: readonly Said[];
}

/** A text that a record has by this key; null if it has none. In a link, at least one is not null. */
export interface Said {
  /** Where the link says it. */
  readonly path: Path;
  readonly by: RecordKey;
  readonly text: string | null;
}

/** A parsed item with what it may have besides the fields of its kind. */
export type Linkable<T> = Parsed<T> & {
  /** The ID of the record to change. */
  readonly id?: string;
  /** The `updatedAt` that the record must still have. */
  readonly ifUpdatedAt?: string;
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

/** The fields of a link to a stored record of the kind. */
export const linkKeys = (kind: RecordKind): readonly string[] => {
  const matchable = new Set(['name', ...matchableFields(kind)]);
  const texts = Object.keys(kind.fields).filter((name) => matchable.has(name));
  return ['id', ...(kind.fields.externalIds ? ['externalId', 'externalIds'] : []), ...texts];
};

interface Linking {
  readonly kind: RecordKind;
  readonly kindNamed: (name: string) => RecordKind;
  /** True for new items: they may have a `ref` of their own, and refer to others by theirs. */
  readonly hasRefs: boolean;
}

/** Parses an item with its links. A link that is null clears its reference, as the ID would. */
export function linkParser<T>(
  { kind, kindNamed, hasRefs }: Linking,
  limits: ValueLimits,
  parse: (input: unknown) => Linkable<T>,
): (input: unknown) => Linkable<T> {
  const declared = linkFields(kind).map(([name, field, { target }]) => {
    const keys = [...linkKeys(kindNamed(target)), ...(hasRefs ? ['ref'] : [])];
    return { name, field, target: kindNamed(target), keys };
  });
  return (input) => {
    if (!isObject(input)) return parse(input);
    const fields: Record<string, unknown> = { ...input };
    const links: Link[] = [];
    const issues: Issue[] = [];
    for (const { name, field, target, keys } of declared) {
      const { [name]: sent } = fields;
      if (sent === undefined) continue;
      delete fields[name];
      if (fields[field] !== undefined) {
        issues.push({ path: [name], message: `expected ${field} or ${name}, received both` });
        delete fields[field];
      } else if (sent === null) fields[field] = null;
      else {
        const { issues: problems = [], value } = parseLink(sent, target, keys, limits);
        if (value) links.push({ name, field, target, ...value });
        issues.push(...within(name, problems));
      }
    }
    const { ref } = fields;
    if (hasRefs) {
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

type ParsedLink = Parsed<Pick<Link, 'ref' | 'said'>>;

function parseLink(sent: unknown, target: RecordKind, keys: readonly string[], limits: ValueLimits): ParsedLink {
  const rejected = (...issues: Issue[]): ParsedLink => ({ issues, validFields: {} });
  if (!isObject(sent)) return rejected({ path: [], message: expected('an object such as {"name":"Bremen"}', sent) });
  const unknown = Object.keys(sent).filter((name) => !keys.includes(name));
  if (unknown.length > 0) {
    const message = `unknown field: a link to ${withArticle(target.label)} has ${keys.join(', ')}`;
    return rejected(...unknown.map((name) => ({ path: [name], message })));
  }
  const { ref = null, ...stored } = sent;
  if (ref === null) {
    const { said, issues } = parseSaid(stored, target, limits);
    if (issues.length > 0) return rejected(...issues);
    if (said.some(({ text }) => text !== null)) return { value: { said } };
    return rejected({ path: [], message: `expected a value of at least one of ${keys.join(', ')}, received none` });
  }
  const others = Object.keys(stored).join(', ');
  const issues = others === '' ? refIssues(ref) : [{ path: [], message: `expected ref or ${others}, received both` }];
  return issues.length > 0 ? rejected(...issues) : { value: { ref: String(ref), said: [] } };
}

/** The short form `externalId` says the same as `externalIds` with one of them. */
function parseSaid({ externalId, externalIds: ids, ...texts }: Values, target: RecordKind, limits: ValueLimits) {
  const said: Said[] = [];
  const issues: Issue[] = [];
  for (const [name, text] of Object.entries(texts)) {
    const problem = saidProblem(target, name, text, limits);
    if (problem !== undefined) issues.push({ path: [name], message: problem });
    // The casts here are safe: what has no problem has these types.
    else said.push({ path: [name], by: { field: name }, text: text as string | null });
  }
  if (ids !== undefined) {
    const tooMany = isObject(ids) ? externalIdsProblem(ids, limits) : undefined;
    if (tooMany !== undefined) issues.push({ path: ['externalIds'], message: tooMany });
    else issues.push(...within('externalIds', externalIdsIssues(externalIds(), ids, limits, true)));
  }
  if (externalId !== undefined) issues.push(...within('externalId', externalIdIssues(externalId, limits)));
  if (issues.length > 0) return { said, issues };
  for (const [key, text] of Object.entries((ids ?? {}) as ExternalIdsPatch)) {
    said.push({ path: ['externalIds', key], by: { externalId: key }, text });
  }
  if (externalId !== undefined) {
    const { key, value } = externalId as ExternalId;
    const other = said.find(({ by }) => 'externalId' in by && by.externalId === key);
    if (!other) said.push({ path: ['externalId'], by: { externalId: key }, text: value });
    else if (other.text !== value) {
      issues.push({ path: ['externalId'], message: expected(`the ID that externalIds has of ${quote(key)}`, value) });
    }
  }
  return { said, issues };
}

function saidProblem(target: RecordKind, name: string, text: unknown, limits: ValueLimits): string | undefined {
  const { id, [name]: field = id } = target.storedFields;
  if (typeof text === 'string') return textProblem(text, maxLengthOf(field, limits));
  if (name === 'id') return idProblem(target, text);
  return text === null ? undefined : expected('text or null', text);
}

function externalIdIssues(sent: unknown, limits: ValueLimits): Issue[] {
  if (!isObject(sent)) return [{ path: [], message: expected('an object such as {"key":"erp","value":"4711"}', sent) }];
  const maxLength = maxLengthOf(externalIds(), limits);
  return ['key', 'value'].flatMap((part) => {
    const { [part]: text } = sent;
    const problem = typeof text === 'string' ? textProblem(text, maxLength) : expected('text', text);
    return problem === undefined ? [] : [{ path: [part], message: problem }];
  });
}

const within = (name: string, issues: readonly Issue[]): Issue[] =>
  issues.map(({ path, message }) => ({ path: [name, ...path], message }));

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
    if (issues.length > 0) return withIssues(parse(fields), within(name, issues));
    // The cast is safe: external IDs without issues have this type.
    return { ...parse(fields), merge: { name, externalIds: sent as ExternalIdsPatch } };
  };
}

function withIssues<T>(item: Linkable<T>, issues: readonly Issue[]): Linkable<T> {
  if (issues.length === 0) return item;
  const { value: _, issues: others = [], validFields = validValues(item), ...rest } = item;
  return { ...rest, issues: [...issues, ...others], validFields };
}

/**
 * Parses changes to the record with an ID, which must be a text: the service finds out whether there is such a record. In an upsert, an item
 * without an ID is a new record.
 */
export function patchParser<T>(
  kind: RecordKind,
  limits: ValueLimits,
  parseChange: (input: unknown) => Linkable<T>,
  { isUpsert = false } = {},
): (input: unknown) => Linkable<T> {
  return (input) => {
    if (!isObject(input)) return parseChange(input);
    const { id, ifUpdatedAt = null, ...fields } = input;
    const problem = isUpsert && (id ?? null) === null ? undefined : idProblem(kind, id);
    const issues = problem === undefined ? [] : [{ path: ['id'], message: problem }];
    const time =
      ifUpdatedAt === null ? undefined : parseComparedValue({ type: 'dateTime' }, ifUpdatedAt, limits.maxTextLength);
    if (time && 'problem' in time) issues.push({ path: ['ifUpdatedAt'], message: time.problem });
    return {
      ...withIssues(parseChange(fields), issues),
      ...(typeof id === 'string' && { id }),
      ...(time && 'value' in time && { ifUpdatedAt: String(time.value) }),
    };
  };
}
