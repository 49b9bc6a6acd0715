/** The options of `yardgraph keys create`: checked together, so that all problems are listed at once. */
import { z } from 'zod';
import { isWorkspaceName, workspaceNameForm } from '../auth/key.ts';
import type { NewKey } from '../auth/keys.ts';
import { StartError } from '../errors.ts';
import { parseDuration } from './duration.ts';

const required = z.string({ error: 'required' });

const shortText = /^[^\p{Cc}\p{Cs}]{1,255}$/u;
const shortTextForm = { error: 'expected 1 to 255 characters, no control characters' };

const durationForm = { error: 'expected a duration greater than zero, such as 90d, 12h or 30m' };

const options = z.object({
  workspace: required.refine(isWorkspaceName, { error: workspaceNameForm }),
  user: required.regex(shortText, shortTextForm),
  readOnly: z.boolean(),
  expires: z.string().transform(parseDuration).pipe(z.number(durationForm).positive(durationForm)).optional(),
  label: z.string().regex(shortText, shortTextForm).optional(),
});

/** The options as given. */
export type NewKeyOptions = Partial<z.input<typeof options>>;

/** Throws a StartError with one line for each option that is missing or invalid. */
export function parseNewKey(given: NewKeyOptions): NewKey {
  const { data, error } = options.safeParse(given);
  if (data) return data;
  throw new StartError(error.issues.map(({ path, message }) => `--${path.join()}: ${message}`).join('\n'));
}
