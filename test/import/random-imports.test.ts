/**
 * Random imports of small files with links, renames, exchanges, repeated and invalid rows, in parts, interrupted and resumed: what is stored is
 * what a model says, and within a part, what the preview has said; each refused row is in a file.
 */
import { expect, test } from 'vitest';
import { parentsFirst } from '../../src/import/reading.ts';
import { useShortDelays } from '../support/client.ts';
import { startDroppingProxy } from '../support/dropping-proxy.ts';
import { byEffort } from '../support/effort.ts';
import { useImports } from '../support/import.ts';
import { ImportModel, type KindName, type Mode, type Row, type Stored, targetOf } from '../support/import-model.ts';
import { createRandom } from '../support/random.ts';

const imports = useImports();
useShortDelays();

type Random = ReturnType<typeof createRandom>;
type Service = ReturnType<typeof imports.service.as>;

const kinds = ['locations', 'assetCategories', 'assets', 'projects'] as const satisfies KindName[];
const columns = {
  locations: { key: 'externalIds.erp', link: undefined, flawed: 'latitude' },
  assetCategories: { key: 'description', link: 'parent', flawed: undefined },
  projects: { key: 'externalIds.erp', link: 'location', flawed: 'startDate' },
  assets: { key: 'uid', link: 'currentLocation', flawed: 'acquiredAt' },
} as const;
const upsertNames = { create: 'create', id: 'id', key: 'externalIds.erp', name: 'name' } as const;

const names = ['A', 'B', 'C', '1', '2'];
const keys = ['K1', 'K2', 'K3', 'K4'];
const ids = ['1', '2', '3', 'A'];

function anyModes(random: Random): Record<KindName, Mode> {
  const mode = (upsertBy: readonly Mode['upsertBy'][], linkBy: readonly Mode['linkBy'][]): Mode => ({
    upsertBy: random.pick(upsertBy) ?? 'create',
    linkBy: random.pick(linkBy) ?? 'id',
  });
  return {
    locations: mode(['create', 'key', 'id'], ['id']),
    assetCategories: mode(['create', 'name', 'id'], ['id', 'any', 'name']),
    projects: mode(['create', 'key'], ['id', 'any', 'name', 'key']),
    assets: mode(['create', 'key', 'id'], ['id', 'any', 'name', 'key']),
  };
}

/** Stores records with links, and returns them as the model has them. */
async function fill(service: Service, random: Random): Promise<Stored[]> {
  const stored: Stored[] = [];
  for (const kind of ['locations', 'assetCategories', 'assets'] as const) {
    const uids = random.shuffle(keys);
    for (let n = 0; n < random.integer(4); n += 1) {
      const name = random.pick(names) ?? '';
      const key = kind === 'locations' ? (random.pick(keys) ?? '') : kind === 'assets' ? (uids[n] ?? '') : null;
      const parent =
        kind === 'assetCategories' && random.chance(0.5)
          ? random.pick(stored.filter((it) => it.kind === kind))
          : undefined;
      const input = {
        name,
        ...(kind === 'locations' && { externalIds: { erp: key } }),
        ...(kind === 'assets' && { uid: key }),
        ...(parent && { parentId: parent.id }),
      };
      const mutation = `mutation ($input: ImportInput!) { importRecords(input: $input) { ${kind} { id } } }`;
      const data = await service.data(mutation, { input: { [kind]: [input] } });
      stored.push({ kind, id: data.importRecords[kind][0].id, name, key, link: parent ?? null });
    }
  }
  return stored;
}

function anyRows(random: Random, modes: Readonly<Record<KindName, Mode>>, stored: readonly Stored[]): Row[] {
  const idsOf = (kind: KindName) =>
    modes[kind].upsertBy === 'id' ? stored.filter((it) => it.kind === kind).map(({ id = '' }) => id) : ids;
  return kinds.flatMap((kind) =>
    Array.from({ length: random.integer(6) }, (): Row => {
      const { linkBy } = modes[kind];
      const texts = { id: kind === 'locations' ? [] : [...idsOf(targetOf[kind]), '9'], name: names, key: keys };
      const isFlawed = kind !== 'assetCategories' && random.chance(0.1);
      const flaw = isFlawed ? random.pick(['unread', 'invalid'] as const) : undefined;
      const linked = linkBy === 'any' ? [...texts.id, ...names] : texts[linkBy];
      return {
        kind,
        id: random.chance(0.7) ? (random.pick(idsOf(kind)) ?? null) : null,
        name: flaw === 'invalid' && kind !== 'locations' ? ' ' : (random.pick(names) ?? ''),
        key:
          kind !== 'assetCategories' && (flaw === 'invalid' || random.chance(0.9)) ? (random.pick(keys) ?? null) : null,
        link: kind !== 'locations' && random.chance(0.6) ? (random.pick(linked) ?? null) : null,
        flaw,
      };
    }),
  );
}

