/** How the files of an import are to be read: what the command line says, and what a profile says, for files of another program. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { StartError } from '../errors.ts';
import { expected, quote } from '../model/issues.ts';
import type { RecordKind } from '../model/record-kind.ts';
import { suggestion } from '../model/schemas.ts';
import { type ColumnOptions, kindCalled, readLinkBy } from './columns.ts';
import { readyProfiles } from './ready-profiles.ts';
import { type CellForm, dateFormOf, timeZoneOf } from './values.ts';

const names = z.array(z.string());
const pairs = z.record(z.string(), z.string());
const columns = { map: pairs.optional(), skip: names.optional() };

const schema = z.strictObject({
  ...columns,
  /** Columns of one kind only, by the name of the kind. */
  kinds: z.record(z.string(), z.strictObject(columns)).optional(),
  kind: z.string().optional(),
  skipOthers: z.boolean().optional(),
  linkBy: pairs.optional(),
  upsertBy: names.optional(),
  createMissing: names.optional(),
  dates: z.string().optional(),
  timeZone: z.string().optional(),
  decimalComma: z.boolean().optional(),
  excel: z.boolean().optional(),
  blank: z.enum(['clear', 'keep']).optional(),
  null: z.string().optional(),
});

/** As in a file: its JSON decides how rows are read. */
export type Profile = z.infer<typeof schema>;

/** Reads the profile with this name, or in this file. */
export function readProfile(nameOrFile: string): Profile {
  const ready = Object.entries<Profile>(readyProfiles).find(([name]) => name === nameOrFile)?.[1];
  if (ready) return ready;
  const refuse = (problem: string) => new StartError(`--profile ${nameOrFile}: ${problem}`);
  let sent: unknown;
  try {
    sent = JSON.parse(readFileSync(nameOrFile, 'utf8'));
  } catch (error) {
    if (error instanceof SyntaxError) throw refuse(expected('a file with a JSON object', error.message));
    throw refuse(`there is no such file; the profiles that are ready are ${Object.keys(readyProfiles).join(', ')}`);
  }
  const { success, data, error } = schema.safeParse(sent);
  if (success) return data;
  const problems = error.issues.map((issue) => {
    const path = issue.path.join('.');
    if (issue.code !== 'unrecognized_keys') return path === '' ? issue.message : `${path}: ${issue.message}`;
    const known = Object.keys(issue.path.length === 0 ? schema.shape : columns);
    return issue.keys.map((key) => `unknown key ${quote(key)}${suggestion(key, known)}`).join(', ');
  });
  throw refuse(problems.join('; '));
}

/** Adds the options of the command line to a profile. What they say of the same column, or of the same thing, counts. */
export function withProfile(options: Profile, profile: Profile): Profile {
  const said = new Set([...Object.keys(options.map ?? {}), ...(options.skip ?? [])]);
  const others = ({ map = {}, skip = [] }: Pick<Profile, 'map' | 'skip'>) => ({
    map: Object.fromEntries(Object.entries(map).filter(([column]) => !said.has(column))),
    skip: skip.filter((column) => !said.has(column)),
  });
  const { map, skip } = others(profile);
  const isGiven = (value: unknown) =>
    Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false;
  return {
    ...profile,
    ...Object.fromEntries(Object.entries(options).filter(([, value]) => isGiven(value))),
    map: { ...map, ...options.map },
    skip: [...skip, ...(options.skip ?? [])],
    kinds: Object.fromEntries(Object.entries(profile.kinds ?? {}).map(([kind, own]) => [kind, others(own)])),
    linkBy: { ...profile.linkBy, ...options.linkBy },
  };
}

/** Reads `--map "Serial no.=uid"`, or `--link-by location=name`. */
export function readPairs(option: string, given: readonly string[]): Record<string, string> {
  const found = given.map((text) => {
    const at = text.lastIndexOf('=');
    if (at < 1) throw new StartError(`${option}: ${expected('two names, such as "Serial no.=uid"', text)}`);
    return [text.slice(0, at), text.slice(at + 1)] as const;
  });
  return Object.fromEntries(found);
}

/** Throws a StartError for an option that is not of its form. */
export function rowOptions(profile: Profile, kind: RecordKind): ColumnOptions & { readonly form: CellForm } {
  const own = Object.entries(profile.kinds ?? {}).find(([name]) => kindCalled(name) === kind)?.[1];
  const { dates, timeZone } = profile;
  return {
    map: new Map([...Object.entries(own?.map ?? {}), ...Object.entries(profile.map ?? {})]),
    skip: new Set([...(own?.skip ?? []), ...(profile.skip ?? [])]),
    skipsOthers: profile.skipOthers ?? false,
    linkBy: readLinkBy(profile.linkBy ?? {}),
    form: {
      dates: dates === undefined ? undefined : dateFormOf(dates),
      timeZone: timeZone === undefined ? undefined : timeZoneOf(timeZone),
      hasDecimalComma: profile.decimalComma ?? false,
      hasApostrophes: profile.excel ?? false,
      keepsBlank: profile.blank === 'keep',
      nullText: profile.null,
    },
  };
}
