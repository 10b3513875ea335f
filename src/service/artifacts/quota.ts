import type { Clock } from '../../runtime/clock.ts';
import type { Store } from '../database/port.ts';
import { conflict, type ServiceError } from '../errors.ts';
import { ARTIFACT_VARIABLES, type ArtifactLimits } from '../object-store/artifacts-config.ts';
import { readArtifactUsage } from './usage.sql.ts';

export interface ArtifactQuotaParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly limits: ArtifactLimits;
}

export type LimitOf = 'account' | 'location';

/** What a location is about to upload. */
export interface WantedSpace {
  readonly accountId: string;
  /** The slug of the location. */
  readonly location: string;
  /** 0 where the location has the content already. */
  readonly bytes: number;
}

/** How much artifacts and open uploads may take. */
export interface ArtifactQuota {
  /** Refused so far by this process, by whose limit it was. */
  readonly refused: Readonly<Record<LimitOf, number>>;
  /**
   * Takes the space for one more upload. To be called before its row is written.
   *
   * @throws ServiceError 409 with the setting's name where that would be too much
   */
  take(wanted: WantedSpace): Promise<void>;
  /** Something was removed: what is taken is read anew. */
  removed(): void;
}

/** One account's: what was read from the database, and what this process began since. */
interface Usage {
  readonly readAtMs: number;
  readonly tookMs: number;
  readonly byLocation: Map<string | null, number>;
}

/**
 * An artifact or upload counts for so many bytes besides its content, so that their number is
 * limited even where they all have the same content, or nearly none.
 */
const ENTRY_BYTES = 4096;
/**
 * How long what was read counts. By what other replicas let begin meanwhile, an account may go over
 * its limit.
 */
const FRESH_MS = 30_000;
/** Nothing is refused by an older reading than this: replicas may have removed something. */
const FRESH_FOR_REFUSAL_MS = 10_000;
/** Reading takes a second where an account has a million artifacts: then it is done less often. */
const FRESH_FOR_EACH_MS_READ = 20;
const MAX_ACCOUNTS = 1_000;
const GIB = 1024 ** 3;

export function createArtifactQuota({ store, clock, limits }: ArtifactQuotaParts): ArtifactQuota {
  /** By account; the first was read first. */
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
    // The next one reads it again.
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

  /** One that was read so recently. Those who wait for the same account share the reading. */
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

  /** Takes the space where there is enough, else says whose limit stands against it. */
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

/** 409: for agents that is final for this one artifact, where 507 would be tried again for ever. */
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
