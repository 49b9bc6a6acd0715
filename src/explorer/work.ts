/** The time of work: overdue, next, or that of other work of the same asset. */
import { clockTexts, movedDay } from './clock.ts';
import { isFinished } from './kinds.ts';
import type { Data } from './service.ts';

/** True for unfinished work whose last day is over. */
export const isOverdue = ({ endDate, status }: { endDate?: string; status?: object }): boolean =>
  !!endDate && clockTexts(endDate)[0] < clockTexts(new Date().toISOString())[0] && !isFinished(status ?? {});

/** Work to come, or under way. Nobody knows whether past work without a status is finished. */
export const isOpen = ({ startDate, endDate, status }: Data): boolean =>
  !!startDate && !isFinished(status ?? {}) && (!!status || !isOverdue({ endDate: endDate ?? startDate }));

/** Open work first, the next at the top, then the latest. */
export function compareTurns(a: Data, b: Data): number {
  const [first, second] = isOpen(a) ? [a, b] : [b, a];
  return Number(isOpen(b)) - Number(isOpen(a)) || (first.startDate ?? '').localeCompare(second.startDate ?? '');
}

/**
 * The condition on others of the asset at the same time; undefined for a record that has no asset or no time. A date is
 * the whole day of the clock, and an allocation may never end.
 */
export function sameTime(kind: string, { assetId, startDate: start, endDate: end }: Data): object | undefined {
  const isAllocation = kind === 'Allocation';
  if (!assetId || !start || !(isAllocation || end)) return undefined;
  const [[day], [lastDay, time]] = [clockTexts(start), clockTexts(end)];
  const startDate = end ? { lt: time ? end : movedDay(lastDay, 1) } : { isNull: false };
  const ends = [{ gt: start }, { eq: day }, ...(isAllocation ? [{ isNull: true }] : [])];
  return { assetId: { eq: assetId }, startDate, or: ends.map((endDate) => ({ endDate })) };
}

/** Whether two unfinished records have the same asset at the same time. */
export function isClash(kind: string, one: Data, other: Data): boolean {
  if (one.id === other.id || !one.asset || one.asset.id !== other.asset?.id) return false;
  const clockOf = (value: string | null, midnight: string) => {
    const [day, time] = clockTexts(value);
    return `${day} ${time || midnight}`;
  };
  const never = kind === 'Allocation' ? '9999' : '';
  const endOf = ({ endDate }: Data) => (endDate ? clockOf(endDate, '24') : never);
  const begins = (record: Data, before: Data) => record.startDate && clockOf(record.startDate, '') < endOf(before);
  const isMet = begins(one, other) && begins(other, one);
  return isMet && ![one, other].some(({ status }) => isFinished(status ?? {}));
}
