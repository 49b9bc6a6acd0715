/** Options of the command line, and a profile for the files of another program. */
import * as z from 'zod';
import { StartError } from '../errors.ts';
import { expected } from '../model/issues.ts';
import type { RecordKind } from '../model/record-kind.ts';
import { type ColumnOptions, parseKindName, parseLinkBy } from './columns.ts';
import builtInProfiles from './profiles.json';
import { type CellForm, parseDateForm, parseTimeZone } from './values.ts';

const names = z.array(z.string());
/** A column that `map` maps to null is left out, as with `skip`. */
const columns = z.strictObject({
  map: z.record(z.string(), z.string().nullable()).optional(),
  skip: names.optional(),
});

const schema = columns.extend({
  kinds: z.record(z.string(), columns).optional(),
  kind: z.string().optional(),
  skipOthers: z.boolean().optional(),
  linkBy: z.record(z.string(), z.string()).optional(),
  upsertBy: names.optional(),
  createMissing: names.optional(),
  /** 31 December 2026 in the form of the file. Dates with the year first or a named month need no form. */
  dates: z.string().optional(),
  timeZone: z.string().optional(),
  decimalComma: z.boolean().optional(),
  /** A year alone is its first day. */
  years: z.boolean().optional(),
  months: z.boolean().optional(),
  /** By link and text, the name that is meant. */
  names: z.record(z.string(), z.record(z.string(), z.string())).optional(),
  excel: z.boolean().optional(),
  blank: z.enum(['clear', 'keep']).optional(),
  /** The text of an empty cell, such as `\N`, besides ''. */
  null: z.string().optional(),
});

export type Profile = z.infer<typeof schema>;

export const profileNames = Object.keys(builtInProfiles);

function readProfile(nameOrFile: string, readFile: (path: string) => string): Profile {
  const refuse = (problem: string) => new StartError(`--profile ${nameOrFile}: ${problem}`);
  let sent: unknown = new Map(Object.entries(builtInProfiles)).get(nameOrFile);
  try {
    sent ??= JSON.parse(readFile(nameOrFile));
  } catch (error) {
    if (error instanceof SyntaxError) throw refuse(expected('a file with a JSON object', error.message));
    throw refuse(`there is no such file; the built-in profiles are ${profileNames.join(', ')}`);
  }
  const { success, data, error } = schema.safeParse(sent);
  if (success) return data;
  throw refuse(error.issues.map(({ path, message }) => [...path, message].join(': ')).join('; '));
}

/** `map` and `linkBy` are pairs such as `Serial no.=uid`; `profile` is a name or a file. */
export interface ProfileOptions extends Omit<Profile, 'map' | 'linkBy' | 'kinds'> {
  readonly map: readonly string[];
  readonly linkBy: readonly string[];
  readonly profile?: string | undefined;
}

/** An option overrides the profile. */
export function profileOf(options: ProfileOptions, readFile: (path: string) => string): Profile {
  const [map, linkBy] = [parsePairs('--map', options.map), parsePairs('--link-by', options.linkBy)];
  const { success, data: given, error } = schema.strip().safeParse({ ...options, map, linkBy });
  if (!success) throw new StartError(error.issues.map(({ path, message }) => `--${path}: ${message}`).join('; '));
  const profile = options.profile === undefined ? {} : readProfile(options.profile, readFile);
  const withGiven = (own: z.infer<typeof columns>) => ({ map: { ...columnMap(own), ...columnMap(given) } });
  const kinds = Object.entries(profile.kinds ?? {}).map(([kind, ofKind]) => [kind, withGiven(ofKind)]);
  const isGiven = (value: unknown) => Boolean(Array.isArray(value) ? value.length : value);
  return {
    ...profile,
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => isGiven(value))),
    ...withGiven(profile),
    skip: undefined,
    kinds: Object.fromEntries(kinds),
    linkBy: { ...profile.linkBy, ...linkBy },
  };
}

const columnMap = ({ map, skip = [] }: z.infer<typeof columns>) => ({
  ...map,
  ...Object.fromEntries(skip.map((column) => [column, null])),
});

/** Parses `--map "Serial no.=uid"` and `--link-by location=name`. */
function parsePairs(option: string, given: readonly string[]): Record<string, string> {
  const found = given.map((text) => {
    const at = text.lastIndexOf('=');
    if (at < 1) throw new StartError(`${option}: ${expected('two names, such as "Serial no.=uid"', text)}`);
    return [text.slice(0, at), text.slice(at + 1)] as const;
  });
  return Object.fromEntries(found);
}

export function rowOptions(profile: Profile, kind: RecordKind): ColumnOptions & { readonly form: CellForm } {
  const { kinds = {}, dates, timeZone, skipOthers = false, linkBy = {} } = profile;
  const ofKind = Object.entries(kinds).find(([name]) => parseKindName(name) === kind)?.[1] ?? {};
  return {
    map: new Map(Object.entries({ ...columnMap(profile), ...columnMap(ofKind) })),
    skipsOthers: skipOthers,
    linkBy: parseLinkBy(linkBy),
    form: {
      ...profile,
      dates: dates === undefined ? undefined : parseDateForm(dates),
      timeZone: timeZone === undefined ? undefined : parseTimeZone(timeZone),
    },
  };
}

export function requireKind(option: string, name: string | undefined): RecordKind | undefined {
  const kind = name === undefined ? undefined : parseKindName(name);
  if (name !== undefined && !kind) throw new StartError(`--${option}: ${expected('a kind such as assets', name)}`);
  return kind;
}