/** The rows in the order in which they are stored: parents first. */
function inOrder(rows: readonly Row[], { assetCategories: mode }: Readonly<Record<KindName, Mode>>): Row[] {
  const { linkBy, upsertBy } = mode;
  const categories = rows.filter(({ kind }) => kind === 'assetCategories');
  const parents = categories.map(({ link }) =>
    categories.flatMap(({ id, name }, place) => {
      const isRepeated = categories.slice(0, place).some((first) => {
        const isSameId = id !== null && id === first.id && (linkBy !== 'name' || upsertBy === 'id');
        return isSameId || (upsertBy === 'name' && name === first.name);
      });
      if (isRepeated) return [];
      const isParent = link !== null && ((linkBy !== 'name' && id === link) || (linkBy !== 'id' && name === link));
      return isParent ? [place] : [];
    }),
  );
  const dueAfter = parentsFirst(parents.length, (place) => parents[place] ?? []);
  const inTree = categories.flatMap((_, place) => dueAfter(place)).map((place) => categories[place] as Row);
  return kinds.flatMap((kind) => (kind === 'assetCategories' ? inTree : rows.filter((row) => row.kind === kind)));
}

function fileOf(kind: KindName, rows: readonly Row[], { linkBy }: Mode): string {
  const { key: keyColumn, link, flawed } = columns[kind];
  const linkColumns = { id: `${link}Id`, any: link, name: `${link}.name`, key: `${link}.externalIds.erp` };
  const header = ['id', 'name', keyColumn, link ? linkColumns[linkBy] : 'city', ...(flawed ? [flawed] : [])];
  const lines = rows.map(({ id, name, key, link: to, flaw }) => {
    const last = flaw === 'unread' ? 'soon' : kind === 'locations' && flaw ? '999' : '';
    const cells = [id, name, key, to].map((cell) => (cell === null ? '' : `"${cell}"`));
    return [...cells, ...(flawed ? [last] : [])].join();
  });
  return [header.join(), ...lines, ''].join('\n');
}

type Target = { readonly name: string; readonly externalIds?: { readonly erp: string } | null } | null;

interface Found extends NonNullable<Target> {
  readonly uid?: string | null;
  readonly parent?: Target;
  readonly location?: Target;
  readonly currentLocation?: Target;
  readonly locationId?: string | null;
  readonly currentLocationId?: string | null;
}

async function storedIn(service: Service): Promise<string[]> {
  const data = await service.data(`{
    locations(first: 100) { nodes { name externalIds } }
    assetCategories(first: 100) { nodes { name parent { name } } }
    projects(first: 100) { nodes { name externalIds locationId location { name externalIds } } }
    assets(first: 100) { nodes { name uid currentLocationId currentLocation { name externalIds } } }
  }`);
  return kinds
    .flatMap((kind) =>
      data[kind].nodes.map(({ name, uid, externalIds, parent, location, currentLocation, ...ids }: Found) => {
        const to = parent ?? location ?? currentLocation;
        const id = ids.locationId ?? ids.currentLocationId ?? null;
        const key = kind === 'assets' ? uid : externalIds?.erp;
        return `${kind} ${name} ${key ?? null} ${to ? `${to.name}/${to.externalIds?.erp ?? null}` : id}`;
      }),
    )
    .toSorted();
}

const storedBy = ({ records }: ImportModel): string[] =>
  records
    .map(
      ({ kind, name, key, link }) =>
        `${kind} ${name} ${key} ${link && typeof link !== 'string' ? `${link.name}/${link.key}` : link}`,
    )
    .toSorted();

test('each row of a tree is stored once, after its parent, in whatever order they come', () => {
  for (let seed = 1; seed <= 300; seed += 1) {
    const random = createRandom(seed);
    const places = random.shuffle(Array.from({ length: 1 + random.integer(9) }, (_, place) => place));
    // A parent is earlier in the shuffled list; a circle has none, and only loses no row.
    const hasCircle = random.chance(0.3);
    const parents = new Map(
      places.map((place, at) => [
        place,
        random.chance(0.7) ? random.pick(hasCircle ? places : places.slice(0, at)) : undefined,
      ]),
    );
    const dueAfter = parentsFirst(places.length, (place) => [parents.get(place) ?? []].flat());
    const order = places.toSorted((one, two) => one - two).flatMap(dueAfter);

    expect(order.toSorted(), `seed ${seed}`).toEqual(places.toSorted());
    for (const [place, parent] of hasCircle ? [] : parents) {
      if (parent !== undefined) expect(order.indexOf(parent), `seed ${seed}`).toBeLessThan(order.indexOf(place));
    }
  }
});

