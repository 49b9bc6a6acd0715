/**
 * Parses the parts of an item that are no fields: links, its `ref`, external IDs to merge, and the ID and `updatedAt`
 * of its record. services/match.ts resolves them.
 */
import { type ExternalIdsPatch, externalIds, type ReferenceField } from './fields.ts';
import { type IssueData, isObject, type Parsed, type Path, type ValidationIssue, validValues } from './issues.ts';
import { linkField } from './labels.ts';
import { type Criterion, matchableFields, type RecordKind, type Values } from './record-kind.ts';
import {
  externalIdsIssues,
  identifierProblem,
  idProblem,
  issueAt,
  maxLengthOf,
  parseComparedValue,
  prefixed,
  type RecordParser,
  textProblem,
  tooManyExternalIds,
  type ValueLimits,
  wrongType,
} from './schemas.ts';

interface ExternalId {
  readonly key: string;
  readonly value: string;
}

export interface Link {
  /** The name in the input: `project` */
  readonly name: string;
  /** The reference to set: `projectId` */
  readonly field: string;
  readonly target: RecordKind;
  /** The `ref` of an item of the same mutation. Otherwise the target is the only record that meets `criteria`. */
  readonly ref?: string;
  readonly criteria: LinkCriteria;
}

/** At least one text is not null. */
export type LinkCriteria = readonly LinkCriterion[];

type LinkCriterion = Criterion & { readonly path: Path };

export type ParsedItem<T> = Parsed<T> & {
  readonly id?: string;
  readonly ifUpdatedAt?: string;
  readonly links?: readonly Link[];
  readonly ref?: string;
  readonly merge?: ExternalIdsMerge;
};

export interface ExternalIdsMerge {
  readonly name: string;
  readonly externalIds: ExternalIdsPatch;
}

type LinkFields = readonly (readonly [name: string, field: string, declared: ReferenceField])[];

export const linkFields = ({ fields }: RecordKind): LinkFields =>
  Object.entries(fields).flatMap(([field, declared]) =>
    declared.type === 'reference' ? [[linkField(field), field, declared] as const] : [],
  );

export const linkKeys = (kind: RecordKind): readonly string[] => {
  const matchable = new Set(['name', ...matchableFields(kind)]);
  const texts = Object.keys(kind.fields).filter((name) => matchable.has(name));
  return ['id', ...(kind.fields.externalIds ? ['externalId', 'externalIds'] : []), ...texts];
};

interface LinkParserOptions {
  readonly kind: RecordKind;
  readonly kindNamed: (name: string) => RecordKind;
  /** Items may have a `ref`, and refer to others by it. */
  readonly hasRefs: boolean;
}

/** A null link clears its reference. */
export function linkParser<T>(
  { kind, kindNamed, hasRefs }: LinkParserOptions,
  limits: ValueLimits,
  parse: (input: unknown) => ParsedItem<T>,
): (input: unknown) => ParsedItem<T> {
  const declared = linkFields(kind).map(([name, field, { target }]) => {
    const keys = [...linkKeys(kindNamed(target)), ...(hasRefs ? ['ref'] : [])];
    return { name, field, target: kindNamed(target), keys };
  });
  return (input) => {
    if (!isObject(input)) return parse(input);
    const fields: Record<string, unknown> = { ...input };
    const links: Link[] = [];
    const issues: ValidationIssue[] = [];
    for (const { name, field, target, keys } of declared) {
      const { [name]: sent } = fields;
      if (sent === undefined) continue;
      delete fields[name];
      if (fields[field] !== undefined) {
        issues.push({ path: [name], code: 'exclusive', names: [field, name] });
        delete fields[field];
      } else if (sent === null) fields[field] = null;
      else {
        const parsed = parseLink(sent, target, keys, limits);
        if ('value' in parsed) links.push({ name, field, target, ...parsed.value });
        else issues.push(...prefixed(name, parsed.issues));
      }
    }
    const { ref } = fields;
    if (hasRefs) {
      delete fields.ref;
      if ((ref ?? null) !== null) issues.push(...issueAt(['ref'], identifierProblem(ref, 'invalid-ref')));
    }
    const isLinked = (field: unknown) =>
      declared.some((link) => link.field === field && input[link.name] !== undefined);
    return {
      ...withIssues(withoutMissing(parse(fields), isLinked), issues),
      ...(links.length > 0 && { links }),
      ...(typeof ref === 'string' && { ref }),
    };
  };
}

type ParsedLink = { readonly value: Pick<Link, 'ref' | 'criteria'> } | { readonly issues: readonly ValidationIssue[] };

function parseLink(sent: unknown, target: RecordKind, keys: readonly string[], limits: ValueLimits): ParsedLink {
  const rejected = (...issues: readonly ValidationIssue[]): ParsedLink => ({ issues });
  if (!isObject(sent)) return rejected({ path: [], ...wrongType('link', sent) });
  const unknown = Object.keys(sent).filter((name) => !keys.includes(name));
  if (unknown.length > 0) {
    const problem = { code: 'unknown-field', kind: target.label, known: keys } as const;
    return rejected(...unknown.map((name) => ({ path: [name], ...problem })));
  }
  const { ref = null, ...stored } = sent;
  if (ref === null) {
    const { criteria, issues } = parseCriteria(stored, target, limits);
    if (issues.length > 0) return rejected(...issues);
    if (criteria.some(({ text }) => text !== null)) return { value: { criteria } };
    return rejected({ path: [], code: 'empty-link', known: keys });
  }
  const names = Object.keys(stored);
  if (names.length > 0) return rejected({ path: [], code: 'exclusive', names: ['ref', ...names] });
  const problem = identifierProblem(ref, 'invalid-ref');
  return problem ? rejected({ path: ['ref'], ...problem }) : { value: { ref: String(ref), criteria: [] } };
}

