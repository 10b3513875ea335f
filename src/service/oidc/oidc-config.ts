import { isIP } from 'node:net';
import { ROLES } from '../../model/enums.ts';
import { HOUR_MS } from '../../model/time-units.ts';
import type { Parsed } from '../../runtime/config/parsers.ts';
import { baseUrl, wholeNumber } from '../../runtime/config/parsers.ts';
import { readVariable, textOf } from '../../runtime/config/read-variable.ts';
import type { Environment, Variable } from '../../runtime/config/variable.ts';
import { VedetteError } from '../../runtime/errors.ts';
import type { GroupRole } from './group-roles.ts';

export interface OidcConfig {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly groupsClaim: string;
  readonly scopes: string;
  readonly groupRoles: readonly GroupRole[];
  /** The id of the account that users join; null for the oldest. */
  readonly accountId: string | null;
  /** Maximum duration of a session after the sign-in at the provider. */
  readonly sessionMaxMs: number;
}

const MAX_GROUPS = 1_000;
const DEFAULT_SCOPES = 'openid email profile';
const SESSION_HOURS = 24;
const MAX_SESSION_HOURS = 24 * 365;

const variable = <Value>(row: Variable<Value>): Variable<Value> => row;
const anyText = (text: string): Parsed<string> => ({ ok: true, value: text });

/** Signing in at an OpenID Connect provider. */
export const OIDC_VARIABLES = {
  oidcIssuer: variable<string | null>({
    name: 'OIDC_ISSUER',
    default: null,
    whenUnset: null,
    meaning:
      'The OpenID Connect provider at which users sign in. Needs PUBLIC_URL, below which the redirect URI is `/oidc/callback`. Unset: passwords only.',
    allowed:
      'an https URL, for example https://login.example.org/realms/main; http on loopback only',
    secret: false,
    parse: issuerUrl,
  }),
  oidcClientId: variable<string | null>({
    name: 'OIDC_CLIENT_ID',
    default: null,
    whenUnset: null,
    meaning: 'The client that is registered at the provider for the service.',
    allowed: 'the id of a client',
    secret: false,
    parse: anyText,
  }),
  oidcClientSecret: variable<string | null>({
    name: 'OIDC_CLIENT_SECRET',
    default: null,
    whenUnset: null,
    meaning: 'The secret of OIDC_CLIENT_ID.',
    allowed: 'the secret of a client',
    secret: true,
    parse: anyText,
  }),
  oidcRoleMap: variable<readonly GroupRole[]>({
    name: 'OIDC_ROLE_MAP',
    default: null,
    whenUnset: [],
    meaning:
      'The role of each group of the provider; `*` matches all of its users. A user in several groups has the highest role; a user in none of them cannot sign in.',
    allowed: `a list of at most ${MAX_GROUPS} groups with = and one of ${ROLES.join(', ')}, separated by commas, for example monitoring=admin, developers=write, *=read`,
    secret: false,
    parse: roleMap,
  }),
  oidcGroupsClaim: variable<string>({
    name: 'OIDC_GROUPS_CLAIM',
    default: 'groups',
    whenUnset: 'groups',
    meaning: 'The claim with the groups of a user: a text or a list of texts.',
    allowed: 'the name of a claim',
    secret: false,
    parse: anyText,
  }),
  oidcScopes: variable<string>({
    name: 'OIDC_SCOPES',
    default: DEFAULT_SCOPES,
    whenUnset: DEFAULT_SCOPES,
    meaning: 'The scopes to request; some providers need one for the groups.',
    allowed: 'names separated by spaces, openid among them',
    secret: false,
    parse: (text) =>
      text.split(' ').includes('openid') ? { ok: true, value: text } : { ok: false, culprit: text },
  }),
  oidcAccount: variable<string | null>({
    name: 'OIDC_ACCOUNT',
    default: null,
    whenUnset: null,
    meaning: 'The account in which users of the provider have their role. Default: the oldest.',
    allowed: 'the id of an account',
    secret: false,
    parse: anyText,
  }),
  oidcSessionMaxHours: variable<number>({
    name: 'OIDC_SESSION_MAX_HOURS',
    default: String(SESSION_HOURS),
    whenUnset: SESSION_HOURS,
    meaning:
      'How long a session of a user of the provider lasts after the sign-in; SESSION_MAX_DAYS applies if that is less. A user whom the provider disables stays signed in for at most this time.',
    allowed: `a whole number of hours from 1 to ${MAX_SESSION_HOURS}`,
    secret: false,
    parse: wholeNumber(1, MAX_SESSION_HOURS),
  }),
} as const;

