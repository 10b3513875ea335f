import type { Clock } from '../../runtime/clock.ts';
import { messageOf, VedetteError } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { SecretBox } from '../../runtime/secret-box.ts';
import { countText } from '../../runtime/text/count-text.ts';
import { ThrottledLog } from '../../runtime/throttled-log.ts';
import { sleep } from '../../runtime/wait.ts';
import { createCheckVariables } from '../checks/check-variables.ts';
import type { CheckKey } from '../checks/exports.ts';
import type { Store } from '../database/port.ts';
import { readsKey } from '../database/postgres/replica-name.ts';
import { ServiceError } from '../errors.ts';
import { lockPrivateLocation } from '../private-locations/exports.ts';
import { createProxyPasswords } from '../private-locations/proxy-passwords.ts';
import {
  countSealed,
  isOtherReplicaConnected,
  listCredentialChecks,
  listCredentialKeys,
  listProxyLocations,
  listReplicas,
  lockCheckCredentials,
  putCheckCredentials,
  putLocationProxy,
  SEALED_KINDS,
  type SealedKind,
} from './sealing.sql.ts';

export interface CredentialSealingParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** null: credentials are stored in clear. */
  readonly secrets: SecretBox | null;
}

/**
 * Encrypts the credentials of checks and proxies that are stored in clear, or by another key than the
 * first, once every connected replica can decrypt what the first key encrypts. Until then, new ones
 * are encrypted by the first key that every replica has, or are stored in clear where there is none.
 *
 * | state | entered by | new credentials |
 * |---|---|---|
 * | clear | – | in clear |
 * | older key | two looks, LOOK_MS apart, or a credential that is stored so: all have that key | by that key |
 * | first key | the same, of the first key | by the first key, as are all others soon: never left |
 */
export interface CredentialSealing {
  /** Whether credentials are to be encrypted when they are stored. Once true, it stays so. */
  readonly isOn: () => boolean;
  /** Looks for the first time. To be called before the first request. */
  begin(): Promise<void>;
  /**
   * Looks on until the first key is in use, then encrypts all that is stored, and on PostgreSQL what comes
   * in clear later; until the signal aborts.
   */
  maintain(signal: AbortSignal): Promise<void>;
}

const BATCH = 100;
/** A session may be missing for an instant, while the database fails over. */
const LOOK_MS = 5000;
/**
 * The second one is LOOK_MS after the first: for what came in clear behind the first, of a request that
 * began before, or of a replica that looked later.
 */
const FIRST_WALKS = 2;
/**
 * And on PostgreSQL again and again: a replica of the release before, whose connections have a name of
 * their own or that starts later, goes on to store credentials in clear. At most so long apart.
 */
const NEXT_WALK_MS = 10 * 60_000;
/** Replicas that start together are not to walk together. */
const nextWalkMs = (): number => NEXT_WALK_MS * (0.5 + Math.random() / 2);
const MAX_NAMED_REPLICAS = 10;

/** One, and several. */
const KIND_NAMES: Readonly<Record<SealedKind, readonly [string, string]>> = {
  checks: ['check', 'checks'],
  locations: ['proxy', 'proxies'],
  variables: ['variable', 'variables'],
  certificates: ['client certificate', 'client certificates'],
  channels: ['alert channel', 'alert channels'],
};

/** Why a secret cannot be decrypted, and what to do. */
function missingKey({ kind }: Pick<Store, 'kind'>, secrets: SecretBox | null): string {
  if (secrets === null) {
    return kind === 'pglite'
      ? 'DATA_DIR/encryption-key is missing: put the file back, or set ENCRYPTION_KEY to the key that encrypted them'
      : 'ENCRYPTION_KEY is not set: set it to the key that encrypted them';
  }
  const where = kind === 'pglite' ? ', or its file back into DATA_DIR/encryption-key,' : '';
  return `no key that is here opens them: put the one that encrypted them behind the others in ENCRYPTION_KEY${where}`;
}

