/** The address of a page is its whole state: it leads others to the same view. */
import { columns, kindOf, kinds, operators, otherViews } from './kinds.ts';

/** A condition on a field: `statusId`, `eq`, `status-7`. */
export interface Filter {
  readonly field: string;
  readonly operator: string;
  readonly value: string;
}

const texts = [
  'kind',
  'id',
  'view',
  'open',
  'finished',
  'search',
  'sort',
  'columns',
  'after',
  'before',
  'page',
] as const;

/**
 * Without a kind, a `search` of all kinds, the view `imports`, perhaps with the ID of one, or `deleted`, or the
 * overview, with the IDs of the `finished` statuses. With an ID, a record, or an entity of another system. Otherwise a
 * table, with a `sort`, its `columns`, such as `name,status`, the number of its `page`, and the cursor that the page is
 * `after` or `before`; or the `view` that is `map` or `tree`, with the IDs of the records that are `open` in the tree,
 * `deleted`, or `print` for a table of as many rows as there can be. The `view` of a form is `new`, or `edit` with an
 * ID. An unknown kind or view leads to `missing`.
 */
export type View = { readonly [name in (typeof texts)[number]]?: string | undefined } & {
  readonly filters?: readonly Filter[];
};

/** The query of a table names each of them, and may have 50 aliases and 2,000 tokens. */
export const maxFinished = 40;

/**
 * The table of a kind as people open it: unfinished work, or work orders from today on without a finished status. All
 * records, the latest first, until the finished statuses are known.
 */
export function homeOf(kind: string, finished?: readonly string[]): View {
  const unfinished = finished?.slice(0, maxFinished).map((id) => `statusId.ne:${id}`) ?? [];
  const conditions = kind === 'WorkOrder' && finished?.length === 0 ? ['startDate.gte:today'] : unfinished;
  const filters = kind === 'Asset' ? [] : filtersOf(kind, conditions);
  const sort = ['startDate', 'uid', 'number', 'name'].find((field) => kindOf(kind).order.includes(field));
  return { kind, filters, sort: finished ? sort : sort?.replace(/^startDate/, '-startDate') };
}

/** Reads the view of an address. Unknown orders and filters are left out. */
export function viewOf(search: string): View {
  const sent = new URLSearchParams(search);
  const view: View = Object.fromEntries(texts.map((name) => [name, sent.get(name) || undefined]));
  const { kind, id, sort = '', finished, after } = view;
  const isView = (names: readonly string[]) => view.view === undefined || names.includes(view.view);
  if (kind === undefined && isView(['imports', 'deleted']))
    return view.view ? { view: view.view, id, after } : { finished, search: view.search };
  if (kind === undefined) return { view: 'missing' };
  // Labels have a form, and no table.
  const isKnown = Object.hasOwn(id === undefined && view.view !== 'new' ? columns : kinds, kind);
  if (!isKnown || (id === undefined && !kindOf(kind).list)) return { view: 'missing' };
  const views = id === undefined ? ['new', 'print', 'deleted', ...(otherViews[kind] ?? [])] : ['edit'];
  if (!isView(views)) return { view: 'missing' };
  return {
    ...view,
    sort: kindOf(kind).order.includes(sort.replace('-', '')) ? sort : undefined,
    filters: filtersOf(kind, sent.getAll('filter')),
  };
}

export function addressOf({ filters = [], ...view }: View): string {
  const entries = Object.entries(view).filter((entry): entry is [string, string] => !!entry[1]);
  return `explore?${new URLSearchParams([...entries, ...filters.map((filter) => ['filter', textOf(filter)])])}`;
}

/** Reads filters as an address has them, such as `statusId.eq:status-7`. */
export const filtersOf = (kind: string, texts: readonly string[]): readonly Filter[] =>
  texts.flatMap((text) => {
    const [, field = '', operator = '', value = ''] = /^(\w+)\.(\w+):(.*)$/s.exec(text) ?? [];
    return operators[kindOf(kind).filters[field] ?? '']?.includes(operator) ? { field, operator, value } : [];
  });

export const textOf = ({ field, operator, value }: Filter): string => `${field}.${operator}:${value}`;
