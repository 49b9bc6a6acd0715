/** The time of work: overdue, next, or that of other work of the same asset. */
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

/** Whether two unfinished records have the same asset at the same time. A date is the whole day of the clock. */
export function isClash(kind: string, one: Data, other: Data): boolean {
  const assetOf = ({ asset, assetId }: Data): string | undefined => asset?.id ?? assetId;
  if (one.id === other.id || !assetOf(one) || assetOf(one) !== assetOf(other)) return false;
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
