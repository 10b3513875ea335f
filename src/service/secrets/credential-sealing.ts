import type { Clock } from '../../runtime/clock.ts';
import { messageOf, VedetteError } from '../../runtime/errors.ts';
import type { SecretBox } from '../../runtime/secret-box.ts';
import { countText } from '../../runtime/text/count-text.ts';
import { ThrottledLog } from '../../runtime/throttled-log.ts';
import { sleep } from '../../runtime/wait.ts';
import { readsKey } from '../database/postgres/replica-name.ts';
import type { Store } from '../database/store.ts';
import { type RewriteParts, rewriteCredentials } from './rewrite-credentials.ts';
import { isOtherReplicaConnected, listCredentialKeys, listReplicas } from './sealing.sql.ts';
import { missingKey, reportKeysOfSecrets } from './unreadable-secrets.ts';

export interface CredentialSealingParts extends RewriteParts {
  readonly clock: Clock;
}

/**
 * Encrypts the credentials of checks and proxies with the first key, once every connected replica has that key.
 * This includes credentials that are stored unencrypted or encrypted with another key. Until then, new
 * credentials are encrypted with the first key that every replica has, or stored unencrypted if there is none.
 *
 * | state | entered by | new credentials |
 * |---|---|---|
 * | unencrypted | – | unencrypted |
 * | older key | two scans, SCAN_MS apart, or a credential stored so, show that all have that key | with that key |
 * | first key | the same, for the first key | with the first key, as soon all others; final |
 */
export interface CredentialSealing {
  /** Whether new credentials are encrypted. Never changes back to false. */
  readonly isOn: () => boolean;
  /** The first scan of the replicas. Call it before the first request. */
  begin(): Promise<void>;
  /**
   * Scans until the first key is in use, then encrypts all stored credentials. With PostgreSQL, also encrypts
   * credentials that are stored unencrypted later, until the signal aborts.
   */
  maintain(signal: AbortSignal): Promise<void>;
}

/** During a failover of the database a session may be missing for a moment. */
const SCAN_MS = 5000;
/**
 * The second rewrite, SCAN_MS after the first, is for credentials stored unencrypted after the first one
 * passed: by a request that began before, or a replica that scanned later.
 */
const FIRST_REWRITES = 2;
/**
 * The interval of rewrites on PostgreSQL: a replica of the previous release may start later, or have connections
 * with another name, and store credentials unencrypted.
 */
const NEXT_REWRITE_MS = 10 * 60_000;
/** Jitter: replicas that start together do not rewrite together. */
const nextRewriteMs = (): number => NEXT_REWRITE_MS * (0.5 + Math.random() / 2);
/** Rewrites that read all checks are this far apart; the others read only checks that changed since the last one. */
const WHOLE_REWRITE_MS = 24 * 3_600_000;
/** Bounds the difference between clocks of replicas plus the duration of a transaction that changes a check. */
const CLOCK_ERROR_MS = 3_600_000;
const MAX_NAMED_REPLICAS = 10;

