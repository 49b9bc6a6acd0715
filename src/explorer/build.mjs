/** Bundles the explorer into the folder `dist` beside it, with the kinds of schema.graphql. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { build } from 'esbuild';
import { buildSchema, getNamedType, isNonNullType, isObjectType, isScalarType } from 'graphql';
import { feature } from 'topojson-client';

const folder = import.meta.dirname;

/** The kinds of kinds.ts: types with a query by ID, and with a list or reverse links. */
export function readKinds() {
  const schema = buildSchema(readFileSync(join(folder, '../../schema.graphql'), 'utf8'));
  const typeOf = ({ type }) => getNamedType(type);
  const fieldsOf = (type) => Object.values(schema.getType(type)?.getFields?.() ?? {});
  const typesByName = (fields, nameOf = (field) => typeOf(field).name) =>
    Object.fromEntries(fields.map((field) => [field.name, nameOf(field)]));
  // Imports are listed, but are no records.
  const isCounted = (list) => /Connection$/.test(list) && fieldsOf(list).some(({ name }) => name === 'totalCount');
  const listsOf = (type) => {
    const types = Object.entries(typesByName(fieldsOf(type)));
    return Object.fromEntries(types.flatMap(([name, list]) => (isCounted(list) ? [[name, list.slice(0, -10)]] : [])));
  };
  const lists = Object.fromEntries(Object.entries(listsOf('Query')).map(([list, kind]) => [kind, list]));
  const queries = fieldsOf('Query').filter((field) => {
    const { name } = typeOf(field);
    const isOfOne = isObjectType(typeOf(field)) && field.args.some((argument) => argument.name === 'id');
    return isOfOne && (schema.getType(`${name}Filter`) || Object.keys(listsOf(name)).length > 0);
  });
  const names = queries.map((query) => typeOf(query).name);
  // A link is read with its ID.
  const isShown = (field, _, fields) =>
    names.includes(typeOf(field).name) ||
    (isScalarType(typeOf(field)) && !fields.some(({ name }) => `${name}Id` === field.name));
  const filterTypes = ['TextFilter', 'IdFilter', 'DateTimeFilter', 'NumberFilter', 'BooleanFilter'];
  const kindOf = (query) => {
    const { name } = typeOf(query);
    const filters = fieldsOf(`${name}Filter`);
    // Without a filter, a field is computed from others.
    const isStored = (field) =>
      filters.length === 0 || filters.some((filter) => [field.name, `${field.name}Id`].includes(filter.name));
    const inputs = fieldsOf(`${name}Patch`).filter(
      (field) => isScalarType(typeOf(field)) && !['id', 'ifUpdatedAt', 'mergeExternalIds'].includes(field.name),
    );
    // An ID has the type to which it leads.
    const linkOf = (input) => fieldsOf(name).find((field) => `${field.name}Id` === input.name);
    const typeOfInput = (input) => typeOf(linkOf(input) ?? input).name;
    // A link to a tree can also be filtered by `within`.
    const isOfTree = ({ name: own }) =>
      filters.some(
        (link) => `${link.name}Id` === own && fieldsOf(typeOf(link).name).some((field) => field.name === 'within'),
      );
    const typeOfFilter = (filter) => (isOfTree(filter) ? 'TreeFilter' : typeOf(filter).name);
    const isRequired = (field) => isNonNullType(field.type) && inputs.some((input) => input.name === field.name);
    const kind = {
      one: query.name,
      list: lists[name] ?? '',
      fields: typesByName(fieldsOf(name).filter(isShown).filter(isStored)),
      filters: {
        ...typesByName(
          filters.filter((field) => filterTypes.includes(typeOf(field).name)),
          typeOfFilter,
        ),
        // Without an allocation in a period.
        ...(name === 'Asset' && { free: 'PeriodFilter' }),
      },
      // Orders by distance need a point.
      order: fieldsOf(`${name}OrderBy`).flatMap((field) => (typeOf(field).name === 'PointInput' ? [] : [field.name])),
      lists: listsOf(name),
      inputs: typesByName(inputs, typeOfInput),
      required: fieldsOf(name).flatMap((field) => (isRequired(field) ? field.name : [])),
    };
    return [name, kind];
  };
  const operatorsOf = (type) => fieldsOf(type).map(({ name }) => name);
  const isOperator = (name) => !['in', 'ignoreCase'].includes(name) && !/alike/i.test(name);
  return {
    kinds: Object.fromEntries(queries.map(kindOf)),
    operators: {
      ...Object.fromEntries(filterTypes.map((type) => [type, operatorsOf(type).filter(isOperator)])),
      TreeFilter: ['within', ...operatorsOf('IdFilter').filter(isOperator)],
      PeriodFilter: ['during'],
    },
  };
}

