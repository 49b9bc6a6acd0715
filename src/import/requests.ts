/** The requests of an import: its mutation, reads in pages, and batches without what the service rejects. */
import { GraphqlError, ServiceError, type Yardgraph } from '../../client/index.ts';
import { constantCase, listField } from '../model/labels.ts';
import type { RecordKind, Values } from '../model/record-kind.ts';
import { externalKey, type Outcome, type RowIssue } from './row.ts';

/** True if the service rejects what was sent, or how much that is, and has done nothing. */
export function isRejected(error: unknown): error is ServiceError {
  if (!(error instanceof ServiceError) || error.mayBeStored) return false;
  if (!(error instanceof GraphqlError)) return error.status === 413;
  return error.errors.every(({ extensions }) => extensions?.code === 'BAD_USER_INPUT');
}

export interface Item {
  readonly kind: RecordKind;
  readonly record: Values;
  /** True for an item that is created if no others of its kind are found by a key. */
  readonly isCreated?: boolean;
}

/** What became of an item, or would become of it. */
export interface ItemResult {
  readonly outcome: Outcome;
  readonly record: Values | null;
  readonly before?: Values | null;
  readonly issues: readonly RowIssue[];
}

interface ImportOptions {
  readonly upsertKeys: ReadonlyMap<RecordKind, string>;
  /** By kind, the fields to return as they are and as they would be: with them, it is a dry run. */
  readonly compared?: ReadonlyMap<RecordKind, ReadonlySet<string>> | undefined;
  readonly idempotencyKey?: string | undefined;
}

/** Sends items of any kinds as one mutation, which leaves out those that are not valid. Returns the results in their order. */
export async function importItems(
  yardgraph: Yardgraph,
  items: readonly Item[],
  { upsertKeys, compared, idempotencyKey }: ImportOptions,
): Promise<ItemResult[]> {
  const kinds = [...new Set(items.map(({ kind }) => kind))];
  const input: Record<string, Values[]> = Object.fromEntries(kinds.map((kind) => [listField(kind), []]));
  for (const { kind, record } of items) input[listField(kind)]?.push(record);
  const by = kinds.flatMap((kind) => {
    const key = items.every((item) => item.kind !== kind || item.isCreated) ? undefined : upsertKeys.get(kind);
    return key === undefined ? [] : [[listField(kind), keyOf(key)] as const];
  });
  const selections = kinds.map((kind) => {
    const fields = [...(compared?.get(kind) ?? [])].join(' ');
    const before = fields && upsertKeys.has(kind) ? `before { ${fields} }` : '';
    return `${listField(kind)} { outcome record { id ${fields} } ${before} issues { path message code other } }`;
  });
  const document = `mutation ($input: ImportInput!, $by: ImportKeys, $dryRun: Boolean!) {
    importRecords(input: $input, by: $by, onInvalid: SKIP, dryRun: $dryRun) { results { ${selections.join(' ')} } }
  }`;
  const variables = { input, by: Object.fromEntries(by), dryRun: compared !== undefined };
  const data = items.length > 0 ? await yardgraph.graphql(document, variables, { idempotencyKey }) : undefined;
  const results: Record<string, ItemResult[]> = data?.importRecords.results ?? {};
  const next = new Map(kinds.map((kind) => [kind, (results[listField(kind)] ?? []).values()]));
  return items.map(({ kind }) => next.get(kind)?.next().value as ItemResult);
}

const keyOf = (by: string): object => {
  const externalId = externalKey(by);
  return externalId === undefined ? { field: constantCase(by) } : { externalId };
};

/** What a condition of a filter may have, and a page unless the settings of the service say less. */
const maxListed = 1_000;

interface Page {
  readonly nodes: readonly Values[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor?: string };
}

/** Returns which of these texts records have in a field. */
export async function storedTexts(
  yardgraph: Yardgraph,
  kind: RecordKind,
  field: 'id' | 'name',
  texts: readonly string[],
): Promise<ReadonlySet<string>> {
  const list = listField(kind);
  const query = `query ($where: ${kind.name}Filter, $first: Int, $after: String) {
    ${list}(first: $first, after: $after, where: $where) { nodes { ${field} } pageInfo { hasNextPage endCursor } }
  }`;
  const read = async (variables: object): Promise<Page> => {
    const data = await yardgraph.graphql(query, { ...variables, first: maxListed }).catch((error) => {
      // The service may have smaller pages.
      if (!isRejected(error)) throw error;
      return yardgraph.graphql(query, { ...variables });
    });
    return data[list];
  };
  const found = new Set<string>();
  for (let start = 0; start < texts.length; start += maxListed) {
    const where = { [field]: { in: texts.slice(start, start + maxListed) } };
    for (let after: string | undefined, isLast = false; !isLast; ) {
      const { nodes, pageInfo } = await read({ where, after });
      for (const { [field]: text } of nodes) found.add(String(text));
      after = pageInfo.endCursor;
      isLast = !pageInfo.hasNextPage;
    }
  }
  return found;
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
  // The service checks which IDs are of the kind.
  const records = yardgraph[listField(kind) as 'assets'];
  for (let left = ids; left.length > 0; ) {
    try {
      await records.delete(left, { returning: 'outcome' });
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
