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
import type { Allowance } from '../accounts/allowance.ts';
import { requireCapacity } from '../accounts/capacity.ts';
import { lockAccount } from '../accounts/exports.ts';
import type { Sql, Store } from '../database/port.ts';
import { StoreError } from '../database/store-errors.ts';
import { conflict, invalid, notFound } from '../errors.ts';
import { givenFields } from '../http/resources/given-fields.ts';
import { parseBody } from '../http/resources/input-problems.ts';
import { type Page, rangeOf } from '../http/resources/paging.ts';
import { boxOf, opened, readKept } from '../secrets/secret-store.ts';
import { certificateProblems } from './certificate-problems.ts';
import {
  type CertificateKey,
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

export type CertificateInput = Readonly<Record<string, unknown>>;

/** What checks show to hosts that ask who they are. Private keys are never given back. */
export interface ClientCertificates {
  create(accountId: string, input: CertificateInput): Promise<StoredCertificate>;
  read(accountId: string, id: string): Promise<StoredCertificate>;
  /** Oldest first. */
  list(accountId: string, page: Page): Promise<readonly StoredCertificate[]>;
  /** The given fields over the stored ones; the private key stays unless there is a new one. */
  update(accountId: string, id: string, input: CertificateInput): Promise<StoredCertificate>;
  remove(accountId: string, id: string): Promise<void>;
  /** All of the account with their private keys, for its agents. Those that cannot be read are left out. */
  forAgents(sql: Sql, accountId: string): Promise<ClientCertificate[]>;
}

/** Every agent of the account is told all of them … */
const ROOM = {
  resource: 'clientCertificates',
  limit: MAX_CLIENT_CERTIFICATES,
  name: 'client certificates',
} as const;
/** … in one answer, of which checks, runs and pauses have their parts: see MAX_POLL_ANSWER_BYTES. */
const MAX_BYTES = 2 * 1024 * 1024;

/** What the service adds to one: sent back with an update, it is no change. */
const RESPONSE_ONLY = ['created_at', 'updated_at'];

export function createClientCertificates(parts: ClientCertificatesParts): ClientCertificates {
  const { store, clock, log, ids, allowance, secrets } = parts;

  const seal = ({ accountId, id }: CertificateKey, body: ClientCertificateBody): Buffer => {
    const { key, passphrase } = body;
    return boxOf(secrets).seal(
      JSON.stringify({ key, passphrase }),
      sealingContextOf(accountId, id),
    );
  };
  const unseal = (
    accountId: string,
    { id, sealedKey }: StoredCertificate,
  ): Pick<ClientCertificate, 'key' | 'passphrase'> =>
    JSON.parse(opened(secrets, sealedKey, sealingContextOf(accountId, id)));

  return {
    async create(accountId, input) {
      const body = wholeCertificate(input);
      const id = ids();
      const sealedKey = seal({ accountId, id }, body);
      return store.transaction(async (tx) => {
        await allowance.grow(tx, accountId, 'clientCertificates');
        await requireCapacity(tx, accountId, ROOM);
        const { host, cert, ca } = body;
        const fields = { accountId, id, host, cert, ca, sealedKey, atMs: clock.wallMs() };
        const created = await insertCertificate(tx, fields).catch((thrown) =>
          hostTaken(thrown, host),
        );
        await keepBytes(tx, accountId);
        return created;
      });
    },

    async read(accountId, id) {
      const found = await findCertificate(store, { accountId, id });
      if (found === null) throw notFound('client certificate');
      return found;
    },

    list(accountId, page) {
      return listCertificates(store, { accountId, ...rangeOf(page) });
    },

    update(accountId, id, input) {
      return store.transaction(async (tx) => {
        // Before the certificate, as where one is made.
        await lockAccount(tx, accountId);
        const stored = await lockCertificate(tx, { accountId, id });
        if (stored === null) throw notFound('client certificate');
        const given = givenFields(input, { fixed: { id }, responseOnly: RESPONSE_ONLY });
        const { host, cert, ca } = stored;
        // The passphrase is that of the key: a new key does not have the old one's. Nor is the old key
        // looked at: it may be what nobody can open any more.
        const key =
          given.key === undefined
            ? readKept(['body.key'], () => unseal(accountId, stored))
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
        await keepBytes(tx, accountId);
        return updated;
      });
    },

    async remove(accountId, id) {
      if (!(await deleteCertificate(store, { accountId, id }))) {
        throw notFound('client certificate');
      }
    },

    async forAgents(sql, accountId) {
      const range = { accountId, limit: MAX_CLIENT_CERTIFICATES, offset: 0 };
      const stored = await listCertificates(sql, range);
      return stored.flatMap((certificate) => {
        const { id, host, cert, ca } = certificate;
        try {
          return [{ host, cert, ca, ...unseal(accountId, certificate) }];
        } catch (error) {
          // Checks of other hosts go on; those of this one fail at the handshake, which says why.
          log.error(
            { certificateId: id, host },
            `agents are not told a client certificate: ${messageOf(error)}`,
          );
          return [];
        }
      });
    },
  };
}

/** To be called after the change, in its transaction. */
async function keepBytes(tx: Sql, accountId: string): Promise<void> {
  if ((await certificateBytes(tx, accountId)) <= MAX_BYTES) return;
  const message = `The client certificates of an account take at most ${MAX_BYTES} bytes together, with their keys; leave out what is beside the certificates, or delete some`;
  throw conflict(message, { limitBytes: MAX_BYTES });
}

function sealingContextOf(accountId: string, id: string): readonly string[] {
  return ['client_certificates', accountId, id];
}

function wholeCertificate(input: CertificateInput): ClientCertificateBody {
  const parsed = parseBody(clientCertificateSchema, input);
  if (!parsed.ok) throw invalid(parsed.problems);
  const problems = certificateProblems(parsed.value);
  if (problems.length > 0) throw invalid(problems);
  return parsed.value;
}

function hostTaken(thrown: unknown, host: string): never {
  if (thrown instanceof StoreError && thrown.code === 'STORE_UNIQUE') {
    throw conflict(`There is a client certificate for ${host} already`, { host });
  }
  throw thrown;
}