const first = Number(process.env.SEED ?? 1);

test(
  'stores what the model says, also when it is interrupted',
  async ({ onTestFinished }) => {
    let [passed, last, isResponseLost] = [0, Infinity, false];
    const proxy = await startDroppingProxy(imports.url, 1, () => {
      passed += 1;
      if (passed < last) return 1;
      return passed === last && isResponseLost ? 0.75 : 0.25;
    });
    onTestFinished(proxy.stop);
    for (
      let seed = first;
      seed < first + Number(process.env.RUNS ?? byEffort({ small: 10, long: 10_000 }));
      seed += 1
    ) {
      const random = createRandom(seed);
      const key = await imports.service.key({ workspace: `random-${seed}` });
      const service = imports.service.as(key);
      const [modes, createsMissing] = [anyModes(random), random.chance(0.4)];
      const model = new ImportModel(modes, createsMissing);
      model.records.push(...(await fill(service, random)));
      const rows = anyRows(random, modes, model.records);
      const partSize = random.chance(0.5) ? 100 : 1 + random.integer(4);
      const rowsOf = (kind: KindName) => rows.filter((row) => row.kind === kind);
      const ordered = inOrder(rows, modes);
      // Locations that are found by a key are stored apart from rows for whose names others are created.
      const size = createsMissing && modes.locations.upsertBy === 'key' ? rowsOf('locations').length : 0;
      for (const some of [ordered.slice(0, size), ordered.slice(size)]) {
        for (let start = 0; start < some.length; start += partSize)
          model.importPart(some.slice(start, start + partSize));
      }

      const files = Object.fromEntries(kinds.map((kind) => [`${kind}.csv`, fileOf(kind, rowsOf(kind), modes[kind])]));
      imports.write(files);
      const upsertBy = kinds.flatMap((kind) => {
        const by = kind === 'assets' && modes[kind].upsertBy === 'key' ? 'uid' : upsertNames[modes[kind].upsertBy];
        return ['--upsert-by', `${kind}=${by}`];
      });
      const isInterrupted = random.chance(0.6);
      const args = [
        ...['import', ...Object.keys(files).map(imports.path), '--yes', '--url', proxy.url, ...upsertBy],
        ...(createsMissing ? ['--create-missing', 'locations'] : []),
        ...(isInterrupted ? ['--no-preview'] : []),
      ];
      [passed, last, isResponseLost] = [0, isInterrupted ? 1 + random.integer(8) : Infinity, random.chance(0.7)];
      let ended = await imports.commandWith(key, ...args, '--batch', String(partSize));
      const isResumed = last <= passed;
      last = Infinity;
      if (isResumed) {
        // What has begun to store rows is noted, and goes on in the same parts.
        const isNoted = imports.files().includes('locations.csv.import-run');
        expect([seed, ended.code]).toEqual([seed, isNoted ? 3 : 1]);
        ended = await imports.commandWith(key, ...args, '--batch', String(isNoted ? 7 : partSize));
      }

      const story = JSON.stringify(
        { seed, modes, createsMissing, partSize, isResumed, files, out: ended.out, err: ended.err },
        null,
        1,
      ).replaceAll('\\n', '\n');
      expect(ended.code, story).toBe(model.refused === 0 ? 0 : model.refused === rows.length ? 1 : 2);
      expect(await storedIn(service), story).toEqual(storedBy(model));
      const refused = imports.files().filter((name) => !(name in files));
      expect(
        refused.filter((name) => !name.includes('.refused')),
        story,
      ).toEqual([]);
      expect(refused.flatMap((name) => imports.read(name).trimEnd().split('\n').slice(1)).length, story).toBe(
        model.refused,
      );
      for (const name of refused) imports.write({ [name]: '' });
      const counts = ended.out.flatMap(
        (line) => /(\d+) created, (\d+) updated, (\d+) unchanged, (\d+) refused/.exec(line)?.slice(1) ?? [],
      );
      expect(counts[3], story).toBe(String(model.refused));
      const previewed = /(\d+) to create, (\d+) to update, (\d+) unchanged, (\d+) refused/
        .exec(ended.out[0] ?? '')
        ?.slice(1);
      if (partSize === 100 && size === 0 && previewed) expect(previewed, story).toEqual(counts);
    }
  },
  byEffort({ small: 300_000, long: 7_200_000 }),
);