export function createCredentialSealing(parts: CredentialSealingParts): CredentialSealing {
  const { store, clock, log, secrets } = parts;
  const [firstKey] = secrets?.keyNames ?? [];
  const failures = new ThrottledLog(clock, log);
  /** The key that encrypts credentials; null while they are stored in clear. */
  let sealingKey: string | null = null;
  /** Those that every replica had at the last look. */
  let sharedBefore: readonly string[] = [];
  let isHeldUpLogged = false;
  let unreadableBefore = 0;

  /** Once, at the start, in one line: of what no key opens, checks fail and messages are not sent. */
  const reportUnreadable = async (): Promise<void> => {
    const counts = new Map<SealedKind, number>();
    for (const { kind, keyName, count } of await countSealed(store)) {
      if (secrets?.keyNames.includes(keyName) === true) continue;
      counts.set(kind, (counts.get(kind) ?? 0) + count);
    }
    // The walk meets those two, and has no more to say of them.
    unreadableBefore = (counts.get('checks') ?? 0) + (counts.get('locations') ?? 0);
    if (counts.size === 0) return;
    const found = SEALED_KINDS.flatMap((kind) => {
      const count = counts.get(kind);
      return count === undefined ? [] : [countText(count, ...KIND_NAMES[kind])];
    });
    log.error(
      Object.fromEntries(counts),
      `credentials and secret values of ${found.join(', ')} cannot be decrypted, as ${missingKey(store, secrets)} and start the service again; or give them again`,
    );
  };

  const look = async (box: SecretBox): Promise<void> => {
    const replicas = await listReplicas(store);
    const { keyNames } = box;
    const shared = keyNames.filter((key) => replicas.every(({ name }) => readsKey(name, key)));
    const sure = shared.find((key) => key === sealingKey || sharedBefore.includes(key));
    sharedBefore = shared;
    sealingKey = sure ?? sealingKey;
    // Other secrets cannot be stored in clear: where there is no key that all have, by the first.
    const next = sealingKey ?? shared[0] ?? firstKey;
    if (next !== undefined) box.sealBy(next);
    const lacking = replicas.filter(
      ({ name }) => firstKey !== undefined && !readsKey(name, firstKey),
    );
    if (lacking.length === 0 || isHeldUpLogged) return;
    isHeldUpLogged = true;
    log.warn(
      { replicas: lacking.slice(0, MAX_NAMED_REPLICAS), count: lacking.length },
      `the first key of ENCRYPTION_KEY encrypts no credentials yet, as not every replica can decrypt them: restart those named here with this release and this ENCRYPTION_KEY; until then new credentials are ${shared.length === 0 ? 'stored in clear' : 'encrypted by an older key'}`,
    );
  };

  const walk = async (signal: AbortSignal): Promise<void> => {
    const { changed, unreadable } = await rewriteAll(parts, 'seal', signal);
    if (changed > 0) log.info({ changed }, 'stored credentials are encrypted');
    if (unreadable > 0 && unreadable !== unreadableBefore) {
      log.error(
        { unreadable },
        'credentials of checks and proxies cannot be decrypted, and stay as they are: put the key that encrypted them behind the others in ENCRYPTION_KEY, or give them again',
      );
    }
    unreadableBefore = unreadable;
  };

  return {
    isOn: () => sealingKey !== null,

    async begin() {
      if (secrets === null) {
        log.warn(
          'ENCRYPTION_KEY is not set: the credentials of checks and the passwords of proxies are stored in clear',
        );
      }
      await reportUnreadable();
      if (secrets === null) return;
      // Every replica had those once, or nobody would have used them. No other shares an embedded database.
      sharedBefore = store.kind === 'pglite' ? secrets.keyNames : await listCredentialKeys(store);
      await look(secrets);
    },

    async maintain(signal) {
      if (secrets === null) return;
      let isLook = false;
      for (let walks = 0; !signal.aborted; ) {
        try {
          if (isLook && sealingKey !== firstKey) await look(secrets);
          if (sealingKey === firstKey) {
            await walk(signal);
            walks += 1;
          }
        } catch (error) {
          const message = `it could not be seen whether all stored credentials are encrypted: ${messageOf(error)}`;
          failures.warn('', {}, message);
        }
        isLook = true;
        // Nobody else writes to the embedded database.
        if (store.kind === 'pglite' && walks >= FIRST_WALKS) return;
        if (!(await sleep(clock, walks < FIRST_WALKS ? LOOK_MS : nextWalkMs(), signal))) return;
      }
    },
  };
}

