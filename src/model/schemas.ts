/**
 * The schemas of a kind, derived from its fields: unknown input in, typed input out, every problem named at once.
 * Values are kept exactly as sent, except datetimes, which come out as UTC.
 */
import { closest, distance } from 'fastest-levenshtein';
import { z } from 'zod';
import { isLongerThan, isRecordLongerThan } from './characters.ts';
import { parseDateTime } from './date-time.ts';
import type { ExternalIds, Field } from './fields.ts';
import { count, describe, expected, type Issue, type Parsed, quote } from './issues.ts';
import type { CreateOf, RecordKind, UpdateOf } from './record-kind.ts';

/** The most that a record may hold, and a value of it. */
export interface ValueLimits {
  /** Characters of a text, and of a key of external ids. */
  readonly maxTextLength: number;
  readonly maxExternalIds: number;
  /** Characters of all texts of a record, keys and values of external ids included. */
  readonly maxRecordLength: number;
}

interface SchemaOptions {
  /** A field the kind does not have is an issue, or is dropped. */
  readonly unknownFields: 'refused' | 'ignored';
}

/**
 * A Standard Schema whose result is a `Parsed`: input of the wrong shape is a value too, so that the service can name it
 * together with everything else that is wrong in the batch.
 */
export interface RecordSchema<T> {
  readonly parse: (input: unknown) => Parsed<T>;
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: 'yardgraph';
    readonly validate: (input: unknown) => { readonly value: Parsed<T> };
  };
}

/** For a record to be created. */
export const createSchema = <K extends RecordKind>(kind: K, limits: ValueLimits, options?: SchemaOptions) =>
  recordSchema<CreateOf<K>>(kind, limits, options, (field) => {
    const schema = valueSchema(field, limits);
    return field.required ? schema : schema.nullish();
  });

/** For the fields of a record to be changed: none is required, and a required one cannot be cleared. */
export const updateSchema = <K extends RecordKind>(kind: K, limits: ValueLimits, options?: SchemaOptions) =>
  recordSchema<UpdateOf<K>>(kind, limits, options, (field) => {
    const schema = valueSchema(field, limits);
    return field.required ? schema.optional() : schema.nullish();
  });

function recordSchema<T>(
  kind: RecordKind,
  limits: ValueLimits,
  { unknownFields }: SchemaOptions = { unknownFields: 'refused' },
  fieldSchema: (field: Field) => z.ZodType,
): RecordSchema<T> {
  const shape = Object.fromEntries(Object.entries(kind.fields).map(([name, field]) => [name, fieldSchema(field)]));
  const options = { error: (issue: { input?: unknown }) => expected(`an object of ${kind.label} fields`, issue.input) };
  const schema = unknownFields === 'refused' ? z.strictObject(shape, options) : z.object(shape, options);

  const parse = (input: unknown): Parsed<T> => {
    const result = schema.safeParse(input);
    const issues = result.success ? [] : result.error.issues.flatMap((issue) => issuesOf(kind, issue));
    const valid = result.success ? result.data : validFields(kind, input, issues);
    if (isRecordLongerThan(valid, limits.maxRecordLength)) {
      const most = count(limits.maxRecordLength);
      issues.push({ path: [], message: `expected at most ${most} characters of text in all, received more` });
    }
    // Sound because the shape has just the fields of T, each with a schema that lets only the field's values pass.
    return issues.length === 0 ? { value: valid as T } : { issues, validFields: valid };
  };
  return { parse, '~standard': { version: 1, vendor: 'yardgraph', validate: (input) => ({ value: parse(input) }) } };
}

/** The fields of a kind with a valid value, for the rules that look at single fields. */
function validFields(kind: RecordKind, input: unknown, issues: readonly Issue[]): Readonly<Record<string, unknown>> {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return {};
  const invalid = new Set(issues.map(({ path }) => path[0]));
  const sent = input as Readonly<Record<string, unknown>>;
  const names = Object.keys(kind.fields).filter((name) => Object.hasOwn(sent, name) && !invalid.has(name));
  return Object.fromEntries(names.map((name) => [name, sent[name]]));
}

function issuesOf(kind: RecordKind, issue: z.core.$ZodIssue): Issue[] {
  if (issue.code === 'unrecognized_keys') return unknownFieldIssues(kind, issue.keys);
  const path = issue.path.map((step) => (typeof step === 'symbol' ? step.toString() : step));
  const entries: readonly Issue[] | undefined = issue.code === 'custom' ? issue.params?.entries : undefined;
  return entries?.map((entry) => ({ ...entry, path: [...path, ...entry.path] })) ?? [{ path, message: issue.message }];
}

function valueSchema(field: Field, limits: ValueLimits): z.ZodType {
  switch (field.type) {
    case 'text':
      return textSchema(maxLengthOf(field, limits), { mayBeBlank: !field.required });
    case 'number':
      return numberSchema(field);
    case 'boolean':
      return z.boolean({ error: mismatch('true or false') });
    case 'dateTime':
      return dateTimeSchema();
    case 'externalIds':
      return externalIdsSchema(limits);
    case 'id':
    case 'reference':
    case 'foreignReference':
      return identifierSchema();
  }
}

