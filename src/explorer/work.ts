/** When work is overdue, comes next, or overlaps other work of the same asset. */
import { clockTexts } from './clock.ts';
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

/** Whether two records have the same asset at the same time. A date is the whole day of the clock. */
export function isOverlap(kind: string, one: Data, other: Data): boolean {
  if (one.id === other.id || !one.assetId || one.assetId !== other.assetId) return false;
  const clockOf = (value: string | null, midnight: string) => {
    const [day, time] = clockTexts(value);
    return `${day} ${time || midnight}`;
  };
  const never = kind === 'Allocation' ? '9999' : '';
  const endOf = ({ endDate }: Data) => (endDate ? clockOf(endDate, '24') : never);
  const begins = (record: Data, before: Data) => record.startDate && clockOf(record.startDate, '') < endOf(before);
  return begins(one, other) && begins(other, one);
}

export const isClash = (kind: string, one: Data, other: Data): boolean =>
  isOverlap(kind, one, other) && ![one, other].some(({ status }) => isFinished(status ?? {}));
