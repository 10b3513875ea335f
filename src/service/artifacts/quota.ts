import type { Clock } from '../../runtime/clock.ts';
import type { Store } from '../database/store.ts';
import { conflict, type ServiceError } from '../errors.ts';
import { ARTIFACT_VARIABLES, type ArtifactLimits } from '../object-store/artifacts-config.ts';
import { readArtifactUsage } from './sql.ts';

export interface ArtifactQuotaParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly limits: ArtifactLimits;
}

export type LimitOf = 'account' | 'location';

/** An upload that a location is about to begin. */
export interface WantedSpace {
  readonly accountId: string;
  /** The slug of the location. */
  readonly location: string;
  /** 0 where the location has the content already. */
  readonly bytes: number;
}

/** The limits on the space of artifacts and open uploads. */
export interface ArtifactQuota {
  /** Uploads that this process refused, by whose limit it was. */
  readonly refused: Readonly<Record<LimitOf, number>>;
  /**
   * Reserves space for one more upload. Call it before the row is written.
   *
   * @throws ServiceError 409 with the setting's name over a limit
   */
  take(wanted: WantedSpace): Promise<void>;
  /** Invalidates the usage after something was removed. */
  removed(): void;
}

/** The usage of one account as read from the database, and what this process began since. */
interface Usage {
  readonly readAtMs: number;
  readonly tookMs: number;
  readonly byLocation: Map<string | null, number>;
}

/**
 * Added to the content of each artifact and upload: limits their number even if they share a content or
 * are nearly empty.
 */
const ENTRY_BYTES = 4096;
/**
 * How long a reading is valid. In that time an account may exceed its limit by uploads that begin at
 * other replicas.
 */
const FRESH_MS = 30_000;
/** The oldest reading that refuses an upload: another replica may have removed something since. */
const FRESH_FOR_REFUSAL_MS = 10_000;
/** A slow reading is valid for this many times its duration: with a million artifacts it takes a second. */
const FRESH_FOR_EACH_MS_READ = 20;
const MAX_ACCOUNTS = 1_000;
const GIB = 1024 ** 3;

export function createArtifactQuota({ store, clock, limits }: ArtifactQuotaParts): ArtifactQuota {
  /** By account, oldest reading first. */
  const usages = new Map<string, Promise<Usage>>();
  const refused: Record<LimitOf, number> = { account: 0, location: 0 };

  function read(accountId: string): Promise<Usage> {
    const startMs = clock.monotonicMs();
    const reading = readArtifactUsage(store, { accountId, entryBytes: ENTRY_BYTES }).then(
      (byLocation): Usage => {
        const readAtMs = clock.monotonicMs();
        return { readAtMs, tookMs: readAtMs - startMs, byLocation: new Map(byLocation) };
      },
    );
    usages.delete(accountId);
    usages.set(accountId, reading);
    // After a failure the next caller reads it again.
    reading.catch(() => forget(accountId, reading));
    for (const first of usages.keys()) {
      if (usages.size <= MAX_ACCOUNTS) break;
      usages.delete(first);
    }
    return reading;
  }

  function forget(accountId: string, reading: Promise<Usage>): void {
    if (usages.get(accountId) === reading) usages.delete(accountId);
  }

  /** A reading not older than `freshMs`. Concurrent callers share it. */
  async function usageOf(accountId: string, freshMs: number): Promise<Usage> {
    for (;;) {
      const known = usages.get(accountId);
      if (known === undefined) return read(accountId);
      const usage = await known;
      const countsMs = Math.max(freshMs, usage.tookMs * FRESH_FOR_EACH_MS_READ);
      if (clock.monotonicMs() - usage.readAtMs <= countsMs) return usage;
      forget(accountId, known);
    }
  }

  /** Reserves the space if there is enough. @returns the limit that it would exceed */
  function tryToTake(usage: Usage, { location, bytes }: WantedSpace): LimitOf | null {
    const { byLocation } = usage;
    const wanted = bytes + ENTRY_BYTES;
    const ofLocation = byLocation.get(location) ?? 0;
    const ofAccount = [...byLocation.values()].reduce((sum, each) => sum + each, 0);
    if (ofLocation + wanted > limits.locationBytes) return 'location';
    if (ofAccount + wanted > limits.accountBytes) return 'account';
    byLocation.set(location, ofLocation + wanted);
    return null;
  }

  return {
    refused,
    async take(wanted) {
      const { accountId } = wanted;
      if (tryToTake(await usageOf(accountId, FRESH_MS), wanted) === null) return;
      const limitOf = tryToTake(await usageOf(accountId, FRESH_FOR_REFUSAL_MS), wanted);
      if (limitOf === null) return;
      refused[limitOf] += 1;
      throw overLimit(limitOf, limits);
    },
    removed() {
      usages.clear();
    },
  };
}

/** 409: agents then give up this artifact, whereas they would retry after a 507. */
function overLimit(
  limitOf: LimitOf,
  { accountBytes, locationBytes }: ArtifactLimits,
): ServiceError {
  const [whose, bytes, { name }] =
    limitOf === 'account'
      ? ['account', accountBytes, ARTIFACT_VARIABLES.maxGibOfAccount]
      : ['location', locationBytes, ARTIFACT_VARIABLES.maxGibOfLocation];
  return conflict(
    `Not enough space for the artifact: those of the ${whose} may use ${bytes / GIB} GiB (${name} of the service)`,
    { limitBytes: bytes, setting: name },
  );
}
