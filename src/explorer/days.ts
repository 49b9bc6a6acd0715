/** Days and weeks in the filters of an address: a bookmark of `endDate.lt:today` is also right tomorrow. */
import { clockTexts, dateLocale, movedDay, plainDate } from './clock.ts';

/** Monday where the browser does not know it. */
const firstOfWeek =
  (new Intl.Locale(dateLocale) as { getWeekInfo?(): { firstDay: number } }).getWeekInfo?.().firstDay ?? 1;

/** How many days or weeks `today+7` or `week-1` is away. */
function awayOf(value: string): { readonly count: number; readonly unit: 'day' | 'week' } | undefined {
  // In an address written by hand, a plus is a space.
  const [, name, count = '0'] = /^(today|week)(?: ?([+-]?\d{1,4}))?$/.exec(value) ?? [];
  return name === undefined ? undefined : { count: Number(count), unit: name === 'week' ? 'week' : 'day' };
}

const isDay = (text: string): boolean => {
  const time = Date.parse(text);
  return /^\d{4}-\d\d-\d\d$/.test(text) && time < Date.UTC(9999, 0) && new Date(time).toISOString().startsWith(text);
};

/** The first day of `2026-11-28`, `today+7` or `week+1`, which is next week, and the day after the last. */
export function rangeOf(value: string): readonly [first: string, end: string] | undefined {
  const away = awayOf(value);
  if (!away) return isDay(value) ? [value, movedDay(value, 1)] : undefined;
  const [today] = clockTexts(new Date().toISOString());
  const [length, past] = away.unit === 'week' ? [7, (new Date(today).getUTCDay() - firstOfWeek + 7) % 7] : [1, 0];
  const first = movedDay(today, away.count * length - past);
  return [first, movedDay(first, length)];
}

const near = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const dates = new Intl.DateTimeFormat(dateLocale, { dateStyle: 'medium', timeZone: 'UTC' });

/** The words of `today+7` or `week`, for people, and its dates. */
export function dayWords(value: string): { readonly words: string; readonly dates: string } | undefined {
  const away = awayOf(value);
  const [first, end] = rangeOf(value) ?? [];
  if (!away || !first || !end) return undefined;
  const { count, unit } = away;
  const far = `${Math.abs(count)} ${unit}s ${count < 0 ? 'before' : 'from'} ${near.format(0, unit)}`;
  const words = Math.abs(count) > 1 ? far : near.format(count, unit);
  return { words, dates: plainDate(dates.formatRange(Date.parse(first), Date.parse(end) - 1)) };
}