/**
 * @param publicUrl PUBLIC_URL
 * @returns null if no provider is set
 * @throws VedetteError of kind `config` and code CONFIG_INVALID: an invalid value, or one that needs
 *   another
 */
export function readOidcConfig(env: Environment, publicUrl: string | null): OidcConfig | null {
  const rows = OIDC_VARIABLES;
  const issuer = readVariable(env, rows.oidcIssuer);
  const clientId = readVariable(env, rows.oidcClientId);
  const clientSecret = readVariable(env, rows.oidcClientSecret);
  const config = {
    groupsClaim: readVariable(env, rows.oidcGroupsClaim),
    scopes: readVariable(env, rows.oidcScopes),
    groupRoles: readVariable(env, rows.oidcRoleMap),
    accountId: readVariable(env, rows.oidcAccount),
    sessionMaxMs: readVariable(env, rows.oidcSessionMaxHours) * HOUR_MS,
  };
  if (issuer === null) {
    const other = Object.values(rows).find(({ name }) => textOf(env, name) !== null);
    if (other === undefined) return null;
    throw invalid(
      `${other.name} is set and OIDC_ISSUER is not: set OIDC_ISSUER, or unset ${other.name}`,
    );
  }
  if (clientId === null) throw missing(rows.oidcClientId.name);
  if (clientSecret === null) throw missing(rows.oidcClientSecret.name);
  if (config.groupRoles.length === 0) throw missing(rows.oidcRoleMap.name);
  // The redirect URI must be the registered one, and a Host header can be forged.
  if (publicUrl === null) throw missing('PUBLIC_URL');
  return { issuer, clientId, clientSecret, ...config };
}

function issuerUrl(text: string): Parsed<string> {
  const parsed = baseUrl(text);
  if (!parsed.ok) return parsed;
  const { protocol, hostname } = new URL(parsed.value);
  const host = hostname.replace(/^\[|\]$/g, '');
  const isLoopback =
    host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
  // Issuers are compared as texts, including a slash at the end.
  return protocol === 'https:' || isLoopback
    ? { ok: true, value: text }
    : { ok: false, culprit: text };
}

/** Parses OIDC_ROLE_MAP. A group with a comma such as `cn=ops,dc=a` cannot be named; it needs another claim. */
function roleMap(text: string): Parsed<readonly GroupRole[]> {
  const entries = text.split(',').map((each) => each.trim());
  const found: GroupRole[] = [];
  for (const entry of entries.filter((each) => each !== '')) {
    const at = entry.lastIndexOf('=');
    const group = entry.slice(0, at).trim();
    const role = ROLES.find((each) => each === entry.slice(at + 1).trim());
    if (at < 0 || group === '' || role === undefined) return { ok: false, culprit: entry };
    found.push({ group, role });
  }
  return found.length > 0 && found.length <= MAX_GROUPS
    ? { ok: true, value: found }
    : { ok: false, culprit: text };
}

function missing(name: string): VedetteError {
  return invalid(`OIDC_ISSUER is set and ${name} is not: set ${name}, or unset OIDC_ISSUER`);
}

function invalid(message: string): VedetteError {
  return new VedetteError('config', 'CONFIG_INVALID', message);
}
