/** How the files of an import are to be read: what the command line says, and what a profile says, for files of another program. */
import * as z from 'zod';
import { StartError } from '../errors.ts';
import { expected } from '../model/issues.ts';
import type { RecordKind } from '../model/record-kind.ts';
import { type ColumnOptions, kindCalled, readLinkBy } from './columns.ts';
import { type CellForm, dateFormOf, timeZoneOf } from './values.ts';

const names = z.array(z.string());
const pairs = z.record(z.string(), z.string());
const columns = z.strictObject({ map: pairs.optional(), skip: names.optional() });

const schema = columns.extend({
  /** Columns of one kind only, by the name of the kind. */
  kinds: z.record(z.string(), columns).optional(),
  kind: z.string().optional(),
  skipOthers: z.boolean().optional(),
  linkBy: pairs.optional(),
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

/** The columns of a kind, as `--map` has them. */
const mapped = (pairs: string) => ({ map: readPairs('--map', pairs.trim().split(/;\s+/)) });

/** What has no field here, they leave out: each import names it. */
const readyProfiles: Readonly<Record<string, Profile>> = {
  'snipe-it': {
    skipOthers: true,
    kinds: {
      assets: mapped(`
        ID=externalIds.snipe-it; Asset Name=name; Item Name=name; Asset Tag=uid; Serial=externalIds.serial;
        Serial Number=externalIds.serial; Model=assetTypeId; Model Name=assetTypeId; Status=statusId;
        Location=currentLocation.name; Company=ownerId; Manufacturer=manufacturerId; Purchase Date=acquiredAt;
        Order Number=purchaseOrderId`),
      locations: mapped(`
        id=externalIds.snipe-it; ID=externalIds.snipe-it; Location Name=name; address=address1; Address=address1;
        Address 2=address2; zip=postalCode; Zip=postalCode; Postal Code=postalCode`),
    },
  },
  shelf: {
    ...{ kind: 'assets', skipOthers: true, createMissing: ['locations'] },
    ...mapped(`
      title=name; id=externalIds.shelf; assetId=externalIds.shelf; sequentialId=uid; Asset ID=uid; Name=name;
      location=currentLocation.name; Location=currentLocation.name; status=statusId; Status=statusId;
      assetModel=assetTypeId; Asset Model=assetTypeId`),
  },
  homebox: {
    ...{ kind: 'assets', skipOthers: true, createMissing: ['locations'] },
    ...mapped(`
      HB.import_ref=externalIds.homebox; HB.name=name; HB.location=currentLocation.name; HB.asset_id=uid;
      HB.serial_number=externalIds.serial; HB.manufacturer=manufacturerId; HB.model_number=assetTypeId;
      HB.purchase_time=acquiredAt; HB.purchase_date=acquiredAt`),
  },
  atlas: {
    skipOthers: true,
    kinds: {
      assets: mapped(`
        ID=externalIds.atlas; Status=statusId; Location Name=currentLocation.name; Barcode=uid;
        Serial Number=externalIds.serial; Category=assetTypeId`),
      locations: mapped('ID=externalIds.atlas; Address=address1'),
      workOrders: mapped(`
        ID=externalIds.atlas; Title=name; Status=statusId; Description=notes; Due Date=endDate; Category=typeId;
        Location Name=location.name`),
    },
  },
};

/** Reads the profile with this name, or in this file. */
function readProfile(nameOrFile: string, readFile: (path: string) => string): Profile {
  if (Object.hasOwn(readyProfiles, nameOrFile)) return readyProfiles[nameOrFile] ?? {};
  const refuse = (problem: string) => new StartError(`--profile ${nameOrFile}: ${problem}`);
  let sent: unknown;
  try {
    sent = JSON.parse(readFile(nameOrFile));
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
  const isGiven = (value: unknown) =>
    Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false;
  return {
    ...profile,
    ...Object.fromEntries(Object.entries(own).filter(([, value]) => isGiven(value))),
    map: { ...profile.map, ...map },
    skip: [...without(profile.skip, map), ...(own.skip ?? [])],
    linkBy: { ...profile.linkBy, ...linkBy },
  };
}

/** The columns to leave out that are not mapped after all. */
const without = (skip: readonly string[] = [], map: object = {}): string[] =>
  skip.filter((column) => !Object.hasOwn(map, column));

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
  const own = Object.entries(profile.kinds ?? {}).find(([name]) => kindCalled(name) === kind)?.[1] ?? {};
  const { dates, timeZone, map, skip = [] } = profile;
  return {
    map: new Map(Object.entries({ ...own.map, ...map })),
    skip: new Set([...without(own.skip, map), ...skip]),
    skipsOthers: profile.skipOthers ?? false,
    linkBy: readLinkBy(profile.linkBy ?? {}),
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