/**
 * Stores all credentials in clear, as the release before has them.
 *
 * @param parts with a store of one connection
 * @returns how many checks and locations had encrypted ones
 * @throws VedetteError where a replica is connected, which would encrypt new ones, and where some
 *   cannot be decrypted: all others are in clear then
 */
export async function decryptCredentials(
  parts: Omit<CredentialSealingParts, 'clock'>,
): Promise<number> {
  const { store, secrets } = parts;
  await refuseBesideReplica(store);
  const { changed, unreadable } = await rewriteAll(parts, 'unseal', new AbortController().signal);
  // One may have started meanwhile.
  await refuseBesideReplica(store);
  if (unreadable === 0) return changed;
  const others =
    changed === 0
      ? ''
      : ` (those of ${countText(changed, 'other is', 'others are')} stored in clear again)`;
  throw new VedetteError(
    'environment',
    'SECRET_UNREADABLE',
    `credentials of ${countText(unreadable, 'check or location', 'checks and locations')} cannot be decrypted${others}, as ${missingKey(store, secrets)} and run vedette service decrypt again`,
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

interface Rewritten {
  readonly changed: number;
  /** Those that no key opens stay as they are. */
  readonly unreadable: number;
}

/**
 * Locks only what has to change, each in a transaction of its own: it may be done again, and by several
 * replicas at once.
 */
async function rewriteAll(
  { store, log, secrets }: Omit<CredentialSealingParts, 'clock'>,
  to: 'seal' | 'unseal',
  signal: AbortSignal,
): Promise<Rewritten> {
  const checkVariables = createCheckVariables({ log, secrets });
  const proxyPasswords = createProxyPasswords({ log, secrets });
  const rewriteCheck = to === 'seal' ? checkVariables.sealAgain : checkVariables.unsealCredentials;
  const rewriteProxy = to === 'seal' ? proxyPasswords.sealAgain : proxyPasswords.unseal;
  let changed = 0;
  let unreadable = 0;

  const rewrite = async (work: () => Promise<boolean>): Promise<void> => {
    try {
      if (await work()) changed += 1;
    } catch (error) {
      // Of a secret that no key opens.
      if (!(error instanceof ServiceError)) throw error;
      unreadable += 1;
    }
  };

  await inBatches(
    (after) => listCredentialChecks(store, { after, limit: BATCH }),
    (key) =>
      rewrite(async () => {
        if (rewriteCheck(key, key.body, key.sealedVariables) === null) return false;
        return store.transaction(async (tx) => {
          const stored = await lockCheckCredentials(tx, key);
          const next =
            stored === null ? null : rewriteCheck(key, stored.body, stored.sealedVariables);
          if (next !== null) await putCheckCredentials(tx, { ...key, ...next });
          return next !== null;
        });
      }),
    signal,
  );
  await inBatches(
    (after) => listProxyLocations(store, { after, limit: BATCH }),
    (key) =>
      rewrite(async () => {
        if (rewriteProxy(key, key) === null) return false;
        return store.transaction(async (tx) => {
          const stored = await lockPrivateLocation(tx, key);
          const next = stored === null ? null : rewriteProxy(key, stored);
          if (next !== null) await putLocationProxy(tx, { ...key, ...next });
          return next !== null;
        });
      }),
    signal,
  );
  return { changed, unreadable };
}

async function inBatches<Row extends CheckKey>(
  listAfter: (after: CheckKey | null) => Promise<readonly Row[]>,
  work: (row: Row) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  for (let after: CheckKey | null = null; !signal.aborted; ) {
    const rows: readonly Row[] = await listAfter(after);
    for (const row of rows) {
      if (signal.aborted) return;
      await work(row);
    }
    after = rows.at(-1) ?? null;
    if (after === null || rows.length < BATCH) return;
  }
}
