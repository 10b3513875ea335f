import {
  type ClientCertificate,
  type ClientCertificateBody,
  clientCertificateSchema,
} from '../../model/check/client-certificate.ts';
import type { Clock } from '../../runtime/clock.ts';
import { messageOf } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { SecretBox } from '../../runtime/secret-box.ts';
import { MAX_CLIENT_CERTIFICATES } from '../../wire/v1/limits.ts';
import { type Allowance, requireCapacity } from '../accounts/allowance.ts';
import { lockAccount } from '../accounts/shared.sql.ts';
import type { AccountKey } from '../database/account-key.ts';
import type { Sql, Store } from '../database/store.ts';
import { StoreError } from '../database/store-errors.ts';
import { conflict, invalid, notFound } from '../errors.ts';
import type { Precondition } from '../http/resources/etag.ts';
import { givenFields, type RawBody } from '../http/resources/given-fields.ts';
import { validBody } from '../http/resources/input-problems.ts';
import { type Page, rangeOf } from '../http/resources/paging.ts';
import { decryptSecret, readRetained, requireSecretBox } from '../secrets/secret-store.ts';
import { certificateProblems } from './certificate-problems.ts';
import {
  certificateBytes,
  deleteCertificate,
  findCertificate,
  insertCertificate,
  listCertificates,
  lockCertificate,
  type StoredCertificate,
  updateCertificate,
} from './sql.ts';

export type { StoredCertificate } from './sql.ts';

export interface ClientCertificatesParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** Makes a UUID. */
  readonly ids: () => string;
  readonly allowance: Allowance;
  /** null: no private key can be stored. */
  readonly secrets: SecretBox | null;
}

/** Certificates that checks present to hosts. Responses never contain a private key. */
export interface ClientCertificates {
  create(accountId: string, input: RawBody): Promise<StoredCertificate>;
  read(key: AccountKey): Promise<StoredCertificate>;
  /** Oldest first. */
  list(accountId: string, page: Page): Promise<readonly StoredCertificate[]>;
  /** Replaces the given fields. Without a new private key the stored one is kept. */
  update(
    key: AccountKey,
    input: RawBody,
    precondition?: Precondition<StoredCertificate>,
  ): Promise<StoredCertificate>;
  remove(key: AccountKey, precondition?: Precondition<StoredCertificate>): Promise<void>;
  /** The account's certificates with their private keys, except those that cannot be decrypted. */
  forAgents(sql: Sql, accountId: string): Promise<ClientCertificate[]>;
}

/** Every agent of the account gets all certificates … */
const CAPACITY = {
  resource: 'clientCertificates',
  limit: MAX_CLIENT_CERTIFICATES,
  name: 'client certificates',
} as const;
/** … in one answer, which also contains checks, runs and pauses: see MAX_POLL_ANSWER_BYTES. */
const MAX_BYTES = 2 * 1024 * 1024;

/** Ignored in an update. */
const RESPONSE_ONLY = ['created_at', 'updated_at'];

export function createClientCertificates(parts: ClientCertificatesParts): ClientCertificates {
  const { store, clock, log, ids, allowance, secrets } = parts;

  const seal = ({ accountId, id }: AccountKey, body: ClientCertificateBody): Buffer => {
    const { key, passphrase } = body;
    return requireSecretBox(secrets).seal(
      JSON.stringify({ key, passphrase }),
      sealingContextOf({ accountId, id }),
    );
  };
  const unseal = (
    accountId: string,
    { id, sealedKey }: StoredCertificate,
  ): Pick<ClientCertificate, 'key' | 'passphrase'> =>
    JSON.parse(decryptSecret(secrets, sealedKey, sealingContextOf({ accountId, id })));

  return {
    async create(accountId, input) {
      const body = wholeCertificate(input);
      const id = ids();
      const sealedKey = seal({ accountId, id }, body);
      return store.transaction(async (tx) => {
        await allowance.grow(tx, accountId, 'clientCertificates');
        await requireCapacity(tx, accountId, CAPACITY);
        const { host, cert, ca } = body;
        const fields = { accountId, id, host, cert, ca, sealedKey, atMs: clock.wallMs() };
        const created = await insertCertificate(tx, fields).catch((thrown) =>
          hostTaken(thrown, host),
        );
        await requireBytes(tx, accountId);
        return created;
      });
    },

    async read(key) {
      const found = await findCertificate(store, key);
      if (found === null) throw notFound('client certificate');
      return found;
    },

    list(accountId, page) {
      return listCertificates(store, { accountId, ...rangeOf(page) });
    },

    update({ accountId, id }, input, precondition) {
      return store.transaction(async (tx) => {
        // Locks the account before the certificate, in the same order as `create`.
        await lockAccount(tx, accountId);
        const stored = await lockCertificate(tx, { accountId, id });
        if (stored === null) throw notFound('client certificate');
        precondition?.(stored);
        const given = givenFields(input, { fixed: { id }, responseOnly: RESPONSE_ONLY });
        const { host, cert, ca } = stored;
        // The passphrase belongs to the key: a new key does not keep the old passphrase. Does not decrypt the old
        // key in this case, since that may be impossible.
        const key =
          given.key === undefined
            ? readRetained(['body.key'], () => unseal(accountId, stored))
            : { passphrase: null };
        const body = wholeCertificate({ host, cert, ca, ...key, ...given });
        const updated = await updateCertificate(tx, {
          accountId,
          id,
          host: body.host,
          cert: body.cert,
          ca: body.ca,
          sealedKey: seal({ accountId, id }, body),
          atMs: clock.wallMs(),
        }).catch((thrown) => hostTaken(thrown, body.host));
        await requireBytes(tx, accountId);
        return updated;
      });
    },

    async remove(key, precondition) {
      await store.transaction(async (tx) => {
        const stored = await lockCertificate(tx, key);
        if (stored === null) throw notFound('client certificate');
        precondition?.(stored);
        await deleteCertificate(tx, key);
      });
    },

    async forAgents(sql, accountId) {
      const range = { accountId, limit: MAX_CLIENT_CERTIFICATES, offset: 0 };
      const stored = await listCertificates(sql, range);
      return stored.flatMap((certificate) => {
        const { id, host, cert, ca } = certificate;
        try {
          return [{ host, cert, ca, ...unseal(accountId, certificate) }];
        } catch (error) {
          // Checks of this host fail at the handshake; others are not affected.
          const text = `a client certificate is not sent to agents: ${messageOf(error)}`;
          log.error({ certificateId: id, host }, text);
          return [];
        }
      });
    },
  };
}

/** Call it after the change, in its transaction. */
async function requireBytes(tx: Sql, accountId: string): Promise<void> {
  if ((await certificateBytes(tx, accountId)) <= MAX_BYTES) return;
  const message = `The client certificates of an account have at most ${MAX_BYTES} bytes in total, with their keys; remove other text from the PEM files, or delete some`;
  throw conflict(message, { limitBytes: MAX_BYTES });
}

function sealingContextOf({ accountId, id }: AccountKey): readonly string[] {
  return ['client_certificates', accountId, id];
}

function wholeCertificate(input: RawBody): ClientCertificateBody {
  const certificate = validBody(clientCertificateSchema, input);
  const problems = certificateProblems(certificate);
  if (problems.length > 0) throw invalid(problems);
  return certificate;
}

function hostTaken(thrown: unknown, host: string): never {
  if (thrown instanceof StoreError && thrown.code === 'STORE_UNIQUE') {
    throw conflict(`There is a client certificate for ${host} already`, { host });
  }
  throw thrown;
}
