/** The requests of an import: reads in pages, and writes without what the service refuses. */
import { GraphqlError, ServiceError, type Yardgraph } from '../../client/index.ts';
import type { Issue } from '../model/issues.ts';
import { listField } from '../model/labels.ts';
import type { RecordKind, Values } from '../model/record-kind.ts';
import { kindOfId } from '../records/index.ts';
import { externalKey, type Fate } from './row.ts';

/** True if the service rejects what was sent, or how much that is, and has done nothing. */
export const isRejected = (error: unknown): error is GraphqlError =>
  error instanceof GraphqlError &&
  !error.mayBeStored &&
  error.errors.every(({ extensions }) => extensions?.code === 'BAD_USER_INPUT');

/** What a condition of a filter may have, and a page unless the settings of the service say less. */
const maxListed = 1_000;

/** Reads a page with as many items as the service allows: the query leaves their number to the variable `$first`. */
export async function readPage<T>(yardgraph: Yardgraph, query: string, variables: object): Promise<T> {
  const page = await yardgraph.graphql(query, { ...variables, first: maxListed }).catch((error) => {
    if (!isRejected(error)) throw error;
    return yardgraph.graphql(query, { ...variables });
  });
  return page as T;
}

interface Page {
  readonly nodes: readonly Values[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor?: string };
}

/** Reads the records that have one of these texts in a field, with what `fields` say of them. */
export async function readRecords(
  yardgraph: Yardgraph,
  kind: RecordKind,
  by: string,
  texts: readonly string[],
  fields: readonly string[],
): Promise<Values[]> {
  const list = listField(kind);
  const selected = ['id', ...fields].map((field) => (externalKey(field) === undefined ? field : 'externalIds'));
  const query = `query ($where: ${kind.name}Filter, $first: Int, $after: String) {
    ${list}(first: $first, after: $after, where: $where) {
      nodes { ${[...new Set(selected)].join(' ')} } pageInfo { hasNextPage endCursor }
    }
  }`;
  // Other IDs are of other systems, and of no record.
  const known = [...new Set(texts)].filter((text) => by !== 'id' || kindOfId(text) === kind);
  const records: Values[] = [];
  for (let start = 0; start < known.length; start += maxListed) {
    const where = { [by]: { in: known.slice(start, start + maxListed) } };
    for (let after: string | undefined, isLast = false; !isLast; ) {
      const { [list]: page } = await readPage<Record<string, Page>>(yardgraph, query, { where, after });
      records.push(...(page?.nodes ?? []));
      after = page?.pageInfo.endCursor;
      isLast = !page?.pageInfo.hasNextPage;
    }
  }
  return records;
}

/** The methods of a kind. The casts are safe: the service checks the records, and the keys are those of the kind. */
export const methodsOf = (yardgraph: Yardgraph, kind: RecordKind) =>
  yardgraph[listField(kind) as 'assets'] as unknown as {
    upsert(by: object, records: readonly object[], options: object): Promise<Upserted[]>;
    update(records: readonly object[], options: object): Promise<Values[]>;
    delete(ids: readonly string[], options: object): Promise<Values[]>;
  };

interface Upserted extends Pick<Fate, 'outcome' | 'issues'> {
  readonly record: Values | null;
}

/** Sends items in as few parts as the service accepts: one that it rejects as a whole, for its size or for an item, is sent in halves. */
export async function halving<I, R>(
  items: readonly I[],
  send: (items: readonly I[]) => Promise<readonly R[]>,
  reject: (item: I, message: string) => R,
): Promise<R[]> {
  try {
    return [...(await send(items))];
  } catch (error) {
    const [first] = items;
    if (!isRejected(error) || first === undefined) throw error;
    if (items.length === 1) return [reject(first, error.message)];
    const half = Math.ceil(items.length / 2);
    const results = await halving(items.slice(0, half), send, reject);
    return [...results, ...(await halving(items.slice(half), send, reject))];
  }
}

/** Writes a batch that is stored as a whole or not at all: without its invalid items, each of which is rejected. */
export async function validOnly<I, R>(
  items: readonly I[],
  send: (items: readonly I[]) => Promise<readonly R[]>,
  reject: (item: I, issues: readonly Issue[], among: readonly I[]) => R,
): Promise<R[]> {
  if (items.length === 0) return [];
  try {
    return [...(await send(items))];
  } catch (error) {
    const issues = new Map<number, Issue[]>();
    for (const { index, field, message } of error instanceof ServiceError ? error.items : []) {
      const issue = { path: field === undefined ? [] : [field], message };
      if (index !== undefined) issues.set(index, [...(issues.get(index) ?? []), issue]);
    }
    if (issues.size === 0) throw error;
    const others = items.filter((_, index) => !issues.has(index));
    const results = (await validOnly(others, send, reject)).values();
    return items.map((item, index) => {
      const ofItem = issues.get(index);
      return ofItem ? reject(item, ofItem, items) : (results.next().value as R);
    });
  }
}

/** Writes items in parts, but for those that the service refuses: returns these, and why. */
export async function writeAll<I>(
  { partSize, signal }: { readonly partSize: number; readonly signal: AbortSignal },
  items: readonly I[],
  send: (items: readonly I[]) => Promise<readonly Values[]>,
): Promise<{ readonly item: I; readonly message: string }[]> {
  const refused: { item: I; message: string }[] = [];
  const refuse = (item: I, message = ''): Values => {
    refused.push({ item, message });
    return {};
  };
  for (let start = 0; start < items.length; start += partSize) {
    signal.throwIfAborted();
    const part = items.slice(start, start + partSize);
    await halving(part, (some) => validOnly(some, send, (item, [issue]) => refuse(item, issue?.message)), refuse);
  }
  return refused;
}
