import { createHash } from 'node:crypto';
import { normalizeIP } from '@fastify/rate-limit';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import { everyHour } from '../database/every-hour.ts';
import { removeInBatches } from '../database/retention.ts';
import type { Store } from '../database/store.ts';
import { tooManySignIns } from '../errors.ts';
import { addFailure, deleteFailuresBefore, subtractFailure } from './sign-in-throttle.sql.ts';

const WINDOW_MS = 15 * 60_000;
/** Maximum number of failures in a window. Many users may share an address, and many addresses may attack a user. */
const LIMITS = { address: 100, both: 10, email: 100, device: 10 } as const;
const ROWS_AT_ONCE = 1_000;

/** Throttles sign-ins across replicas, in the same way for users who do not exist. */
export interface SignInThrottle {
  /**
   * Counts an attempt as failed until the returned function is called, so that concurrent attempts count, too.
   *
   * @param email in lower case
   * @param device a browser in which the user has signed in before (known-device.ts); null for any other. Its attempts
   *   count separately: otherwise attempts of others could lock the user out
   * @returns uncounts the attempt: call it if the attempt succeeds or ends without a verdict
   * @throws ServiceError 429
   */
  begin(email: string, address: string, device: string | null): Promise<() => Promise<void>>;
  /** Deletes old counts until the signal aborts. */
  maintain(signal: AbortSignal): Promise<void>;
}

export function createSignInThrottle({
  store,
  clock,
  log,
}: {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
}): SignInThrottle {
  const count = async (kind: keyof typeof LIMITS, subject: Buffer): Promise<void> => {
    const nowMs = clock.wallMs();
    const counted = await addFailure(store, { subject, nowMs, windowMs: WINDOW_MS });
    if (counted.count <= LIMITS[kind]) return;
    const endsInMs = counted.firstAt.getTime() + WINDOW_MS - nowMs;
    throw tooManySignIns(Math.max(1, Math.ceil(endsInMs / 1000)));
  };
  return {
    async begin(email, given, device) {
      if (device !== null) {
        const subject = subjectOf('', email, device);
        await count('device', subject);
        return () => subtractFailure(store, [subject]);
      }
      const address = normalizeIP(given);
      const subjects = {
        address: subjectOf(address, ''),
        both: subjectOf(address, email),
        email: subjectOf('', email),
      };
      // Counts the address first: beyond its limit, no further rows are added.
      await count('address', subjects.address);
      await count('both', subjects.both);
      await count('email', subjects.email);
      return () => subtractFailure(store, Object.values(subjects));
    },

    maintain: (signal) =>
      everyHour(
        { clock, log },
        'counts of failed sign-ins were not deleted',
        () => {
          const beforeMs = clock.wallMs() - WINDOW_MS;
          const remove = (limit: number) => deleteFailuresBefore(store, { beforeMs, limit });
          return removeInBatches(ROWS_AT_ONCE, remove, signal);
        },
        signal,
      ),
  };
}

/** Hashed, because people also type passwords into the email field. */
function subjectOf(...parts: readonly string[]): Buffer {
  return createHash('sha256').update(JSON.stringify(parts)).digest();
}
