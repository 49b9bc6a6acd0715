/** Parses values that fields are compared with: in the forms of input, but they need not be storable. */
import { aDate, parseDateTime } from './date-time.ts';
import type { Field } from './fields.ts';
import { expected } from './issues.ts';
import { textProblem } from './schemas.ts';

export type ComparedValue = string | number | boolean;

export function parseComparedValue(
  { type }: Pick<Field, 'type'>,
  sent: unknown,
  maxLength: number,
): { value: ComparedValue } | { problem: string } {
  switch (type) {
    case 'number':
      return typeof sent === 'number' && Number.isFinite(sent)
        ? { value: sent }
        : { problem: expected('a number', sent) };
    case 'boolean':
      return typeof sent === 'boolean' ? { value: sent } : { problem: expected('true or false', sent) };
    case 'dateTime': {
      if (typeof sent !== 'string') return { problem: expected(aDate, sent) };
      const parsed = parseDateTime(sent);
      return 'value' in parsed ? parsed : { problem: expected(parsed.expected, sent) };
    }
    default: {
      if (typeof sent !== 'string') return { problem: expected('text', sent) };
      const problem = textProblem(sent, maxLength);
      return problem === undefined ? { value: sent } : { problem };
    }
  }
}
