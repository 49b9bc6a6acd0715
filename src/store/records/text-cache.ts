import { LRUCache } from 'lru-cache';
import { cacheLookups } from '../../metrics.ts';
import { isTimeout } from '../connections/database-error.ts';
import type { WorkspaceId } from '../query/tables.ts';

/** In bytes. A character takes two if the text has any beyond Latin-1. */
const maxSize = 32 * 1_048_576;

const maxNames = 10_000;

interface TextSource {
  readonly workspace: WorkspaceId;
  version(): Promise<string>;
}

/** A whole response is a Buffer: encoding it takes a third of the time for 500 records. Undefined is cached, too. */
export type DerivedText = string | Buffer | undefined;

/** The text may be newer than the version. */
type CachedText = { readonly version: string; readonly text: DerivedText };

const byteSize = ({ text = '' }: CachedText): number => 1 + (typeof text === 'string' ? 2 * text.length : text.length);

export function createTextCache() {
  const cache = new LRUCache<string, CachedText>({ maxSize, sizeCalculation: byteSize });
  const requested = new LRUCache<string, true>({ max: maxNames });
  const inProgress = new Map<string, Promise<DerivedText>>();
  const versionReads = new Map<number, Promise<string>>();
  const nextVersionReads = new Map<number, Promise<string>>();

  /** Joins the next read of the version: a running one may miss a commit from before this call. */
  function readVersion(source: TextSource): Promise<string> {
    const { number } = source.workspace;
    const begin = () => {
      nextVersionReads.delete(number);
      const version = source.version().finally(() => versionReads.delete(number));
      versionReads.set(number, version);
      return version;
    };
    const next = nextVersionReads.get(number) ?? versionReads.get(number)?.then(begin, begin);
    if (!next) return begin();
    nextVersionReads.set(number, next);
    return next;
  }

  async function derive(
    source: TextSource,
    name: string,
    compute: () => Promise<DerivedText>,
    knownVersion?: string,
  ): Promise<DerivedText> {
    // Texts contain the name of the workspace, which may change.
    const key = `${source.workspace.number} ${source.workspace.name} ${name}`;
    // A first request is not cached, because the version takes a statement.
    if (!requested.has(key) && knownVersion === undefined) {
      requested.set(key, true);
      cacheLookups.miss += 1;
      return compute();
    }
    // Read before the records: a write in between makes the text out of date.
    const version = knownVersion ?? (await readVersion(source));
    const current = cache.get(key);
    const keyOfVersion = `${key} ${version}`;
    const isCurrent = current?.version === version;
    cacheLookups[isCurrent || inProgress.has(keyOfVersion) ? 'hit' : 'miss'] += 1;
    if (isCurrent) return current.text;
    // After a failure, each request computes its own text: the client of the first may have left. Not after a timeout:
    // eight equal requests held both readers of a workspace for 8 seconds instead of 1.
    const shared = inProgress.get(keyOfVersion)?.catch((error) => {
      if (isTimeout(error)) throw error;
      return compute();
    });
    if (shared) return shared;
    const computed = compute().finally(() => inProgress.delete(keyOfVersion));
    inProgress.set(keyOfVersion, computed);
    const text = await computed;
    // A slower text may be older than the cached one.
    if (cache.get(key) === current) cache.set(key, { version, text });
    return text;
  }

  return { readVersion, derive };
}
