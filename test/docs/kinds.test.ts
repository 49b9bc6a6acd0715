/** The pages list the kinds between comments; `npm run schema` prints these lists from the registry. */
import { expect, test } from 'vitest';
import { foreignTypes } from '../../src/model/fields.ts';
import { capitalized, listField } from '../../src/model/labels.ts';
import { matchableFields } from '../../src/model/record-kind.ts';
import { recordKinds, reverseLinksOf } from '../../src/records/index.ts';
import { pages, readPage } from '../support/docs.ts';

const code = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ');
const block = (lines: readonly string[]): string => `\n\n${lines.join('\n')}\n\n`;
const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
const table = (head: readonly string[], ...rows: readonly (readonly string[])[]): string =>
  block([row(head), `|${'---|'.repeat(head.length)}`, ...rows.map(row)]);

const labelsOf = (kinds: typeof recordKinds): string => kinds.map(({ pluralLabel }) => pluralLabel).join(', ');

const lists: Readonly<Record<string, () => string>> = {
  kinds: () => labelsOf(recordKinds),

  properties: () => code(recordKinds.map(listField)),

  fields() {
    const rows = recordKinds.map(({ label, fields, storedFields }) => {
      const sent = Object.entries(fields).map(([name, { required }]) => code([name]) + (required ? ' (required)' : ''));
      const set = Object.keys(storedFields).filter((name) => !Object.hasOwn(fields, name));
      return [capitalized(label), sent.join(', '), code(set)];
    });
    return table(['Kind', 'Fields of a request', 'Set by the service'], ...rows);
  },

  indexes() {
    const isLink = (type: string) => ['id', 'reference', 'foreignReference', 'externalIds'].includes(type);
    const rows = recordKinds.map(({ pluralLabel, storedFields }) => {
      const indexed = Object.entries(storedFields).filter(([, field]) => field.indexed && !isLink(field.type));
      return [pluralLabel, code(indexed.map(([name]) => name))];
    });
    return table(['Records', 'Fields with an index'], ...rows);
  },

  reverseLinks() {
    const rows = [...recordKinds.map(({ name }) => name), ...Object.keys(foreignTypes)].flatMap((type) => {
      const links = reverseLinksOf(type);
      return links.length > 0 ? [[code([type]), code(links.map(({ name }) => name))]] : [];
    });
    return table(['From', 'To'], ...rows);
  },

  keys() {
    const names = new Set(recordKinds.flatMap(matchableFields));
    const rows = [...names].map((name) => {
      const kinds = recordKinds.filter((kind) => matchableFields(kind).includes(name));
      return [code([name]), labelsOf(kinds)];
    });
    const withExternalIds = recordKinds.filter(({ fields }) => fields.externalIds);
    return table(
      ['Key', 'Finds'],
      [
        '`id`',
        'any kind, by the ID of this workspace, as in an export: an unknown ID is refused, and a row without an ID creates a record',
      ],
      ['`externalIds.erp`', `${labelsOf(withExternalIds)}, by their IDs in the system \`erp\``],
      ...rows,
    );
  },

  distribution() {
    const [first, ...others] = recordKinds.map(({ table }) => table);
    const further = [...others, 'changes', 'change_numbers', 'import_runs', 'idempotency_keys', 'locks'];
    return block([
      '```sql elsewhere',
      "select create_reference_table('workspaces');",
      "select create_reference_table('api_keys');",
      `select create_distributed_table('${first}', 'workspace_id');`,
      ...further.map(
        (name) => `select create_distributed_table('${name}', 'workspace_id', colocate_with => '${first}');`,
      ),
      "select create_reference_table('knex_migrations');",
      "alter system set citus.recover_2pc_interval = '5s';",
      'select pg_reload_conf();',
      '```',
    ]);
  },
};

const printed = /(<!-- printed: (\w+) -->).*?(<!-- end -->)/gs;

const withLists = [...pages, 'client/README.md'].filter((page) => readPage(page).search(printed) >= 0);

test.each(withLists)('the lists of kinds in %s are up to date', async (page) => {
  const text = readPage(page).replace(printed, (_, start, name, end) => `${start}${lists[name]?.()}${end}`);
  await expect(text).toMatchFileSnapshot(`../../${page}`);
});

test('each list stands in a page', () => {
  const names = withLists.flatMap((page) => [...readPage(page).matchAll(printed)].map(([, , name]) => name));
  expect(new Set(names)).toEqual(new Set(Object.keys(lists)));
});
