/** Finds work of the same assets at the same time, for forms and the pages of work orders. */
import { html, nothing } from 'lit-html';
import { movedDay } from './clock.ts';
import { isFinished, kindOf, nameFields, numberedName } from './kinds.ts';
import { atMost, selectionOf } from './queries.ts';
import { type Data, yardgraph } from './service.ts';
import { link, time, until } from './values.ts';
import { isClash, isOverlap } from './work.ts';

/** One day wider at both ends: the service does not know the viewer's time zone. */
function overlapFilter(kind: string, { assetId, startDate: start, endDate: end }: Data): object | undefined {
  const isAllocation = kind === 'Allocation';
  if (!assetId || !start || !(isAllocation || end)) return undefined;
  // The service has the years 1 to 9999.
  const startDate = end && end < '9999-12-30' ? { lt: movedDay(end, 2) } : { isNull: false };
  const endDate = start > '0001-01-03' ? { gte: movedDay(start, -1) } : { isNull: false };
  const ends = [{ endDate }, ...(isAllocation ? [{ endDate: { isNull: true } }] : [])];
  return { assetId: { eq: assetId }, startDate, or: ends };
}

/** The records of other IDs that clash with one of these. As in the service, allocations clash with finished ones. */
export async function findClashes(kind: string, records: readonly Data[]): Promise<readonly Data[]> {
  const isAllocation = kind === 'Allocation';
  if (!isAllocation && kind !== 'WorkOrder') return [];
  const booked = records.slice(0, 100).filter(({ status }) => isAllocation || !isFinished(status ?? {}));
  const or = booked.flatMap((record) => overlapFilter(kind, record) ?? []);
  if (or.length === 0) return [];
  const where = { not: { id: { in: records.map(({ id }) => id ?? '') } }, or };
  const shown = selectionOf(kind, [...nameFields(kind), 'asset', 'project', 'status', 'startDate', 'endDate']);
  const page = `first: ${atMost(1_000)}, where: $where, orderBy: [{ startDate: DESC }]`;
  const document = `query ($where: ${kind}Filter) { found: ${kindOf(kind).list}(${page}) { nodes { ${shown} } } }`;
  const { nodes } = (await yardgraph.graphql(document, { where })).found;
  const clashes = isAllocation ? isOverlap : isClash;
  return nodes.filter((node: Data) => booked.some((record) => clashes(kind, record, node))).toReversed();
}

export function clashNotice(clashes: readonly Data[]) {
  if (clashes.length === 0) return nothing;
  const other = (node: Data) =>
    html`<span>${link('WorkOrder', node, numberedName(node))} ${time(node.startDate)} ${until(node)}</span>`;
  const more = clashes.length > 3 ? `and ${clashes.length - 3} more` : nothing;
  return html`<p class="notice card pad row"><b class="error">Double-booked:</b> the asset also has ${clashes.slice(0, 3).map(other)} ${more}</p>`;
}
