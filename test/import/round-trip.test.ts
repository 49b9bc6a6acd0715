/** What is exported can be imported into an empty workspace, and is then exported as it was, but for what the service sets itself. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { pathName } from '../../src/model/labels.ts';
import { linkOrder } from '../../src/records/index.ts';
import { byEffort } from '../support/effort.ts';
import { useImports } from '../support/import.ts';

const imports = useImports();

/** Texts of all kinds: separators, quotes, line breaks, formulas, spaces, numbers, surrogate pairs, nothing. */
const texts = fc.oneof(
  fc.constantFrom(
    ...['', ' ', '""', '"', ',', ';', 'a\nb', 'a\r\nb', '\r', '=1+1', '-1', '007', 'true', '1E5', 'Mai 1'],
  ),
  fc.constantFrom('🏗', '\uFEFFx', 'x\u2028', "'", "'=1", "''+", '@a', '\tx', '1,5', '01.02.2026'),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
);
const names = texts.filter((text) => text.trim() !== '' && !text.includes('\0'));
const text = texts.filter((value) => !value.includes('\0'));
const optional = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: undefined });
/** Some are in the night in which Berlin's clocks show an hour twice. */
const dates = fc.oneof(
  fc.date({ min: new Date('0002-01-01'), max: new Date('9998-01-01'), noInvalidDate: true }),
  fc.integer({ min: 0, max: 200 }).map((minutes) => new Date(Date.parse('2026-10-24T22:30:00Z') + 60_000 * minutes)),
);
const externalIds = fc.dictionary(names, names, { maxKeys: 3 }).filter((ids) => !Object.hasOwn(ids, '__proto__'));
const id = fc.integer({ min: 0, max: 5 });

const location = fc.record(
  { name: text, city: text, latitude: fc.double({ min: -90, max: 90, noNaN: true }), externalIds },
  { requiredKeys: [] },
);
const project = fc.record({ name: names, notes: optional(text), startDate: optional(dates), location: optional(id) });
const category = fc.record({ name: optional(text), parent: optional(id) });
const asset = fc.record({ name: names, trackUtilization: optional(fc.boolean()), externalIds: optional(externalIds) });

const workspace = fc.record({
  locations: fc.array(location, { maxLength: 6 }),
  projects: fc.array(project, { maxLength: 6 }),
  categories: fc.array(category, { maxLength: 6 }),
  assets: fc.array(asset, { maxLength: 6 }),
});

type Workspace = typeof workspace extends fc.Arbitrary<infer T> ? T : never;

async function fill(
  service: ReturnType<typeof imports.service.as>,
  { locations, projects, categories, assets }: Workspace,
): Promise<void> {
  const ids = async (path: string, records: readonly object[]): Promise<string[]> =>
    records.length === 0 ? [] : (await service.create(path, ...records)).map((record) => record.id);
  const stored = await ids('/locations', locations);
  await ids(
    '/projects',
    projects.map(({ location: at, ...fields }) => ({ ...fields, locationId: at === undefined ? 'ERP-1' : stored[at] })),
  );
  const tree = await ids(
    '/asset-categories',
    categories.map(({ name }, index) => ({ name, description: `category ${index}` })),
  );
  // A parent may have been created later than its child.
  const input = categories.flatMap(({ parent }, index) =>
    parent !== undefined && parent > index && tree[parent] !== undefined
      ? [{ id: tree[index], parentId: tree[parent] }]
      : [],
  );
  await service.data('mutation ($input: [AssetCategoryPatch!]!) { updateAssetCategories(input: $input) { id } }', {
    input,
  });
  await ids('/assets', assets);
}

/**
 * The rows of all kinds, without times, and with the place of each record instead of its ID. That of a category is its description: the
 * service gives parents their IDs before their children.
 */
function comparable(text: string): string[] {
  const rows = text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  const places = new Map(rows.map(({ id, description }, place) => [id, description ?? place]));
  return rows
    .map(({ createdAt: _, updatedAt: __, ...row }) =>
      JSON.stringify(row).replace(/\b[a-z_]+_[0-9a-z]{26}\b/g, (found) => `#${places.get(found)}`),
    )
    .toSorted();
}

test.each(['all.ndjson', 'csv'])('as %s', async (format) => {
  const fileNames = format === 'csv' ? linkOrder.map((kind) => `${pathName(kind)}.csv`) : [format];
  let run = 0;
  /** A key of a new workspace. */
  const newKey = () => {
    run += 1;
    return imports.service.key({ workspace: `${format.replace('.', '-')}-${run}` });
  };
  await fc.assert(
    fc.asyncProperty(workspace, async (content) => {
      const [source, targetKey] = [imports.service.as(await newKey()), await newKey()];
      await fill(source, content);
      const files: Record<string, string> = {};
      for (const name of fileNames) files[name] = (await source.get(`/export/${name}`)).text;
      imports.write(files);

      const args = ['import', ...fileNames.map(imports.path), '--yes', '--batch', '2'];
      const { code, out, err } = await imports.commandWith(targetKey, ...args);

      expect([code, out, err]).toEqual([0, expect.anything(), expect.anything()]);
      const [before, after] = [source, imports.service.as(targetKey)].map((it) => it.get('/export/all.ndjson'));
      expect(comparable((await after)?.text ?? '')).toEqual(comparable((await before)?.text ?? ''));
    }),
    { numRuns: byEffort({ small: 5, long: 300 }) },
  );
});

test.each([
  ['de-DE', '31.12.2026', '--decimal-comma'],
  ['en-US', '12/31/2026'],
  ['en-GB', '31/12/2026'],
  ['fr-FR', '31/12/2026', '--decimal-comma'],
  ['sv-SE', '2026-12-31', '--decimal-comma'],
  ['ja-JP', '2026/12/31'],
])('for Excel in %s, and back into the same records, which stay unchanged', async (excel, ...form) => {
  const query = new URLSearchParams({ excel, timeZone: 'Europe/Berlin' });
  let run = 0;
  await fc.assert(
    fc.asyncProperty(workspace, async (content) => {
      run += 1;
      const key = await imports.service.key({ workspace: `${excel.toLowerCase()}-${run}` });
      const source = imports.service.as(key);
      await fill(source, content);
      const files: Record<string, string> = {};
      for (const kind of linkOrder) {
        const name = `${pathName(kind)}.csv`;
        files[name] = (await source.get(`/export/${name}?${query}`)).text;
      }
      imports.write(files);

      const options = [
        '--yes',
        '--no-preview',
        '--excel',
        '--upsert-by',
        'id',
        '--time-zone',
        'Europe/Berlin',
        '--dates',
      ];
      const paths = Object.keys(files).map(imports.path);
      const { out, err } = await imports.commandWith(key, 'import', ...paths, ...options, ...form);

      const total = Object.values(content).flat().length;
      expect([out[0], err]).toEqual([`0 created, 0 updated, ${total} unchanged, 0 refused`, expect.anything()]);
    }),
    { numRuns: byEffort({ small: 5, long: 300 }) },
  );
});
