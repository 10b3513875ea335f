import { randomUUID } from 'node:crypto';
import { UNLIMITED } from '../../model/account/plan.ts';
import { systemClock } from '../../runtime/clock.ts';
import { VedetteError } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import { type AccountFile, exportAccount } from '../account-export/export-account.ts';
import {
  type AccountContents,
  type Removal,
  type RemovedCounts,
  readContents,
  removeAccount,
} from '../account-removal/remove-account.ts';
import { type AccountOverview, accountOverviews } from '../accounts/overviews.ts';
import { resolveAccount } from '../accounts/resolve-account.ts';
import { findFirstAccount } from '../accounts/shared.sql.ts';
import { createLocationWake } from '../agents/assignment/location-wake.ts';
import { lacksContentsOf } from '../artifacts/artifacts-of-account.ts';
import type { ServiceConfig } from '../config.ts';
import type { Store } from '../database/store.ts';
import { createFeatures } from '../features.ts';
import type { ArtifactStore } from '../object-store/artifact-store.ts';
import { openArtifactStore } from '../object-store/artifacts-config.ts';
import { withExistingStore } from './open-service-store.ts';

/** The dependencies of every command on the database of the service. */
interface CommandParts {
  readonly config: ServiceConfig;
  readonly log: Logger;
}

/**
 * Lists the accounts, oldest first, page by page. Like the other commands here, does not migrate the schema.
 *
 * @param onPage returns false to stop
 * @throws VedetteError where no database is named, or it is unavailable or of an earlier release
 */
export async function listAccountsOfService(
  { config, log }: CommandParts,
  onPage: (accounts: readonly AccountOverview[]) => Promise<boolean>,
): Promise<void> {
  await withExistingStore(config, log, async (store) => {
    for await (const page of accountOverviews(store)) if (!(await onPage(page))) return;
  });
}

/**
 * Exports an account as a check file, from the database of the service.
 *
 * @throws VedetteError where no database is named, it is unavailable or of an earlier release, there is no such
 *   account, or nothing of it fits into a file
 */
export async function exportAccountOfService(
  { config, log }: CommandParts,
  idOrName: string,
): Promise<AccountFile> {
  return await withExistingStore(config, log, async (store) => {
    const { id } = await resolveAccount(store, idOrName);
    return await withContents({ config, log }, async (contents) => {
      const clock = systemClock;
      const wake = await createLocationWake(store, clock);
      try {
        const parts = { store, clock, log, ids: randomUUID, wake, contents, plans: UNLIMITED };
        // The export neither decrypts secrets nor signs in users of a provider.
        const features = createFeatures({
          ...parts,
          secrets: null,
          config: { ...config, oidc: null },
        });
        return await exportAccount(features, id);
      } finally {
        await wake.close();
      }
    });
  });
}

/** An account that is to be removed. */
export interface RemovedAccount {
  readonly id: string;
  readonly name: string;
}

interface RemovalRequest {
  readonly idOrName: string;
  /** Leaves the contents of artifacts where they are, and does not open their store. */
  readonly keepsContents: boolean;
  /** Returns whether to remove the account. Called before anything is changed. */
  readonly confirm: (account: RemovedAccount, contents: AccountContents) => Promise<boolean>;
  readonly onProgress: (removed: RemovedCounts) => void;
  /** Stops the removal after the current transaction. */
  readonly signal: AbortSignal;
}

/**
 * Removes an account and everything in it from the database of the service.
 *
 * @returns null where it was not confirmed
 * @throws VedetteError where no database is named, it is unavailable or of another release, there is no such
 *   account, users of OpenID Connect would join it again, or the artifact store is not that of the service
 */
export async function removeAccountFromService(
  { config, log }: CommandParts,
  { idOrName, keepsContents, confirm, onProgress, signal }: RemovalRequest,
): Promise<Removal | null> {
  const removeFrom = async (store: Store): Promise<Removal | null> => {
    const account = await resolveAccount(store, idOrName);
    await refuseAccountOfProvider(store, config, account.id);
    const remove = async (contents: ArtifactStore | null): Promise<Removal | null> => {
      if (contents !== null && (await lacksContentsOf({ store, contents }, account.id, signal))) {
        throw refused(
          'the account has artifacts whose contents are not in this artifact store: set S3_BUCKET and the other variables, or DATA_DIR, as the service has them; if the contents are lost, give --keep-contents',
        );
      }
      if (!(await confirm(account, await readContents(store, account.id)))) return null;
      return await removeAccount({ store, contents, log }, account, onProgress, signal);
    };
    return keepsContents ? await remove(null) : await withContents({ config, log }, remove);
  };
  // Refuses a later release: the removal cannot be undone, and would leave rows that only that release knows.
  return await withExistingStore(config, log, removeFrom, 'refuse');
}

/** Refuses the account of OIDC_ACCOUNT: at each sign-in the service would add the user to it again. */
async function refuseAccountOfProvider(
  store: Store,
  { oidc }: Pick<ServiceConfig, 'oidc'>,
  accountId: string,
): Promise<void> {
  if (oidc === null) return;
  const joined = oidc.accountId ?? (await findFirstAccount(store))?.id ?? null;
  if (joined !== accountId) return;
  throw refused(
    'users of OpenID Connect join this account: set OIDC_ACCOUNT to another one and restart the service first',
  );
}

async function withContents<Result>(
  { config, log }: CommandParts,
  use: (contents: ArtifactStore) => Promise<Result>,
): Promise<Result> {
  const contents = await openArtifactStore(
    { ...config.artifacts, dataDir: config.dataDir, proxies: config.delivery.proxies },
    { clock: systemClock, log },
  );
  try {
    return await use(contents);
  } finally {
    await contents.close();
  }
}

function refused(message: string): VedetteError {
  return new VedetteError('usage', 'REFUSED', message);
}
