import type { Clock } from '../../runtime/clock.ts';
import { messageOf } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { SecretBox } from '../../runtime/secret-box.ts';
import { sleep } from '../../runtime/wait.ts';
import { ServiceError } from '../errors.ts';
import type { CheckKey } from '../store/checks.ts';
import type { Store } from '../store/port.ts';
import { lockPrivateLocation } from '../store/private-locations.ts';
import {
  isReleaseBeforeConnected,
  listCredentialChecks,
  listProxyLocations,
  lockCheckCredentials,
  putCheckCredentials,
  putLocationProxy,
} from '../store/stored-credentials.ts';
import { createCheckVariables } from './check-variables.ts';
import { createProxyPasswords } from './proxy-passwords.ts';

export interface CredentialSealingParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** null: credentials are stored in clear. */
  readonly secrets: SecretBox | null;
}

/**
 * Encrypts the credentials of checks and proxies that are stored in clear, or by another key than the
 * newest. While a release is at work that reads them in clear alone, they stay as they are, and new
 * ones are stored in clear too.
 */
export interface CredentialSealing {
  /** Whether credentials are to be encrypted when they are stored. */
  readonly isOn: () => boolean;
  /** Encrypts them, or begins to wait. To be called before the first request. */
  begin(): Promise<void>;
  /** Waits until no release before is at work, then encrypts them. */
  keep(signal: AbortSignal): Promise<void>;
}

const BATCH = 100;
const LOOK_MS = 5000;

export function createCredentialSealing(parts: CredentialSealingParts): CredentialSealing {
  const { store, clock, log, secrets } = parts;
  let isOn = false;

  const sealAll = async (): Promise<void> => {
    // From now on, so that none comes in clear behind the pass.
    isOn = true;
    const { changed, unreadable } = await rewriteAll(parts, 'seal');
    if (changed > 0) log.info({ changed }, 'stored credentials are encrypted');
    if (unreadable > 0) {
      log.error(
        { unreadable },
        'stored secrets cannot be decrypted, and stay as they are: put the key that is missing behind the others in ENCRYPTION_KEY',
      );
    }
  };

  return {
    isOn: () => isOn,

    async begin() {
      if (secrets === null) {
        log.warn(
          'ENCRYPTION_KEY is not set: passwords and Authorization values of checks and the passwords of proxies are stored in clear',
        );
      } else if (await isReleaseBeforeConnected(store)) {
        log.warn(
          'a replica of a release before works on the database: credentials are stored in clear until it has ended',
        );
      } else await sealAll();
    },

    async keep(signal) {
      while (secrets !== null && !isOn && !signal.aborted) {
        if (!(await sleep(clock, LOOK_MS, signal))) return;
        try {
          if (!(await isReleaseBeforeConnected(store))) await sealAll();
        } catch (error) {
          log.warn(`stored credentials are not encrypted yet: ${messageOf(error)}`);
          isOn = false;
        }
      }
    },
  };
}

/**
 * Stores all credentials in clear, as the release before has them.
 *
 * @returns how many checks and locations had encrypted ones, and how many have unreadable ones
 */
export function decryptCredentials(
  parts: Omit<CredentialSealingParts, 'clock'>,
): Promise<Rewritten> {
  return rewriteAll(parts, 'unseal');
}

export interface Rewritten {
  readonly changed: number;
  /** Those that no key opens stay as they are. */
  readonly unreadable: number;
}

/** Each in a transaction of its own: it may be done again, and by several replicas at once. */
async function rewriteAll(
  { store, log, secrets }: Omit<CredentialSealingParts, 'clock'>,
  to: 'seal' | 'unseal',
): Promise<Rewritten> {
  const checkVariables = createCheckVariables({ log, secrets });
  const proxyPasswords = createProxyPasswords({ log, secrets });
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
  const rewriteCheck = (key: CheckKey): Promise<boolean> =>
    store.transaction(async (tx) => {
      const stored = await lockCheckCredentials(tx, key);
      if (stored === null) return false;
      const { body, sealedVariables } = stored;
      const next =
        to === 'seal'
          ? checkVariables.sealAgain(key, body, sealedVariables)
          : checkVariables.unsealCredentials(key, body, sealedVariables);
      if (next !== null) await putCheckCredentials(tx, { ...key, ...next });
      return next !== null;
    });
  const rewriteLocation = (key: CheckKey): Promise<boolean> =>
    store.transaction(async (tx) => {
      const stored = await lockPrivateLocation(tx, key);
      if (stored === null) return false;
      const next =
        to === 'seal' ? proxyPasswords.sealAgain(key, stored) : proxyPasswords.unseal(key, stored);
      if (next !== null) await putLocationProxy(tx, { ...key, ...next });
      return next !== null;
    });

  await inBatches(
    (after) => listCredentialChecks(store, { after, limit: BATCH }),
    (key) => rewrite(() => rewriteCheck(key)),
  );
  await inBatches(
    (after) => listProxyLocations(store, { after, limit: BATCH }),
    (key) => rewrite(() => rewriteLocation(key)),
  );
  return { changed, unreadable };
}

async function inBatches(
  listAfter: (after: CheckKey | null) => Promise<readonly CheckKey[]>,
  work: (key: CheckKey) => Promise<void>,
): Promise<void> {
  for (let after: CheckKey | null = null; ; ) {
    const keys: readonly CheckKey[] = await listAfter(after);
    for (const key of keys) await work(key);
    after = keys.at(-1) ?? null;
    if (after === null || keys.length < BATCH) return;
  }
}