export function createCredentialSealing(parts: CredentialSealingParts): CredentialSealing {
  const { store, clock, log, secrets } = parts;
  const [firstKey] = secrets?.keyNames ?? [];
  const failures = new ThrottledLog(clock, log);
  /** The key that encrypts credentials; null while they are stored unencrypted. */
  let sealingKey: string | null = null;
  /** The keys that every replica had at the last scan. */
  let sharedBefore: readonly string[] = [];
  let isDelayLogged = false;
  let unreadableBefore = 0;
  /** When the last rewrite began; epoch milliseconds. null before the first. */
  let rewrittenAtMs: number | null = null;
  /** When the last one that read all checks began, on the monotonic clock. */
  let wholeAtMs = Number.NEGATIVE_INFINITY;

  const scan = async (box: SecretBox): Promise<void> => {
    const replicas = await listReplicas(store);
    const { keyNames } = box;
    const shared = keyNames.filter((key) => replicas.every(({ name }) => readsKey(name, key)));
    const sure = shared.find((key) => key === sealingKey || sharedBefore.includes(key));
    sharedBefore = shared;
    sealingKey = sure ?? sealingKey;
    // Other secrets cannot be stored unencrypted: without a shared key, the first key encrypts them.
    const next = sealingKey ?? shared[0] ?? firstKey;
    if (next !== undefined) box.sealBy(next);
    const lacking = replicas.filter(
      ({ name }) => firstKey !== undefined && !readsKey(name, firstKey),
    );
    if (lacking.length === 0 || isDelayLogged) return;
    isDelayLogged = true;
    log.warn(
      { replicas: lacking.slice(0, MAX_NAMED_REPLICAS), count: lacking.length },
      `the first key of ENCRYPTION_KEY encrypts no credentials yet, because not every replica can decrypt them: restart the replicas listed here with this release and this ENCRYPTION_KEY; until then new credentials are ${shared.length === 0 ? 'stored unencrypted' : 'encrypted by an older key'}`,
    );
  };

  /** @param readsAll whether the rewrite must read all checks */
  const rewrite = async (signal: AbortSignal, readsAll: boolean): Promise<void> => {
    const [atMs, monotonicMs] = [clock.wallMs(), clock.monotonicMs()];
    const isWhole =
      readsAll || rewrittenAtMs === null || monotonicMs - wholeAtMs >= WHOLE_REWRITE_MS;
    const changedSinceMs = isWhole ? null : (rewrittenAtMs ?? 0) - CLOCK_ERROR_MS;
    const { changed, unreadable } = await rewriteCredentials(parts, 'seal', signal, changedSinceMs);
    rewrittenAtMs = atMs;
    if (changed > 0) log.info({ changed }, 'stored credentials are encrypted');
    if (!isWhole) return;
    wholeAtMs = monotonicMs;
    if (unreadable > 0 && unreadable !== unreadableBefore) {
      log.error(
        { unreadable },
        'credentials of checks and proxies cannot be decrypted, and were not changed: put the key that encrypted them after the other keys in ENCRYPTION_KEY, or send them again',
      );
    }
    unreadableBefore = unreadable;
  };

  return {
    isOn: () => sealingKey !== null,

    async begin() {
      if (secrets === null) {
        log.warn(
          'ENCRYPTION_KEY is not set: the credentials of checks and the passwords of proxies are stored unencrypted',
        );
      }
      unreadableBefore = await reportKeysOfSecrets(parts);
      if (secrets === null) return;
      // Keys of stored credentials count as shared: a key is used only once every replica has it. The embedded
      // database has only one replica.
      sharedBefore = store.kind === 'pglite' ? secrets.keyNames : await listCredentialKeys(store);
      await scan(secrets);
    },

    async maintain(signal) {
      if (secrets === null) return;
      let isFirst = true;
      for (let rewrites = 0; !signal.aborted; ) {
        try {
          if (!isFirst && sealingKey !== firstKey) await scan(secrets);
          if (sealingKey === firstKey) {
            await rewrite(signal, rewrites < FIRST_REWRITES);
            rewrites += 1;
          }
        } catch (error) {
          const message = `stored credentials could not be checked for encryption: ${messageOf(error)}`;
          failures.warn('', {}, message);
        }
        isFirst = false;
        // No other process writes to the embedded database.
        if (store.kind === 'pglite' && rewrites >= FIRST_REWRITES) return;
        const waitMs = rewrites < FIRST_REWRITES ? SCAN_MS : nextRewriteMs();
        if (!(await sleep(clock, waitMs, signal))) return;
      }
    },
  };
}

/**
 * Stores all credentials unencrypted, as the previous release does.
 *
 * @param parts with a store of one connection
 * @returns how many checks and locations had encrypted credentials
 * @throws VedetteError where a replica is connected, which would encrypt new ones, and where some
 *   cannot be decrypted: all others are unencrypted then
 */
export async function decryptCredentials(parts: RewriteParts): Promise<number> {
  const { store, secrets } = parts;
  await refuseBesideReplica(store);
  const { changed, unreadable } = await rewriteCredentials(
    parts,
    'unseal',
    new AbortController().signal,
  );
  // A replica may have started since.
  await refuseBesideReplica(store);
  if (unreadable === 0) return changed;
  const others =
    changed === 0
      ? ''
      : ` (those of ${countText(changed, 'other is', 'others are')} stored unencrypted again)`;
  throw new VedetteError(
    'environment',
    'SECRET_UNREADABLE',
    `credentials of ${countText(unreadable, 'check or location', 'checks and locations')} cannot be decrypted${others} because ${missingKey(store, secrets)} and run vedette service decrypt again`,
  );
}

async function refuseBesideReplica(store: Store): Promise<void> {
  if (!(await isOtherReplicaConnected(store))) return;
  throw new VedetteError(
    'environment',
    'REPLICA_CONNECTED',
    'a replica of the service is connected to the database and would encrypt credentials again: stop all replicas, then run vedette service decrypt again',
  );
}
