/** Dates and times as the clock of the browser's time zone shows them. A date is stored as its midnight in UTC. */
const { locale, timeZone } = Intl.DateTimeFormat().resolvedOptions();

export { timeZone };

/** English, as the page, with the order of dates of the browser's region. */
export const dateLocale = `en-${new Intl.Locale(locale).maximize().region}`;

/** No comma after a weekday, which British English has only before a year, and no fourth letter for September. */
export const plainDate = (text: string): string => text.replace(/Sept\b/g, 'Sep').replace(/^(\w{3}),/, '$1');

export const dayMs = 86_400_000;

/** `2026-12-01` for a day after `2026-11-30`, and `+010000-01-01` after the last year, from where it can move back. */
export const movedDay = (day: string, days: number): string =>
  new Date(Date.parse(day) + days * dayMs).toISOString().replace(/T.*/, '');

const isDate = (value: string): boolean => value.endsWith('T00:00:00.000Z');

/** The text of the clock at a moment, as a time in UTC. */
const clockAt = (moment: number): number => moment - new Date(moment).getTimezoneOffset() * 60_000;

/** When the clock shows this: twice in the hour that autumn repeats, never in the hour that spring leaves out. */
function momentsOf(clock: number): readonly number[] {
  const moments = [-dayMs, dayMs].map((away) => clock + new Date(clock + away).getTimezoneOffset() * 60_000);
  return [...new Set(moments)].filter((moment) => clockAt(moment) === clock);
}

/** The texts of a stored value in the two inputs of a time. A date has no time. */
export function clockTexts(value: string | null): readonly [date: string, time: string] {
  if (!value) return ['', ''];
  if (isDate(value)) return [value.slice(0, 10), ''];
  const clock = new Date(clockAt(Date.parse(value))).toISOString();
  // Browsers show seconds that an input has.
  return [clock.slice(0, 10), clock.slice(11).replace(/(?::00)?(?:\.000)?Z$/, '')];
}

/**
 * Reads the texts of the two inputs. Where the clock shows a time twice, a stored second one stays second. Without a
 * value, the remark is the reason; otherwise it explains the value.
 */
export function readTime(date: string, time: string, stored?: string): { value: string | null; remark?: string } {
  if (!date) return { value: null, ...(time && { remark: 'Enter the date of this time.' }) };
  if (!/^\d{4}-/.test(date)) return { value: null, remark: 'The last year is 9999.' };
  if (!time) return { value: `${date}T00:00:00.000Z` };
  const [moments, before] = [momentsOf(Date.parse(`${date}T${time}Z`)), Date.parse(stored ?? '')];
  const moment = moments[momentsOf(clockAt(before)).indexOf(before)] ?? moments[0];
  if (moment === undefined) return { value: null, remark: `The clock never shows ${time} on this day.` };
  const value = new Date(moment).toISOString();
  const turn = moment === moments[0] ? 'first' : 'second';
  if (moments.length > 1)
    return { value, remark: `The clock shows ${time} twice on this day: this is the ${turn} time.` };
  if (!isDate(value)) return { value };
  // West of Greenwich, in the evening.
  const isNext = value.slice(0, 10) !== date;
  const remark = `${time} is midnight UTC, which is shown as ${isNext ? 'the next day' : 'a date'} without a time`;
  return isNext
    ? { value: null, remark: `${remark}. Enter a time one minute earlier.` }
    : { value, remark: `${remark}.` };
}

/** True if the end is before the start. A date is the whole day. */
export function isReversed(start: string | null, end: string | null): boolean {
  if (!start || !end) return false;
  return isDate(start) || isDate(end) ? clockTexts(start)[0] > clockTexts(end)[0] : start > end;
}
