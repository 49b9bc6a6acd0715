/** Days in the filters of an address, relative to today: a bookmark of `endDate.lt:today` is also right tomorrow. */

function daysFromToday(value: string): number | undefined {
  // In an address written by hand, a plus is a space.
  const [text, days = '0'] = /^today(?: ?([+-]?\d{1,4}))?$/.exec(value) ?? [];
  return text === undefined ? undefined : Number(days);
}

/** `2026-11-28` for `today`, and the day a week later for `today+7`. Other values stay. */
export function dayOf(value: string): string {
  const days = daysFromToday(value);
  if (days === undefined) return value;
  const now = new Date();
  return new Date(Date.UTC(now.getFullYear(), now.getMonth(), now.getDate() + days)).toISOString().slice(0, 10);
}

/** The words of such a value, for people. */
export function dayWords(value: string): string | undefined {
  const days = daysFromToday(value);
  return days ? `${Math.abs(days)} days ${days < 0 ? 'before' : 'from'} today` : days === 0 ? 'today' : undefined;
}
