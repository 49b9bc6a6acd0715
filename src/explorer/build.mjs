/** Bundles the explorer into the folder `dist` beside it, with what it must know of schema.graphql. */
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { build } from 'esbuild';
import { buildSchema, getNamedType, isObjectType, isScalarType } from 'graphql';
import { feature } from 'topojson-client';

const folder = import.meta.dirname;

/** What kinds.ts describes. */
export function readKinds() {
  const schema = buildSchema(readFileSync(join(folder, '../../schema.graphql'), 'utf8'));
  const typeOf = ({ type }) => getNamedType(type);
  const fieldsOf = (type) => Object.values(type?.getFields?.() ?? {});
  const isRecord = (type) => isObjectType(type) && type.getInterfaces().some(({ name }) => name === 'Node');
  const kindListedBy = (field) => /^(\w+)Connection$/.exec(typeOf(field).name)?.[1];
  const lists = (type) => fieldsOf(type).filter(kindListedBy);
  const query = schema.getQueryType();
  // Types of what is kept in other systems have lists of what refers to it, and no list of their own.
  const foreign = fieldsOf(query).filter(
    (field) => !kindListedBy(field) && !isRecord(typeOf(field)) && lists(typeOf(field)).length > 0,
  );
  const foreignTypes = foreign.map((field) => typeOf(field));
  const filterTypes = ['Text', 'Id', 'DateTime', 'Number', 'Boolean'].map((name) => `${name}Filter`);
  const namesWithTypes = (fields) => Object.fromEntries(fields.map((field) => [field.name, typeOf(field).name]));
  const isShown = (field, _, fields) => {
    const target = typeOf(field);
    if (isRecord(target) || foreignTypes.includes(target)) return field.name !== 'workspace';
    // The ID of a link is read with it.
    return isScalarType(target) && !fields.some(({ name }) => `${name}Id` === field.name);
  };
  const describe = (name, queries) => {
    const type = schema.getType(name);
    const filters = fieldsOf(schema.getType(`${name}Filter`));
    return {
      ...queries,
      fields: namesWithTypes(fieldsOf(type).filter(isShown)),
      filters: namesWithTypes(filters.filter((field) => filterTypes.includes(typeOf(field).name))),
      order: fieldsOf(schema.getType(`${name}OrderBy`)).map((field) => field.name),
      lists: Object.fromEntries(lists(type).map((field) => [field.name, kindListedBy(field)])),
    };
  };
  const records = lists(query).map((list) => {
    const kind = kindListedBy(list);
    return [kind, describe(kind, { one: kind.charAt(0).toLowerCase() + kind.slice(1), list: list.name })];
  });
  const others = foreign.map((one) => [typeOf(one).name, describe(typeOf(one).name, { one: one.name, list: '' })]);
  const operatorsOf = (name) =>
    fieldsOf(schema.getType(name)).flatMap((field) => (['in', 'ignoreCase'].includes(field.name) ? [] : field.name));
  return {
    kinds: Object.fromEntries([...records, ...others]),
    operators: Object.fromEntries(filterTypes.map((name) => [name, operatorsOf(name)])),
  };
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
  // The packages have no file with it.
  return [...texts, `pmtiles, basemaps\n\n${textOf('LICENSE-protomaps.txt')}`].join('\n\n');
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
