/** The requests of an import: reads in pages, and batches without what the service refuses. */
import { GraphqlError, ServiceError, type Yardgraph } from '../../client/index.ts';
import { listField } from '../model/labels.ts';
import type { RecordKind, Values } from '../model/record-kind.ts';
import type { Fate } from './row.ts';

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

/** Returns the IDs of the records that have these texts in a field, by the text. */
export async function storedWith(
  yardgraph: Yardgraph,
  kind: RecordKind,
  field: string,
  texts: readonly string[],
): Promise<Map<string, string[]>> {
  const list = listField(kind);
  const query = `query ($where: ${kind.name}Filter, $first: Int, $after: String) {
    ${list}(first: $first, after: $after, where: $where) { nodes { id ${field} } pageInfo { hasNextPage endCursor } }
  }`;
  const found = new Map<string, string[]>();
  for (let start = 0; start < texts.length; start += maxListed) {
    const where = { [field]: { in: texts.slice(start, start + maxListed) } };
    for (let after: string | undefined, isLast = false; !isLast; ) {
      const { [list]: page } = await readPage<Record<string, Page>>(yardgraph, query, { where, after });
      for (const { id, [field]: text } of page?.nodes ?? []) {
        const ids = found.get(String(text)) ?? [];
        if (ids.push(String(id)) === 1) found.set(String(text), ids);
      }
      after = page?.pageInfo.endCursor;
      isLast = !page?.pageInfo.hasNextPage;
    }
  }
  return found;
}

/** The methods of a kind. The casts are safe: the service checks the records, and the keys are those of the kind. */
export const methodsOf = (yardgraph: Yardgraph, kind: RecordKind) =>
  yardgraph[listField(kind) as 'assets'] as unknown as {
    upsert(by: object, records: readonly object[], options: object): Promise<Upserted[]>;
    delete(ids: readonly string[], options: object): Promise<Values[]>;
  };

interface Upserted extends Pick<Fate, 'outcome' | 'issues'> {
  readonly record: Values | null;
  readonly before?: Values | null;
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

/** Deletes records, but those that others refer to: returns these, and why. */
export async function deleteUnreferenced(yardgraph: Yardgraph, kind: RecordKind, ids: readonly string[]) {
  const refused: { readonly id: string; readonly message: string }[] = [];
  for (let left = ids; left.length > 0; ) {
    try {
      await methodsOf(yardgraph, kind).delete(left, { returning: 'outcome' });
      break;
    } catch (error) {
      const { items = [] } = error instanceof ServiceError ? error : {};
      const messages = new Map(items.map(({ index = -1, message }) => [left[index], message]));
      left = left.filter((id) => !messages.has(id));
      messages.delete(undefined);
      if (messages.size === 0) throw error;
      // Without what the message advises to callers of the interface.
      for (const [id = '', message] of messages) refused.push({ id, message: message.split('; delete ', 1)[0] ?? '' });
    }
  }
  return refused;
}
