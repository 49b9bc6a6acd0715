/** How the files of an import are to be read: what the command line says, and what a profile says, for files of another program. */
import * as z from 'zod';
import { StartError } from '../errors.ts';
import { expected } from '../model/issues.ts';
import type { RecordKind } from '../model/record-kind.ts';
import { type ColumnOptions, kindCalled, readLinkBy } from './columns.ts';
import readyProfiles from './profiles.json';
import { type CellForm, dateFormOf, timeZoneOf } from './values.ts';

const names = z.array(z.string());
/** `map` may say null of a column, as `skip` does: it is left out. */
const columns = z.strictObject({
  map: z.record(z.string(), z.string().nullable()).optional(),
  skip: names.optional(),
});

const schema = columns.extend({
  /** Columns of one kind only, by the name of the kind. */
  kinds: z.record(z.string(), columns).optional(),
  kind: z.string().optional(),
  skipOthers: z.boolean().optional(),
  linkBy: z.record(z.string(), z.string()).optional(),
  upsertBy: names.optional(),
  createMissing: names.optional(),
  /** 31 December 2026 as the file writes dates. Dates that begin with the year, and those with the name of a month, are always read. */
  dates: z.string().optional(),
  /** Of times without one. */
  timeZone: z.string().optional(),
  /** Numbers are written as `53,08`. */
  decimalComma: z.boolean().optional(),
  /** Texts have the apostrophes that `export --excel` adds. */
  excel: z.boolean().optional(),
  /** Whether an empty cell clears what is stored, or keeps it. */
  blank: z.enum(['clear', 'keep']).optional(),
  /** The text of a cell without a value, such as `\N`, besides the empty one. */
  null: z.string().optional(),
});

/** As in a file: its JSON decides how rows are read. */
export type Profile = z.infer<typeof schema>;

/** Reads the profile with this name, or in this file. */
function readProfile(nameOrFile: string, readFile: (path: string) => string): Profile {
  const refuse = (problem: string) => new StartError(`--profile ${nameOrFile}: ${problem}`);
  let sent: unknown = new Map(Object.entries(readyProfiles)).get(nameOrFile);
  try {
    sent ??= JSON.parse(readFile(nameOrFile));
  } catch (error) {
    if (error instanceof SyntaxError) throw refuse(expected('a file with a JSON object', error.message));
    throw refuse(`there is no such file; the profiles that are ready are ${Object.keys(readyProfiles).join(', ')}`);
  }
  const { success, data, error } = schema.safeParse(sent);
  if (success) return data;
  throw refuse(error.issues.map(({ path, message }) => [...path, message].join(': ')).join('; '));
}

/** As people say it: `map` and `linkBy` have pairs such as `Serial no.=uid`, and `profile` is a name or a file. */
export interface ProfileOptions extends Omit<Profile, 'map' | 'linkBy' | 'kinds'> {
  readonly map: readonly string[];
  readonly linkBy: readonly string[];
  readonly profile?: string | undefined;
}

/** The options added to the profile that they name. What they say of the same column, or of the same thing, counts. */
export function profileOf(options: ProfileOptions, readFile: (path: string) => string): Profile {
  const [map, linkBy] = [readPairs('--map', options.map), readPairs('--link-by', options.linkBy)];
  const { success, data: own, error } = schema.strip().safeParse({ ...options, map, linkBy });
  if (!success) throw new StartError(error.issues.map(({ path, message }) => `--${path}: ${message}`).join('; '));
  const profile = options.profile === undefined ? {} : readProfile(options.profile, readFile);
  const isGiven = (value: unknown) => Boolean(Array.isArray(value) ? value.length : value);
  return {
    ...profile,
    ...Object.fromEntries(Object.entries(own).filter(([, value]) => isGiven(value))),
    map: { ...columnsIn(profile), ...columnsIn(own) },
    skip: undefined,
    kinds: Object.fromEntries(
      Object.entries(profile.kinds ?? {}).map(([kind, ofKind]) => [
        kind,
        { map: { ...columnsIn(ofKind), ...columnsIn(own) } },
      ]),
    ),
    linkBy: { ...profile.linkBy, ...linkBy },
  };
}

const columnsIn = ({ map, skip = [] }: z.infer<typeof columns>) => ({
  ...map,
  ...Object.fromEntries(skip.map((column) => [column, null])),
});

/** Reads `--map "Serial no.=uid"`, or `--link-by location=name`. */
function readPairs(option: string, given: readonly string[]): Record<string, string> {
  const found = given.map((text) => {
    const at = text.lastIndexOf('=');
    if (at < 1) throw new StartError(`${option}: ${expected('two names, such as "Serial no.=uid"', text)}`);
    return [text.slice(0, at), text.slice(at + 1)] as const;
  });
  return Object.fromEntries(found);
}

/** Throws a StartError for an option that is not of its form. */
export function rowOptions(profile: Profile, kind: RecordKind): ColumnOptions & { readonly form: CellForm } {
  const { kinds = {}, dates, timeZone, skipOthers = false, linkBy = {} } = profile;
  const own = Object.entries(kinds).find(([name]) => kindCalled(name) === kind)?.[1] ?? {};
  return {
    map: new Map(Object.entries({ ...columnsIn(profile), ...columnsIn(own) })),
    skipsOthers: skipOthers,
    linkBy: readLinkBy(linkBy),
    form: {
      ...profile,
      dates: dates === undefined ? undefined : dateFormOf(dates),
      timeZone: timeZone === undefined ? undefined : timeZoneOf(timeZone),
    },
  };
}

/** Throws a StartError for a name that no kind has. */
export function requireKind(option: string, name: string | undefined): RecordKind | undefined {
  const kind = name === undefined ? undefined : kindCalled(name);
  if (name !== undefined && !kind) throw new StartError(`--${option}: ${expected('a kind such as assets', name)}`);
  return kind;
}
