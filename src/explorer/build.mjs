/** Bundles the explorer into the folder `dist` beside it, with what it must know of schema.graphql. */
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { build } from 'esbuild';
import { buildSchema, getNamedType, isInputObjectType, isObjectType, isScalarType } from 'graphql';
import { feature } from 'topojson-client';

const folder = import.meta.dirname;

/** What kinds.ts describes. */
export function readKinds() {
  const schema = buildSchema(readFileSync(join(folder, '../../schema.graphql'), 'utf8'));
  const typeOf = ({ type }) => getNamedType(type);
  const fieldsOf = (type) => Object.values(type?.getFields() ?? {});
  const queries = fieldsOf(schema.getQueryType());
  const isRecord = (type) => isObjectType(type) && type.getInterfaces().some(({ name }) => name === 'Node');
  const pagesOf = (type) =>
    fieldsOf(type).flatMap((field) => {
      const [, kind] = /^(\w+)Connection$/.exec(typeOf(field).name) ?? [];
      return kind ? [[field.name, kind]] : [];
    });
  const kinds = {};
  const foreign = {};
  for (const { name, type } of queries) {
    const target = getNamedType(type);
    if (!isObjectType(target) || pagesOf(target).length === 0 || isRecord(target) || /Connection$/.test(target.name))
      continue;
    foreign[target.name] = { one: name, pages: Object.fromEntries(pagesOf(target)) };
  }
  for (const query of queries) {
    const [, kind] = /^(\w+)Connection$/.exec(typeOf(query).name) ?? [];
    if (!kind) continue;
    const type = schema.getType(kind);
    const fields = {};
    for (const field of fieldsOf(type)) {
      const target = typeOf(field);
      const isLink = isObjectType(target) && (isRecord(target) || target.name in foreign);
      // The ID of a link is read with it.
      const isOfLink = field.name !== 'id' && field.name.endsWith('Id') && field.name.slice(0, -2) in type.getFields();
      if (isLink ? field.name !== 'workspace' : isScalarType(target) && !isOfLink && field.name !== 'workspaceId')
        fields[field.name] = { type: target.name };
    }
    const filters = fieldsOf(schema.getType(`${kind}Filter`)).flatMap((filter) => {
      const target = typeOf(filter);
      return isInputObjectType(target) && /^(Text|Id|DateTime|Number|Boolean)Filter$/.test(target.name)
        ? [[filter.name, target.name]]
        : [];
    });
    const order = fieldsOf(schema.getType(`${kind}OrderBy`)).map(({ name }) => name);
    kinds[kind] = {
      list: query.name,
      fields,
      filters: Object.fromEntries(filters),
      order,
      pages: Object.fromEntries(pagesOf(type)),
    };
  }
  const filterTypes = ['Text', 'Id', 'DateTime', 'Number', 'Boolean'].map((name) => `${name}Filter`);
  const operators = Object.fromEntries(
    filterTypes.map((name) => [
      name,
      fieldsOf(schema.getType(name)).flatMap((operator) =>
        ['in', 'ignoreCase'].includes(operator.name) ? [] : operator.name,
      ),
    ]),
  );
  return { kinds, foreign, operators };
}

const schemaData = {
  name: 'schema',
  setup(plugins) {
    plugins.onResolve({ filter: /^schema\.graphql$/ }, () => ({ path: 'schema', namespace: 'schema' }));
    plugins.onLoad({ filter: /.*/, namespace: 'schema' }, () => ({
      contents: JSON.stringify(readKinds()),
      loader: 'json',
    }));
  },
};

/** The outlines of the countries, for the map: two decimals are about a kilometre. */
function countries() {
  const topology = createRequire(import.meta.url)('world-atlas/countries-50m.json');
  const rounded = (_, value) => (typeof value === 'number' ? Math.round(value * 100) / 100 : value);
  return JSON.stringify(feature(topology, topology.objects.countries), rounded);
}

/** Of what is in the bundles. */
function licenses() {
  const files = [
    'lit-html/LICENSE',
    'maplibre-gl/LICENSE.txt',
    'world-atlas/LICENSE',
    'zod/LICENSE',
    'luxon/LICENSE.md',
    'lossless-json/LICENSE.md',
    'fastest-levenshtein/LICENSE.md',
    'fflate/LICENSE',
  ];
  const textOf = (path) => readFileSync(join(folder, path), 'utf8');
  const texts = files.map((file) => `${file.split('/')[0]}\n\n${textOf(`../../node_modules/${file}`)}`);
  // The package has no file with it.
  return [...texts, `pmtiles\n\n${textOf('LICENSE-pmtiles.txt')}`].join('\n\n');
}

export async function bundle() {
  await build({
    absWorkingDir: folder,
    // The import and the map are loaded when they are asked for. Its worker is a file, as the security policy of the page wants it.
    entryPoints: [
      'explorer.ts',
      'explorer.css',
      'import.ts',
      'map.ts',
      'map.css',
      'maplibre-gl/dist/maplibre-gl-worker.mjs',
    ],
    external: ['./import.js', './map.js'],
    outdir: 'dist',
    entryNames: '[name]',
    bundle: true,
    format: 'esm',
    target: 'es2022',
    minify: true,
    plugins: [schemaData],
    logLevel: 'warning',
  });
  writeFileSync(join(folder, 'dist/countries.json'), countries());
  writeFileSync(join(folder, 'dist/LICENSES.txt'), licenses());
}
