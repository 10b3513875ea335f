import type { AccountKey } from '../database/account-key.ts';
import { readList } from '../database/lists/lists.ts';
import type { AccountRange } from '../database/lists/page-entries.ts';
import type { Sql } from '../database/store.ts';
import { StoreError } from '../database/store-errors.ts';

export type StoredCertificate = {
  readonly id: string;
  readonly host: string;
  readonly cert: string;
  readonly ca: string | null;
  /** The private key and its passphrase, encrypted. */
  readonly sealedKey: Buffer;
  readonly createdAt: Date;
  /** null until the first update. */
  readonly updatedAt: Date | null;
};

const COLUMNS = 'id, host, cert, ca, sealed_key, created_at, updated_at';

type CertificateFields = AccountKey &
  Pick<StoredCertificate, 'host' | 'cert' | 'ca' | 'sealedKey'> & { readonly atMs: number };

const valuesOf = (fields: CertificateFields): readonly unknown[] => [
  fields.accountId,
  fields.id,
  fields.host,
  fields.cert,
  fields.ca,
  fields.sealedKey,
  new Date(fields.atMs),
];

/** @throws StoreError `conflict` where the account has a certificate for that host */
export async function insertCertificate(
  sql: Sql,
  fields: CertificateFields,
): Promise<StoredCertificate> {
  const rows = await sql.query<StoredCertificate>(
    `insert into client_certificates (account_id, id, host, cert, ca, sealed_key, created_at)
     values ($1, $2, $3, $4, $5, $6::bytea, $7::timestamptz) returning ${COLUMNS}`,
    valuesOf(fields),
  );
  return one(rows);
}

/**
 * Updates a certificate that `lockCertificate` has locked.
 *
 * @throws StoreError `conflict` where the account has another one for that host
 */
export async function updateCertificate(
  sql: Sql,
  fields: CertificateFields,
): Promise<StoredCertificate> {
  const rows = await sql.query<StoredCertificate>(
    `update client_certificates
     set host = $3, cert = $4, ca = $5, sealed_key = $6::bytea, updated_at = greatest($7::timestamptz, updated_at + interval '1 millisecond')
     where account_id = $1 and id = $2 returning ${COLUMNS}`,
    valuesOf(fields),
  );
  return one(rows);
}

export async function findCertificate(
  sql: Sql,
  key: AccountKey,
): Promise<StoredCertificate | null> {
  return readCertificate(sql, key, '');
}

/** Locks the certificate until the transaction ends. */
export async function lockCertificate(
  sql: Sql,
  key: AccountKey,
): Promise<StoredCertificate | null> {
  return readCertificate(sql, key, 'for update');
}

async function readCertificate(
  sql: Sql,
  { accountId, id }: AccountKey,
  lock: '' | 'for update',
): Promise<StoredCertificate | null> {
  const [certificate] = await sql.query<StoredCertificate>(
    `select ${COLUMNS} from client_certificates where account_id = $1 and id = $2 ${lock}`,
    [accountId, id],
  );
  return certificate ?? null;
}

/** Oldest first. */
export function listCertificates(
  sql: Sql,
  { accountId, ...range }: AccountRange,
): Promise<readonly StoredCertificate[]> {
  const list = {
    columns: COLUMNS,
    from: 'client_certificates',
    where: 'account_id = $1',
    params: [accountId],
    order: 'created_at, id',
  };
  return readList<StoredCertificate>(sql, list, range);
}

/** @returns whether there was one */
export async function deleteCertificate(sql: Sql, { accountId, id }: AccountKey): Promise<void> {
  await sql.query('delete from client_certificates where account_id = $1 and id = $2', [
    accountId,
    id,
  ]);
}

/** The size of an account's certificates as JSON, with their keys. */
export async function certificateBytes(sql: Sql, accountId: string): Promise<number> {
  const [row] = await sql.query<{ bytes: number }>(
    `select coalesce(sum(octet_length(to_json(cert)::text) + octet_length(sealed_key)
       + coalesce(octet_length(to_json(ca)::text), 0)), 0)::bigint as bytes
     from client_certificates where account_id = $1`,
    [accountId],
  );
  return row?.bytes ?? 0;
}

function one([certificate]: readonly StoredCertificate[]): StoredCertificate {
  if (certificate !== undefined) return certificate;
  const message = 'a statement that writes client certificates returned no row';
  throw new StoreError('internal', 'STORE_STATEMENT', message);
}
