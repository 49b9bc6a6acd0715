/** Finds unfinished work of the same assets at the same time, for forms and the pages of work orders. */
import { movedDay } from './clock.ts';
import { isFinished, kindOf, nameFields } from './kinds.ts';
import { atMost, selectionOf } from './queries.ts';
import { type Data, yardgraph } from './service.ts';
import { isClash } from './work.ts';

/** A day more at both ends: dates are days of the viewer's clock, which the service does not know. */
function sameTime(kind: string, { assetId, startDate: start, endDate: end }: Data): object | undefined {
  const isAllocation = kind === 'Allocation';
  if (!assetId || !start || !(isAllocation || end)) return undefined;
  const startDate = end ? { lt: movedDay(end, 2) } : { isNull: false };
  const ends = [{ gte: movedDay(start, -1) }, ...(isAllocation ? [{ isNull: true }] : [])];
  return { assetId: { eq: assetId }, startDate, or: ends.map((endDate) => ({ endDate })) };
}

/** The records of other IDs that clash with one of these, the first start first. */
export async function findClashes(kind: string, records: readonly Data[]): Promise<readonly Data[]> {
  if (!['WorkOrder', 'Allocation'].includes(kind)) return [];
  const unfinished = records.slice(0, 100).filter(({ status }) => !isFinished(status ?? {}));
  const or = unfinished.flatMap((record) => sameTime(kind, record) ?? []);
  if (or.length === 0) return [];
  const where = { not: { id: { in: records.map(({ id }) => id ?? '') } }, or };
  const shown = selectionOf(kind, [...nameFields(kind), 'asset', 'project', 'status', 'startDate', 'endDate']);
  const page = `first: ${atMost(1_000)}, where: $where, orderBy: [{ startDate: DESC }]`;
  const document = `query ($where: ${kind}Filter) { found: ${kindOf(kind).list}(${page}) { nodes { ${shown} } } }`;
  const { nodes } = (await yardgraph.graphql(document, { where })).found;
  const isMet = (node: Data) => unfinished.some((record) => isClash(kind, record, node));
  return nodes.filter(isMet).toReversed();
}
