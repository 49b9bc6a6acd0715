/**
 * RFC 3339 with a zone, or a date: midnight UTC. `Date` alone would read 30 February as 1 March, and a time without a
 * zone as local.
 */
import * as z from 'zod';
import type { ExpectedDate } from './issues.ts';
import { dateForms } from './sentences.ts';

const pattern =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt]([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.(\d+))?([Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)?)?$/;

const hasTime = /^\d{4}-\d{2}-\d{2}[Tt ]\d/;

export const aDate = dateForms.date;

type ParsedTime = { readonly value: string } | { readonly form: ExpectedDate; readonly expected: string };

const wrong = (form: ExpectedDate): ParsedTime => ({ form, expected: dateForms[form] });

export function parseDateTime(sent: string): ParsedTime {
  const match = pattern.exec(sent);
  if (!match) return wrong(hasTime.test(sent) ? 'date-time' : 'date');

  const [, year, month, day, hour, minute = '', second = '', fraction = '', zone] = match;
  if (!z.regexes.date.test(`${year}-${month}-${day}`)) return wrong('day');
  if (hour !== undefined && zone === undefined) return wrong('zone');

  const time = hour === undefined ? '00:00:00' : `${hour}:${minute}:${second}`;
  const milliseconds = fraction.slice(0, 3).padEnd(3, '0');
  const local = `${year}-${month}-${day}T${time}.${milliseconds}`;
  const isUtc = zone === undefined || zone === 'Z' || zone === 'z';
  const value = isUtc ? `${local}Z` : new Date(`${local}${zone}`).toISOString();
  return hasSupportedYear(value) ? { value } : wrong('year');
}

/** An offset can move the year out of range: `Date` prints it with a sign and six digits. */
export const hasSupportedYear = (iso: string): boolean => iso.length === 24 && !iso.startsWith('0000');
