/** The styles and scripts in the folder `browser`, which the pages add to the libraries they show. Knows no page. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Asset, createAsset } from '../http/assets.ts';

export const readOwnFile = (name: string): Promise<string> => readFile(join(__dirname, 'browser', name), 'utf8');

export interface OwnAssets {
  readonly styles: Asset;
  readonly script: Asset;
  /** Imported by the script. */
  readonly modules: readonly Asset[];
}

export const allOf = ({ styles, script, modules }: OwnAssets): Asset[] => [styles, script, ...modules];

export async function loadOwnAssets(page: 'graphiql' | 'reference'): Promise<OwnAssets> {
  const sessionKey = createAsset('session-key', 'js', await readOwnFile('session-key.js'));
  const keyBar = createAsset('key-bar', 'js', withNames(await readOwnFile('key-bar.js'), [sessionKey]));
  const modules = [sessionKey, keyBar];
  return {
    styles: createAsset('page', 'css', (await readOwnFile('key-bar.css')) + (await readOwnFile(`${page}.css`))),
    script: createAsset('page', 'js', withNames(await readOwnFile(`${page}.js`), modules)),
    modules,
  };
}

/** Imports these modules by the names under which they are served, which change with their content. */
const withNames = (script: string, modules: readonly Asset[]): string =>
  modules.reduce(
    (text, { fileName }) => text.replace(`./${fileName.replace(/-[\w-]{16}\.js$/, '.js')}`, `./${fileName}`),
    script,
  );
