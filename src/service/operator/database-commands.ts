import { randomUUID } from 'node:crypto';
import { systemClock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import {
  type AddAccountOptions,
  type AddedAccount,
  addAccount,
  inviteUser,
  resetPassword,
} from '../accounts/operator.ts';
import type { ServiceConfig } from '../config.ts';
import { type Migrated, migrate } from '../database/migrate.ts';
import { ServiceAddress } from '../http/access/service-address.ts';
import { decryptCredentials } from '../secrets/credential-sealing.ts';
import { openSecretBox } from '../secrets/encryption-key.ts';
import {
  requireDatabaseInFolder,
  requireNamedDatabase,
  requireTables,
  withStore,
} from './open-service-store.ts';

/** The dependencies of every command on the database of the service. */
interface CommandParts {
  readonly config: ServiceConfig;
  readonly log: Logger;
}

/**
 * Migrates the database and ends, for deployments that migrate before the start.
 *
 * @throws VedetteError where no database is named, or it is unavailable
 */
export async function migrateService({
  config,
  log,
  signal,
}: CommandParts & {
  /** See MigrateOptions. Default: never aborts. */
  readonly signal?: AbortSignal;
}): Promise<Migrated> {
  requireNamedDatabase(config);
  const options = signal === undefined ? {} : { signal };
  return await withStore(config, log, (store) => migrate(store, log, options));
}

/**
 * Creates an account with an admin key in the database of the service.
 *
 * @throws VedetteError where no database is named, it is unavailable, or the name cannot be used
 */
export async function addAccountToService(
  { config, log }: CommandParts,
  name: string,
  options: AddAccountOptions,
): Promise<AddedAccount> {
  requireNamedDatabase(config);
  return await withStore(config, log, async (store) => {
    await migrate(store, log);
    return await addAccount({ store, clock: systemClock, log, ids: randomUUID }, name, options);
  });
}

/**
 * Invites a user to an account, on the database of the service.
 *
 * @returns the link
 * @throws VedetteError where no database is named, it is unavailable, or the user cannot be invited
 */
export async function inviteUserToService(
  { config, log }: CommandParts,
  given: Parameters<typeof inviteUser>[1],
): Promise<{ readonly url: string; readonly accountName: string; readonly expiresAt: Date }> {
  requireNamedDatabase(config);
  return await withStore(config, log, async (store) => {
    await migrate(store, log);
    const parts = { store, clock: systemClock, log, ids: randomUUID };
    const { token, ...rest } = await inviteUser(parts, given);
    return { url: `${baseOfLinks(config)}/invitations/${token}`, ...rest };
  });
}

/**
 * Creates a link with which a user chooses a new password, in the database of the service.
 *
 * @throws VedetteError where no database is named, it is unavailable, or no user has the email
 */
export async function resetPasswordInService(
  { config, log }: CommandParts,
  email: string,
): Promise<{ readonly url: string; readonly expiresAt: Date }> {
  requireNamedDatabase(config);
  return await withStore(config, log, async (store) => {
    await migrate(store, log);
    const parts = { store, clock: systemClock, log, ids: randomUUID };
    const { token, expiresAt } = await resetPassword(parts, email);
    return { url: `${baseOfLinks(config)}/password/${token}`, expiresAt };
  });
}

function baseOfLinks({ port, publicUrl }: Pick<ServiceConfig, 'port' | 'publicUrl'>): string {
  return new ServiceAddress(publicUrl).baseUrl({ protocol: 'http', host: `localhost:${port}` });
}

/**
 * Decrypts the stored credentials, for a downgrade to the previous release, which cannot read encrypted ones.
 * Creates no database.
 *
 * @returns how many checks and locations had encrypted credentials
 * @throws VedetteError where no database is named, it is unavailable or has no tables, a replica is
 *   connected to it, or a credential cannot be decrypted
 */
export async function decryptService({ config, log }: CommandParts): Promise<number> {
  requireNamedDatabase(config);
  requireDatabaseInFolder(config);
  // With a pool of one, every other connection belongs to another process.
  return await withStore({ ...config, poolSize: 1 }, log, async (store) => {
    await requireTables(store);
    await migrate(store, log);
    const { encryptionKeys: keys, dataDir } = config;
    const isEmbedded = store.kind === 'pglite';
    const secrets = await openSecretBox({ keys, dataDir, isEmbedded, makesKey: false });
    return decryptCredentials({ store, log, secrets });
  });
}
