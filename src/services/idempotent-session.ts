/** Requests that may be repeated: the first one writes, and the others get the same result. */
import type { IdempotencyKey } from '../store/writes/idempotency.ts';
import type { Session } from './session.ts';

/** Writes once for the key. A repeat returns the stored result, with the records as they were, and calls `onRepeat`. */
export function withIdempotencyKey(session: Session, key: IdempotencyKey | undefined, onRepeat: () => void): Session {
  if (!key) return session;
  let isUsed = false;
  return {
    ...session,
    writer() {
      const write = session.writer();
      return (work, options) => {
        if (isUsed) throw new Error('a session with a key writes once');
        isUsed = true;
        return write(work, { ...options, key: { ...key, onRepeat } });
      };
    },
  };
}
