import { createHash } from 'node:crypto';
import type { Clock } from '../../../runtime/clock.ts';
import { LruCache } from '../../../runtime/lru-cache.ts';
import type { Availability } from '../../analytics/rollups/availability.ts';
import type { AccountKey } from '../../database/account-key.ts';
import type { Measurement } from './measurements.ts';

/** Medians of days change slowly. */
const REMEMBERED_MS = 60_000;
/** Bounds the memory: about 100 bytes for each service. */
const MAX_REMEMBERED_SERVICES = 10_000;
/** Bounds a statement. */
const CHECKS_AT_ONCE = 250;

type Measured = Pick<Measurement, 'service' | 'checks'>;

/** The usual response times of services on pages. */
export interface UsualTimes {
  /** By the id of the service, in milliseconds; those without a measured time are missing. */
  read(page: AccountKey, services: readonly Measured[]): Promise<ReadonlyMap<string, number>>;
}

interface Remembered {
  readonly fingerprint: string;
  readonly readAtMs: number;
  readonly times: ReadonlyMap<string, number>;
}

export function createUsualTimes({
  clock,
  availability,
}: {
  readonly clock: Clock;
  readonly availability: Pick<Availability, 'usualResponseTimes'>;
}): UsualTimes {
  const remembered = new LruCache<Remembered>(MAX_REMEMBERED_SERVICES);

  async function readTimes(
    accountId: string,
    checkIds: readonly string[],
  ): Promise<ReadonlyMap<string, number>> {
    const times = new Map<string, number>();
    for (let at = 0; at < checkIds.length; at += CHECKS_AT_ONCE) {
      const batch = checkIds.slice(at, at + CHECKS_AT_ONCE);
      for (const [id, ms] of await availability.usualResponseTimes(accountId, batch)) {
        times.set(id, ms);
      }
    }
    return times;
  }

  return {
    async read({ accountId, id }, services) {
      const measured = services.map(({ service, checks }) => {
        // A heartbeat has no response time, and a check that is not activated says nothing.
        const timed = checks.filter(({ isHeartbeat, state }) => !isHeartbeat && state !== 'paused');
        return [service.id, timed.map((check) => check.id)] as const;
      });
      const key = JSON.stringify([accountId, id]);
      const fingerprint = createHash('sha256').update(JSON.stringify(measured)).digest('base64');
      const known = remembered.get(key);
      const nowMs = clock.monotonicMs();
      if (known?.fingerprint === fingerprint && nowMs - known.readAtMs < REMEMBERED_MS) {
        return known.times;
      }
      const checkIds = [...new Set(measured.flatMap(([, ids]) => ids))];
      const ofChecks = await readTimes(accountId, checkIds);
      const times = new Map(
        measured.flatMap(([serviceId, ids]) => {
          const own = ids.flatMap((each) => ofChecks.get(each) ?? []);
          if (own.length === 0) return [];
          return [[serviceId, own.reduce((sum, ms) => sum + ms, 0) / own.length] as const];
        }),
      );
      remembered.set(key, { fingerprint, readAtMs: nowMs, times }, 1 + services.length);
      return times;
    },
  };
}
