/** The pages that a reverse link leads to, for many parents. */
import type { ReverseLink } from '../../model/reverse-link.ts';
import { ancestorsOf } from './ancestors.ts';
import { columnName, partOf } from './columns.ts';
import { bytesSql, type Dialect, type PagesSelection } from './dialect.ts';
import { oldestFirst, type PagesQuery } from './record-query.ts';
import { type Source, selectRows } from './rows.ts';

export function pagesSelection(
  dialect: Dialect,
  workspaceId: number,
  link: ReverseLink,
  parentIds: readonly string[],
  query: PagesQuery,
): PagesSelection {
  const source = sourceOf(dialect, workspaceId, link);
  const { where, limit, withCount, fields } = query;
  const table = partOf(link.kind, fields);
  return {
    workspaceId,
    table,
    measured: `id, ${bytesSql(dialect, table)} as bytes`,
    parentIds,
    page:
      limit === undefined
        ? undefined
        : (columns) => selectRows(source, { orderBy: oldestFirst, ...query }).select(dialect.builder.raw(columns)),
    count: withCount ? selectRows(source, { where }).count({ count: '*' }) : undefined,
  };
}

function sourceOf(dialect: Dialect, workspaceId: number, link: ReverseLink): Source {
  const { builder } = dialect;
  const { kind, field, direction } = link;
  const { table } = kind;
  const reference = columnName(field);
  const source = { dialect, workspaceId, table: kind };
  if (direction === 'referring') return { ...source, restriction: builder.raw(`${table}.${reference} = parent.value`) };
  const first = builder.raw(
    `(select child.${reference} from ${table} as child where child.workspace_id = ? and child.id = parent.value)`,
    [workspaceId],
  );
  return { ...source, from: ancestorsOf(source, link, first) };
}
