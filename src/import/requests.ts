import { GraphqlError, ServiceError, type Yardgraph } from '../../client/index.ts';
import { constantCase, listField } from '../model/labels.ts';
import type { RecordKind, Values } from '../model/record-kind.ts';
import { externalSystem, type Outcome, type RowIssue } from './row.ts';

/** The service has rejected the request for its content or its size, and stored nothing. */
export function isRejectedRequest(error: unknown): error is ServiceError {
  if (!(error instanceof ServiceError) || error.mayBeStored) return false;
  if (!(error instanceof GraphqlError)) return error.status === 413;
  return error.errors.every(({ extensions }) => extensions?.code === 'BAD_USER_INPUT');
}

export interface ImportItem {
  readonly kind: RecordKind;
  readonly record: Values;
  /** Created without an upsert key, unless other items of its kind need one. */
  readonly isCreated?: boolean;
}

export interface ItemResult {
  readonly outcome: Outcome;
  readonly record: Values | null;
  readonly before?: Values | null;
  readonly issues: readonly RowIssue[];
}

interface ImportItemsOptions {
  readonly upsertKeys: ReadonlyMap<RecordKind, string>;
  /** By kind, the fields to return before and after. */
  readonly compared: ReadonlyMap<RecordKind, ReadonlySet<string>>;
  readonly dryRun?: boolean;
  readonly idempotencyKey?: string | undefined;
}

/** Skips invalid items. Results are in the order of the items. */
export async function importItems(
  yardgraph: Yardgraph,
  items: readonly ImportItem[],
  { upsertKeys, compared, dryRun = false, idempotencyKey }: ImportItemsOptions,
): Promise<ItemResult[]> {
  const kinds = [...new Set(items.map(({ kind }) => kind))];
  const input: Record<string, Values[]> = Object.fromEntries(kinds.map((kind) => [listField(kind), []]));
  for (const { kind, record } of items) input[listField(kind)]?.push(record);
  const by = kinds.flatMap((kind) => {
    const key = items.every((item) => item.kind !== kind || item.isCreated) ? undefined : upsertKeys.get(kind);
    return key === undefined ? [] : [[listField(kind), importKey(key)] as const];
  });
  const selections = kinds.map((kind) => {
    const fields = [...(compared.get(kind) ?? [])].join(' ');
    const before = fields && upsertKeys.has(kind) ? `before { ${fields} }` : '';
    return `${listField(kind)} { outcome record { id ${fields} } ${before} issues { path message code other } }`;
  });
  const document = `mutation ($input: ImportInput!, $by: ImportKeys, $dryRun: Boolean!) {
    importRecords(input: $input, by: $by, onInvalid: SKIP, dryRun: $dryRun) { results { ${selections.join(' ')} } }
  }`;
  const variables = { input, by: Object.fromEntries(by), dryRun };
  const data = items.length > 0 ? await yardgraph.graphql(document, variables, { idempotencyKey }) : undefined;
  const results: Record<string, ItemResult[]> = data?.importRecords.results ?? {};
  const next = new Map(kinds.map((kind) => [kind, (results[listField(kind)] ?? []).values()]));
  return items.map(({ kind }) => next.get(kind)?.next().value as ItemResult);
}

const importKey = (by: string): object => {
  const externalId = externalSystem(by);
  return externalId === undefined ? { field: constantCase(by) } : { externalId };
};

/** The most texts in a filter. With `or`, each is a filter, too. */
const maxListed = 500;

export function* slices(texts: readonly string[], size = maxListed): Generator<readonly string[]> {
  for (let start = 0; start < texts.length; start += size) yield texts.slice(start, start + size);
}

/** Reads the fields of all records that match, page by page. */
export async function* readNodes(
  yardgraph: Yardgraph,
  kind: RecordKind,
  fields: string,
  where: object,
): AsyncGenerator<Record<string, string>> {
  const list = listField(kind);
  const query = `query ($where: ${kind.name}Filter, $after: String) {
    ${list}(after: $after, where: $where) { nodes { ${fields} } pageInfo { hasNextPage endCursor } }
  }`;
  for (let page = { hasNextPage: true, endCursor: undefined }; page.hasNextPage; ) {
    const data = await yardgraph.graphql(query, { where, after: page.endCursor });
    yield* data[list].nodes;
    page = data[list].pageInfo;
  }
}

export async function findStoredNames(
  yardgraph: Yardgraph,
  kind: RecordKind,
  names: readonly string[],
  operator: 'in' | 'alike' = 'in',
): Promise<ReadonlySet<string>> {
  const stored = new Set<string>();
  for (const listed of slices(names)) {
    const where =
      operator === 'in' ? { name: { in: listed } } : { or: listed.map((name) => ({ name: { alike: name } })) };
    for await (const { name = '' } of readNodes(yardgraph, kind, 'name', where)) stored.add(name);
  }
  return stored;
}

export async function countStored(yardgraph: Yardgraph, kind: RecordKind, texts: readonly string[], by = 'id') {
  const list = listField(kind);
  const query = `query ($where: ${kind.name}Filter) { ${list}(where: $where) { totalCount } }`;
  let count = 0;
  for (const listed of slices(texts)) {
    count += (await yardgraph.graphql(query, { where: { [by]: { in: listed } } }))[list].totalCount;
  }
  return count;
}

/** Sends halves if the service rejects the request as a whole, for its size or one item. */
export async function sendInHalves<I, R>(
  items: readonly I[],
  send: (items: readonly I[]) => Promise<readonly R[]>,
  reject: (item: I, message: string) => R,
): Promise<R[]> {
  try {
    return [...(await send(items))];
  } catch (error) {
    const [first] = items;
    if (!isRejectedRequest(error) || first === undefined) throw error;
    if (items.length === 1) return [reject(first, error.message)];
    const half = Math.ceil(items.length / 2);
    const results = await sendInHalves(items.slice(0, half), send, reject);
    return [...results, ...(await sendInHalves(items.slice(half), send, reject))];
  }
}

/** Returns the records that others refer to, with the reasons. */
export async function deleteUnreferenced(yardgraph: Yardgraph, kind: RecordKind, ids: readonly string[]) {
  const referenced: { readonly id: string; readonly message: string }[] = [];
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
      // The rest of the message advises callers of the interface.
      for (const [id = '', message] of messages)
        referenced.push({ id, message: message.split('; delete ', 1)[0] ?? '' });
    }
  }
  return referenced;
}
