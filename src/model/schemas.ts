/**
 * Values stay exactly as sent, except datetimes, which become UTC. A schema library would only check JSON types: rules
 * and messages are specific to the service.
 */
import { closest, distance } from 'fastest-levenshtein';
import { parseDateTime } from './date-time.ts';
import { type Field, type StoredField, type TextField, textLengthOfAll } from './fields.ts';
import { type IssueData, isObject, type Parsed, type Path, type ValidationIssue, type ValueType } from './issues.ts';
import type { CreateOf, RecordKind, UpdateOf } from './record-kind.ts';
import { sentence, suggestionText } from './sentences.ts';

export interface ValueLimits {
  readonly maxTextLength: number;
  readonly maxExternalIds: number;
  readonly maxRecordLength: number;
}

type UnknownFields = 'rejected' | 'ignored';

/** Returns issues: the service reports all of a batch. */
export type RecordParser<T> = (input: unknown) => Parsed<T>;

export const createParser = <K extends RecordKind>(kind: K, limits: ValueLimits, unknownFields?: UnknownFields) =>
  recordParser<CreateOf<K>>(kind, limits, unknownFields, true);

export const updateParser = <K extends RecordKind>(kind: K, limits: ValueLimits, unknownFields?: UnknownFields) =>
  recordParser<UpdateOf<K>>(kind, limits, unknownFields, false);

function recordParser<T>(
  kind: RecordKind,
  limits: ValueLimits,
  unknownFields: UnknownFields = 'rejected',
  isNew: boolean,
): RecordParser<T> {
  const fields = Object.entries(kind.fields);
  const names = Object.keys(kind.fields);

  return (input) => {
    if (!isObject(input)) {
      const issue: ValidationIssue = {
        path: [],
        code: 'wrong-type',
        type: 'record',
        kind: kind.label,
        received: input,
      };
      return { issues: [issue], validFields: {} };
    }
    const values: Record<string, unknown> = {};
    const issues: ValidationIssue[] = [];
    for (const [name, field] of fields) {
      const { [name]: sent } = input;
      if (sent === undefined) {
        if (isNew && field.required) issues.push({ path: [name], ...missingValue(field) });
      } else if (sent === null && !field.required) {
        values[name] = null;
      } else if (field.type === 'externalIds') {
        const found = externalIdsIssues(field, sent, limits);
        // Not copied: a copy would lose the key `__proto__`.
        if (found.length === 0) values[name] = sent;
        else issues.push(...prefixed(name, found));
      } else {
        const parsed = parseValue(field, sent, limits);
        if ('value' in parsed) values[name] = parsed.value;
        else issues.push({ path: [name], ...parsed.problem });
      }
    }
    if (unknownFields === 'rejected') {
      const unknown = Object.keys(input).filter((name) => !Object.hasOwn(kind.fields, name));
      if (unknown.length > 0) issues.push(...unknownFieldIssues(unknown, names, kind.storedFields));
    }
    issues.push(...issueAt([], recordTooLong(values, limits)));
    // Safe: each field of T has a value of its type.
    return issues.length === 0 ? { value: values as T } : { issues, validFields: values };
  };
}

export const issueAt = (path: Path, problem: IssueData | undefined): ValidationIssue[] =>
  problem ? [{ path, ...problem }] : [];

export const prefixed = (name: string, issues: readonly ValidationIssue[]): ValidationIssue[] =>
  issues.map((issue) => ({ ...issue, path: [name, ...issue.path] }));

export const recordTooLong = (record: object, { maxRecordLength: max }: ValueLimits) =>
  textLengthOfAll([record]) > max ? ({ code: 'record-too-long', max } as const) : undefined;

type ParsedValue = { readonly value: ComparedValue } | { readonly problem: IssueData };

const checked = (value: ComparedValue, problem: IssueData | undefined): ParsedValue =>
  problem ? { problem } : { value };

export const wrongType = (type: ValueType, received: unknown): IssueData => ({ code: 'wrong-type', type, received });

function parseValue(field: Exclude<Field, { type: 'externalIds' }>, sent: unknown, limits: ValueLimits): ParsedValue {
  switch (field.type) {
    case 'boolean':
    case 'dateTime':
      return parseComparedValue(field, sent, limits.maxTextLength);
    case 'number': {
      const { min, max } = field;
      if (typeof sent === 'number' && sent >= min && sent <= max) return { value: sent };
      return { problem: { code: 'out-of-range', min, max, received: sent } };
    }
    case 'text': {
      if (typeof sent !== 'string') return { problem: wrongType('text', sent) };
      const problem = textProblem(sent, maxLengthOf(field, limits));
      return checked(sent, problem ?? blankProblem(field, sent) ?? formProblem(field, sent));
    }
    default:
      return checked(String(sent), identifierProblem(sent));
  }
}

export const maxIdentifierLength = 255;

/** The longest indexed text: an index entry of Postgres has at most 2,704 bytes, a character up to four. */
const maxIndexedLength = 500;

export const maxLengthOf = (
  { indexed = false }: Pick<Field, 'indexed'>,
  { maxTextLength }: Pick<ValueLimits, 'maxTextLength'>,
): number => (indexed ? Math.min(maxIndexedLength, maxTextLength) : maxTextLength);

export const missingValue = ({ description }: Field): IssueData => ({ code: 'required', description });

export const requiredMessage = (field: Field): string => sentence(missingValue(field));