/** Characters an identifier may have. */
export const maxIdentifierLength = 255;

/** A unique value identifies its record, and is no longer than an identifier: no index takes thousands of characters. */
export const maxLengthOf = (field: Field, { maxTextLength }: ValueLimits): number =>
  field.unique ? Math.min(maxIdentifierLength, maxTextLength) : maxTextLength;

const mismatch =
  (what: string) =>
  ({ input }: { input?: unknown }) =>
    input === undefined ? 'required' : expected(what, input);

function textSchema(maxLength: number, { mayBeBlank }: { mayBeBlank: boolean }) {
  return z.string({ error: mismatch('text') }).superRefine((text, context) => {
    const problem = textProblem(text, maxLength) ?? (mayBeBlank ? undefined : blankProblem(text));
    if (problem) context.addIssue(problem);
  });
}

/** SQLite would store what Postgres refuses (NUL) and give back what was not sent (lone surrogates). */
function textProblem(text: string, maxLength: number): string | undefined {
  if (isLongerThan(text, maxLength)) return `expected at most ${count(maxLength)} characters, received more`;
  if (text.includes('\0')) return `expected text without NUL, received ${quote(text)}`;
  if (!text.isWellFormed()) return `expected text without lone surrogates, received ${quote(text)}`;
  return undefined;
}

const blankProblem = (text: string): string | undefined =>
  text.trim() === '' ? expected('text with at least one character that is not white space', text) : undefined;

function numberSchema({ min, max }: { min: number; max: number }) {
  const error = mismatch(`a number from ${min} to ${max}`);
  return z.number({ error }).min(min, { error }).max(max, { error });
}

function dateTimeSchema() {
  const notADate = ({ input }: { input?: unknown }) => `not a date, received ${describe(input)}`;
  return z.string({ error: notADate }).transform((sent, context) => {
    const parsed = parseDateTime(sent);
    if ('value' in parsed) return parsed.value;
    context.addIssue(`${parsed.problem}, received ${quote(sent)}`);
    return z.NEVER;
  });
}

function identifierSchema() {
  const what = `an identifier of 1 to ${maxIdentifierLength} characters`;
  return z.string({ error: mismatch(what) }).superRefine((id, context) => {
    if (id === '' || isLongerThan(id, maxIdentifierLength)) context.addIssue(expected(what, id));
    else {
      const problem = textProblem(id, maxIdentifierLength);
      if (problem) context.addIssue(problem);
    }
  });
}

/** Checked in place, never copied: a copy would lose `__proto__` as a key. */
function externalIdsSchema(limits: ValueLimits) {
  return z.custom<ExternalIds>().superRefine((value: unknown, context) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      context.addIssue(expected('an object of texts', value));
      return;
    }
    const size = Object.keys(value).length;
    if (size > limits.maxExternalIds) {
      context.addIssue(`expected at most ${count(limits.maxExternalIds)} keys, received ${count(size)}`);
      return;
    }
    const entries: Issue[] = [];
    let unnamed = 0;
    for (const [key, text] of Object.entries(value)) {
      const keyProblem = textProblem(key, limits.maxTextLength);
      const problem = typeof text === 'string' ? textProblem(text, limits.maxTextLength) : expected('text', text);
      if ((keyProblem || problem) && entries.length >= maxNamed) unnamed += 1;
      else {
        if (keyProblem) entries.push({ path: [key], message: `as a key, ${keyProblem}` });
        if (problem) entries.push({ path: [key], message: problem });
      }
    }
    if (unnamed > 0) entries.push({ path: [], message: `and ${count(unnamed)} more` });
    // As one issue of zod's: ten would be a third of what a batch full of them takes.
    if (entries.length > 0) context.addIssue({ code: 'custom', params: { entries } });
  });
}

/** So many unknown fields, and external ids, of one record are named; more say nothing new, and every one costs time. */
const maxNamed = 10;

function unknownFieldIssues(kind: RecordKind, names: readonly string[]): Issue[] {
  const issues = names.slice(0, maxNamed).map((name) => ({
    path: [name],
    message: Object.hasOwn(kind.storedFields, name)
      ? 'read-only field, set by the service'
      : `unknown field${suggestion(name, Object.keys(kind.fields))}`,
  }));
  const unnamed = names.length - issues.length;
  return unnamed > 0 ? [...issues, { path: [], message: `and ${count(unnamed)} more unknown fields` }] : issues;
}

/** Only near misses are worth a guess: a third of the letters may differ. */
function suggestion(name: string, known: readonly string[]): string {
  if (name.length > 2 * Math.max(...known.map((field) => field.length))) return '';
  const guess = closest(name, known);
  return distance(name, guess) <= Math.ceil(guess.length / 3) ? `, did you mean "${guess}"?` : '';
}