/**
 * An outline goes on beyond 180 degrees, as the map draws it, in place of a line across the world. That of Antarctica
 * is closed around the pole.
 */
function unwrapped(ring) {
  const points = [];
  for (const [longitude, latitude] of ring) {
    const before = points.at(-1)?.[0] ?? longitude;
    points.push([longitude - 360 * Math.round((longitude - before) / 360), latitude]);
  }
  const [[first], [last]] = [points[0], points.at(-1)];
  if (Math.abs(last - first) > 180) points.push([last, -90], [(first + last) / 2, -90], [first, -90], points[0]);
  return points;
}

/** The outlines of the countries, for the map: two decimals are about a kilometre. */
export function countries() {
  const topology = createRequire(import.meta.url)('world-atlas/countries-50m.json');
  const { features, ...collection } = feature(topology, topology.objects.countries);
  const outlined = features.map(({ geometry, ...country }) => {
    const { type, coordinates } = geometry;
    const polygons = (type === 'Polygon' ? [coordinates] : coordinates).map((rings) => rings.map(unwrapped));
    return { ...country, geometry: { type: 'MultiPolygon', coordinates: polygons } };
  });
  const rounded = (_, value) => (typeof value === 'number' ? Math.round(value * 100) / 100 : value);
  return JSON.stringify({ ...collection, features: outlined }, rounded);
}

/** The licenses of the bundled packages, and of the outlines. */
function licenses(paths) {
  const modules = join(folder, '../../node_modules');
  const bundled = paths.flatMap((path) => /node_modules\/((?:@\w+\/)?[\w-]+)/.exec(path)?.[1] ?? []);
  const texts = [...new Set([...bundled, 'world-atlas'])].flatMap((name) => {
    const file = readdirSync(join(modules, name)).find((entry) => /^license/i.test(entry));
    return file ? `${name}\n\n${readFileSync(join(modules, name, file), 'utf8')}` : [];
  });
  // The packages have no file with it.
  const protomaps = readFileSync(join(folder, 'LICENSE-protomaps.txt'), 'utf8');
  return [...texts, `pmtiles, basemaps\n\n${protomaps}`].join('\n\n');
}

export async function bundle() {
  const { metafile } = await build({
    metafile: true,
    absWorkingDir: folder,
    // Loaded when they are opened: the import and the map, whose worker must be a file for the security policy.
    entryPoints: [
      ...['explorer.ts', 'explorer.css', 'import.ts', 'map.ts', 'map.css'],
      'maplibre-gl/dist/maplibre-gl-worker.mjs',
    ],
    external: ['./import.js', './map.js'],
    outdir: 'dist',
    entryNames: '[name]',
    bundle: true,
    format: 'esm',
    target: 'es2022',
    minify: true,
    define: { SCHEMA: JSON.stringify(readKinds()) },
    logLevel: 'warning',
  });
  writeFileSync(join(folder, 'dist/countries.json'), countries());
  writeFileSync(join(folder, 'dist/LICENSES.txt'), licenses(Object.keys(metafile.inputs)));
}
