/** What the explorer shows is in the address of the page, and nowhere else: a link leads others to the same view. */
import { columns, kindOf, kinds, operators, otherViews } from './kinds.ts';

/** A condition on a field: `statusId`, `eq`, `status-7`. */
export interface Filter {
  readonly field: string;
  readonly operator: string;
  readonly value: string;
}

export interface View {
  /** A record kind, or a type of what is kept elsewhere. Unset for the overview. */
  readonly kind?: string | undefined;
  /** Of one record. */
  readonly id?: string | undefined;
  /** `map` or `tree`, in place of the table. */
  readonly view?: string | undefined;
  /** The IDs of what is open in a tree, separated by commas. */
  readonly open?: string | undefined;
  readonly search?: string | undefined;
  readonly filters?: readonly Filter[] | undefined;
  /** `name`, or `-name` for the other direction. */
  readonly sort?: string | undefined;
  /** The cursors of pages. */
  readonly after?: string | undefined;
  readonly before?: string | undefined;
}

/** Reads the view of an address. What does not exist is left out. */
export function viewOf(search: string): View {
  const sent = new URLSearchParams(search);
  const text = (name: string) => sent.get(name) || undefined;
  const [kind = '', id, view, sort = ''] = ['kind', 'id', 'view', 'sort'].map(text);
  const isThere = id === undefined ? Object.hasOwn(columns, kind) : Object.hasOwn(kinds, kind);
  if (!isThere) return {};
  const { filters, order } = kindOf(kind);
  return {
    kind,
    id,
    view: view === otherViews[kind] ? view : undefined,
    open: text('open'),
    search: text('search'),
    filters: sent.getAll('filter').flatMap((filter) => {
      const [, field = '', operator = '', value = ''] = /^(\w+)\.(\w+):(.*)$/s.exec(filter) ?? [];
      return operators[filters[field] ?? '']?.includes(operator) ? [{ field, operator, value }] : [];
    }),
    sort: order.includes(sort.replace('-', '')) ? sort : undefined,
    after: text('after'),
    before: text('before'),
  };
}

/** Returns the address of a view, relative to the page. */
export function addressOf({ filters = [], ...view }: View): string {
  const entries = Object.entries(view).filter((entry): entry is [string, string] => !!entry[1]);
  const filter = filters.map(({ field, operator, value }) => ['filter', `${field}.${operator}:${value}`]);
  return `explore?${new URLSearchParams([...entries, ...filter])}`;
}

/** What shows a view. */
export function viewerOf({ kind, id, view }: View): 'overview' | 'table' | 'record' | 'map' | 'tree' {
  if (kind === undefined) return 'overview';
  if (id !== undefined) return 'record';
  return view === 'map' || view === 'tree' ? view : 'table';
}
