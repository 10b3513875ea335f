import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { messageOf, VedetteError } from '../../../runtime/errors.ts';

export interface PostgresAddress {
  /**
   * Without the parameters in `ssl` and `options`, and without an application_name, by which
   * replicas identify each other.
   */
  readonly connectionString: string;
  readonly ssl: false | ConnectionOptions;
  /** Session settings from the URL (`-c name=value`), or empty. */
  readonly options: string;
}

const SSL_PARAMS = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey'] as const;
type SslParam = (typeof SSL_PARAMS)[number];

/**
 * Parses a `postgres://` or `postgresql://` URL. TLS is as in libpq (PostgreSQL manual 34.19):
 * `disable`, the default; `require`, which encrypts and verifies nothing unless `sslrootcert` is
 * given; `verify-ca`; `verify-full`, which also verifies the name. `sslrootcert=system`, or none with
 * the last two, uses the authorities that Node trusts.
 *
 * @throws VedetteError `config`, which never shows the URL: it contains a password
 */
export function readPostgresUrl(databaseUrl: string): PostgresAddress {
  const url = parse(databaseUrl);
  const given: Partial<Record<SslParam, string>> = {};
  for (const name of SSL_PARAMS) {
    const value = url.searchParams.get(name);
    if (value !== null && value !== '') given[name] = value;
    url.searchParams.delete(name);
  }
  const options = url.searchParams.get('options') ?? '';
  url.searchParams.delete('options');
  url.searchParams.delete('application_name');
  return { connectionString: url.href, ssl: sslOf(given), options };
}

function parse(databaseUrl: string): URL {
  // A socket's folder is given by ?host=, but the URL standard does not allow a user without a host.
  const withHost = databaseUrl.replace(/@\/(?=.*[?&]host=)/, '@localhost/');
  const url = URL.canParse(withHost) ? new URL(withHost) : null;
  if (url?.protocol === 'postgres:' || url?.protocol === 'postgresql:') return url;
  throw misconfigured(
    'is not a PostgreSQL address: write postgres://user:password@host:5432/database, special characters of the password as %XX',
  );
}

function sslOf(given: Partial<Record<SslParam, string>>): false | ConnectionOptions {
  const { sslmode = 'disable', sslrootcert, sslcert, sslkey } = given;
  const ca = sslrootcert === undefined || sslrootcert === 'system' ? {} : { ca: pem(sslrootcert) };
  const own = {
    ...(sslcert === undefined ? {} : { cert: pem(sslcert) }),
    ...(sslkey === undefined ? {} : { key: pem(sslkey) }),
  };
  switch (sslmode) {
    case 'disable':
      return false;
    case 'require':
      return sslrootcert === undefined
        ? { ...own, rejectUnauthorized: false }
        : { ...own, ...ca, checkServerIdentity: () => undefined };
    case 'verify-ca':
      return { ...own, ...ca, checkServerIdentity: () => undefined };
    case 'verify-full':
      return { ...own, ...ca };
    default:
      throw misconfigured(
        'has a sslmode that is none of disable, require, verify-ca and verify-full (allow and prefer would fall back to plain text)',
      );
  }
}

function pem(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw misconfigured(`names a file for TLS that cannot be read: ${messageOf(error)}`);
  }
}

function misconfigured(what: string): VedetteError {
  return new VedetteError('config', 'STORE_URL_INVALID', `DATABASE_URL ${what}`);
}