/** `externalId` is short for `externalIds` with one entry. */
function parseCriteria({ externalId, externalIds: ids, ...texts }: Values, target: RecordKind, limits: ValueLimits) {
  const criteria: LinkCriterion[] = [];
  const issues: ValidationIssue[] = [];
  for (const [name, text] of Object.entries(texts)) {
    const problem = criterionProblem(target, name, text, limits);
    if (problem) issues.push({ path: [name], ...problem });
    // Safe: values without a problem have these types.
    else criteria.push({ path: [name], by: { field: name }, text: text as string | null });
  }
  if (ids !== undefined) {
    const tooMany = isObject(ids) ? tooManyExternalIds(ids, limits) : undefined;
    if (tooMany) issues.push({ path: ['externalIds'], ...tooMany });
    else issues.push(...prefixed('externalIds', externalIdsIssues(externalIds(), ids, limits, true)));
  }
  if (externalId !== undefined) issues.push(...prefixed('externalId', externalIdIssues(externalId, limits)));
  if (issues.length > 0) return { criteria, issues };
  for (const [key, text] of Object.entries((ids ?? {}) as ExternalIdsPatch)) {
    criteria.push({ path: ['externalIds', key], by: { externalId: key }, text });
  }
  if (externalId !== undefined) {
    const { key, value } = externalId as ExternalId;
    const other = criteria.find(({ by }) => 'externalId' in by && by.externalId === key);
    if (!other) criteria.push({ path: ['externalId'], by: { externalId: key }, text: value });
    else if (other.text !== value) {
      issues.push({ path: ['externalId'], code: 'contradiction', externalId: key, received: value });
    }
  }
  return { criteria, issues };
}

function criterionProblem(target: RecordKind, name: string, text: unknown, limits: ValueLimits): IssueData | undefined {
  const { id, [name]: field = id } = target.storedFields;
  if (typeof text === 'string') return textProblem(text, maxLengthOf(field, limits));
  if (name === 'id') return idProblem(target, text);
  return text === null ? undefined : wrongType('text-or-null', text);
}

function externalIdIssues(sent: unknown, limits: ValueLimits): ValidationIssue[] {
  if (!isObject(sent)) return [{ path: [], ...wrongType('external-id', sent) }];
  const maxLength = maxLengthOf(externalIds(), limits);
  return ['key', 'value'].flatMap((part) => {
    const { [part]: text } = sent;
    return issueAt([part], typeof text === 'string' ? textProblem(text, maxLength) : wrongType('text', text));
  });
}

/** `externalIds: null` clears all external IDs. */
export function mergeParser<T>(
  kind: RecordKind,
  name: 'externalIds' | 'mergeExternalIds',
  limits: ValueLimits,
  parse: RecordParser<T>,
): (input: unknown) => ParsedItem<T> {
  const { externalIds: field } = kind.fields;
  return (input) => {
    if (!field || !isObject(input) || input[name] === undefined) return parse(input);
    const { [name]: sent, ...fields } = input;
    if (sent === null) return parse(name === 'externalIds' ? input : fields);
    if (fields.externalIds !== undefined) {
      return withIssues(parse(fields), [{ path: [name], code: 'exclusive', names: ['externalIds', name] }]);
    }
    const issues = externalIdsIssues(field, sent, limits, true);
    if (issues.length > 0) return withIssues(parse(fields), prefixed(name, issues));
    // Safe: external IDs without issues have this type.
    return { ...parse(fields), merge: { name, externalIds: sent as ExternalIdsPatch } };
  };
}

/** A link stands for its reference. */
function withoutMissing<T>(item: ParsedItem<T>, isLinked: (field: unknown) => boolean): ParsedItem<T> {
  if (!item.issues) return item;
  const { issues, validFields, ...rest } = item;
  const remaining = issues.filter(({ code, path: [field] }) => code !== 'required' || !isLinked(field));
  // Safe: only references that links stand for are missing.
  return remaining.length > 0 ? { ...rest, issues: remaining, validFields } : { ...rest, value: validFields as T };
}

function withIssues<T>(item: ParsedItem<T>, issues: readonly ValidationIssue[]): ParsedItem<T> {
  if (issues.length === 0) return item;
  const { value: _, issues: others = [], validFields = validValues(item), ...rest } = item;
  return { ...rest, issues: [...issues, ...others], validFields };
}

/** An item of an upsert without an ID is a new record. */
export function patchParser<T>(
  kind: RecordKind,
  limits: ValueLimits,
  parseChange: (input: unknown) => ParsedItem<T>,
  { isUpsert = false } = {},
): (input: unknown) => ParsedItem<T> {
  return (input) => {
    if (!isObject(input)) return parseChange(input);
    const { id, ifUpdatedAt = null, ...fields } = input;
    const issues = isUpsert && (id ?? null) === null ? [] : issueAt(['id'], idProblem(kind, id));
    const time =
      ifUpdatedAt === null ? undefined : parseComparedValue({ type: 'dateTime' }, ifUpdatedAt, limits.maxTextLength);
    if (time && 'problem' in time) issues.push({ path: ['ifUpdatedAt'], ...time.problem });
    return {
      ...withIssues(parseChange(fields), issues),
      ...(typeof id === 'string' && { id }),
      ...(time && 'value' in time && { ifUpdatedAt: String(time.value) }),
    };
  };
}

/** `id: null` means a new record. */
export const withoutNullId =
  <T>(parse: (input: unknown) => T) =>
  (input: unknown): T => {
    if (!isObject(input) || input.id !== null) return parse(input);
    const { id: _, ...fields } = input;
    return parse(fields);
  };
