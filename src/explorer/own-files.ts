/** The styles and scripts in the folder `browser`, which the pages add to the libraries they show. Knows no page. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Asset, createAsset } from '../http/assets.ts';

export const readOwnFile = (name: string): Promise<string> => readFile(join(__dirname, 'browser', name), 'utf8');

export interface OwnAssets {
  readonly styles: Asset;
  readonly script: Asset;
  /** Imported by the script. */
  readonly sessionKey: Asset;
}

export async function loadOwnAssets(page: 'graphiql' | 'reference'): Promise<OwnAssets> {
  const sessionKey = createAsset('session-key', 'js', await readOwnFile('session-key.js'));
  const script = (await readOwnFile(`${page}.js`)).replace('session-key.js', sessionKey.fileName);
  return {
    styles: createAsset('page', 'css', await readOwnFile(`${page}.css`)),
    script: createAsset('page', 'js', script),
    sessionKey,
  };
}