/** SQLite would store NUL, which Postgres rejects, and would change lone surrogates. */
export function textProblem(text: string, maxLength: number): IssueData<'too-long' | 'invalid-character'> | undefined {
  if (isLongerThan(text, maxLength)) return { code: 'too-long', max: maxLength };
  if (text.includes('\0')) return { code: 'invalid-character', character: 'nul', received: text };
  if (!text.isWellFormed()) return { code: 'invalid-character', character: 'surrogate', received: text };
  return undefined;
}

/** Counts code points only if the UTF-16 length cannot decide. */
const isLongerThan = (text: string, maxLength: number): boolean =>
  text.length > maxLength && (text.length > 2 * maxLength || Array.from(text).length > maxLength);

export const isBlank = (text: string): boolean => text.trim() === '';

/** Programs send empty texts for missing unique values, which only one record could have. */
function blankProblem({ required = false, unique }: Field, text: string): IssueData | undefined {
  return (required || unique) && isBlank(text) ? { code: 'blank', orNull: !required, received: text } : undefined;
}

/** Also without trailing white space, which alone is no ID in the key of a label. */
function formProblem({ form }: TextField, text: string): IssueData | undefined {
  if (!form || [text, text.trimEnd()].every((each) => form.pattern.test(each))) return undefined;
  return { code: 'invalid-form', called: form.called, example: form.example, received: text };
}

export function idProblem({ storedFields }: RecordKind, sent: unknown): IssueData | undefined {
  if (typeof sent === 'string') return undefined;
  return sent === undefined ? missingValue(storedFields.id) : identifierProblem(sent);
}

export function identifierProblem(id: unknown, code: 'invalid-id' | 'invalid-ref' = 'invalid-id') {
  const max = maxIdentifierLength;
  if (typeof id !== 'string' || id === '' || isLongerThan(id, max)) return { code, max, received: id } as const;
  return textProblem(id, max);
}

export function tooManyExternalIds(externalIds: object, { maxExternalIds: max }: ValueLimits) {
  const received = Object.keys(externalIds).length;
  return received > max ? ({ code: 'too-many-external-ids', max, received } as const) : undefined;
}

/** In a patch, null removes an ID, and the limit is for the result (services/match.ts). */
export function externalIdsIssues(
  field: Field,
  value: unknown,
  limits: ValueLimits,
  isPatch = false,
): ValidationIssue[] {
  if (!isObject(value)) return [{ path: [], ...wrongType(isPatch ? 'external-ids-patch' : 'external-ids', value) }];
  const tooMany = isPatch ? undefined : tooManyExternalIds(value, limits);
  if (tooMany) return [{ path: [], ...tooMany }];
  const maxLength = maxLengthOf(field, limits);
  const issues: ValidationIssue[] = [];
  let unlisted = 0;
  for (const [key, text] of Object.entries(value)) {
    const keyProblem = textProblem(key, maxLength);
    const problem = externalIdProblem(text, maxLength, isPatch);
    if ((keyProblem || problem) && issues.length >= maxListed) unlisted += 1;
    else {
      if (keyProblem) issues.push({ path: [key], ...keyProblem, isKey: true });
      if (problem) issues.push({ path: [key], ...problem });
    }
  }
  if (unlisted > 0) issues.push({ path: [], code: 'unlisted', count: unlisted });
  return issues;
}

function externalIdProblem(text: unknown, maxLength: number, isPatch: boolean): IssueData | undefined {
  if (typeof text === 'string') return textProblem(text, maxLength);
  return isPatch && text === null ? undefined : wrongType(isPatch ? 'text-or-null' : 'text', text);
}

/** Unknown fields or invalid external IDs listed per record. */
const maxListed = 10;

export function unknownFieldIssues(
  names: readonly string[],
  known: readonly string[],
  readOnly: object = {},
): ValidationIssue[] {
  const issues = names.slice(0, maxListed).map((name): ValidationIssue => {
    if (Object.hasOwn(readOnly, name)) return { path: [name], code: 'read-only' };
    return { path: [name], code: 'unknown-field', suggestion: nearest(name, known) };
  });
  const count = names.length - issues.length;
  return count > 0 ? [...issues, { path: [], code: 'unlisted', count, what: 'fields' }] : issues;
}

function nearest(name: string, fieldNames: readonly string[]): string | undefined {
  if (name.length > 2 * Math.max(...fieldNames.map((fieldName) => fieldName.length))) return undefined;
  const guess = closest(name, fieldNames);
  return distance(name, guess) <= Math.ceil(guess.length / 3) ? guess : undefined;
}

/** `, did you mean "name"?` if a field is close */
export const suggestion = (name: string, fieldNames: readonly string[]): string =>
  suggestionText(nearest(name, fieldNames));

export type ComparedValue = string | number | boolean;

/** A value to compare has the form of input, but need not be storable. */
export function parseComparedValue({ type }: Pick<StoredField, 'type'>, sent: unknown, maxLength: number): ParsedValue {
  switch (type) {
    case 'number':
      return Number.isFinite(sent) ? { value: Number(sent) } : { problem: wrongType('number', sent) };
    case 'boolean':
      return typeof sent === 'boolean' ? { value: sent } : { problem: wrongType('boolean', sent) };
    case 'dateTime': {
      if (typeof sent !== 'string') return { problem: wrongType('date', sent) };
      const parsed = parseDateTime(sent);
      return 'value' in parsed ? parsed : { problem: { code: 'invalid-date', form: parsed.form, received: sent } };
    }
    default: {
      if (typeof sent !== 'string') return { problem: wrongType('text', sent) };
      return checked(sent, textProblem(sent, maxLength));
    }
  }
}
