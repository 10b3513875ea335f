import {
  filePath,
  ipAddress,
  listParser,
  network,
  oneOf,
  onOrOff,
  type ParsedNetwork,
  webOrigin,
  wholeNumber,
} from '../runtime/config/parsers.ts';
import { readVariable, refuseSlips } from '../runtime/config/read-variable.ts';
import type { Environment, Variable } from '../runtime/config/variable.ts';
import { LOG_LEVELS, type LogLevel } from '../runtime/logger.ts';
import { MAX_CONCURRENCY } from '../wire/v1/limits.ts';
import { ACCOUNT_VARIABLES } from './accounts/account-config.ts';
import { type AgentLimits, DEFAULT_AGENT_LIMITS, MAX_KNOWN_AGENTS } from './agents/agent-limits.ts';
import { AUDIT_VARIABLES } from './audit-log/audit-config.ts';
import {
  ARTIFACT_VARIABLES,
  type ArtifactsConfig,
  readArtifactsConfig,
} from './object-store/artifacts-config.ts';
import { OIDC_VARIABLES, type OidcConfig, readOidcConfig } from './oidc/oidc-config.ts';
import {
  DELIVERY_VARIABLES,
  type OutgoingConfig,
  readOutgoingConfig,
} from './outgoing/outgoing-config.ts';
import {
  OWN_HEARTBEAT_VARIABLES,
  type OwnHeartbeatConfig,
  readOwnHeartbeat,
} from './own-heartbeat/own-heartbeat-config.ts';
import {
  ROOT_CAUSE_VARIABLES,
  type RootCauseConfig,
  readRootCauseConfig,
} from './root-cause/root-cause-config.ts';
import { ENCRYPTION_KEY_VARIABLE } from './secrets/encryption-key.ts';
import {
  readSessionLimits,
  SESSION_VARIABLES,
  type SessionLimits,
} from './sessions/session-config.ts';
import {
  readSubscribeLimits,
  SUBSCRIBE_VARIABLES,
  type SubscribeLimits,
} from './status-pages/subscriptions/subscribe-limits.ts';

export interface ServiceConfig {
  /** 0..65535; 0 takes any free port. */
  readonly port: number;
  /** The address to listen on; null for all. */
  readonly host: string | null;
  /** Null for the embedded database. */
  readonly databaseUrl: string | null;
  /** The same database past a connection pooler, for LISTEN; null for `databaseUrl`. */
  readonly databaseDirectUrl: string | null;
  /** The folder of the embedded database and of artifacts; null for memory. */
  readonly dataDir: string | null;
  readonly poolSize: number;
  readonly statementTimeoutMs: number;
  readonly logLevel: LogLevel;
  readonly shutdownGraceMs: number;
  /** Requests per minute for each API key; a route may have its own limit. */
  readonly rateLimitPerMinute: number;
  /** Whether checks of all types may run every 10, 20 or 30 s; otherwise only API and TCP checks. */
  readonly allowSubMinute: boolean;
  /** How long an agent may be silent before its checks are given to others. */
  readonly leaseMs: number;
  readonly agentLimits: AgentLimits;
  /** Whole days for which results and artifacts are stored, in addition to today. */
  readonly retentionDays: number;
  /** Whole days for which roll-ups of results are stored. */
  readonly rollUpRetentionDays: number;
  /** The admin key of the first account, which is created where there is none; null for none. */
  readonly firstApiKey: string | null;
  readonly artifacts: ArtifactsConfig;
  readonly delivery: OutgoingConfig;
  /** The keys of stored secrets, the current one first; null for none. */
  readonly encryptionKeys: typeof ENCRYPTION_KEY_VARIABLE.whenUnset;
  /** The path of the file of plans; null for no limits. */
  readonly plansFile: string | null;
  /** The URL of the service from outside, without a trailing slash; null for that of each request. */
  readonly publicUrl: string | null;
  /** Further names of the service, in lower case. */
  readonly serviceHosts: readonly string[];
  /** The custom domains of status pages must be one of these or below one, in lower case; null for any. */
  readonly customDomains: readonly string[] | null;
  /** Source addresses of checks in public locations. */
  readonly staticIpv6s: readonly string[];
  readonly rootCause: RootCauseConfig;
  readonly sessions: SessionLimits;
  readonly subscribeLimits: SubscribeLimits;
  /** null: the service requests no URL each minute. */
  readonly ownHeartbeat: OwnHeartbeatConfig | null;
  readonly auditRetentionDays: number;
  /** Null for passwords only. */
  readonly oidc: OidcConfig | null;
  /** Origins whose pages may use the API with a key. */
  readonly corsOrigins: readonly string[];
  /** Networks and addresses of proxies whose X-Forwarded-For is trusted. */
  readonly trustedProxies: readonly string[];
}

/** The longest wait of Node's timers, in whole seconds: about 24 days. */
const MAX_GRACE_SECONDS = 2_147_483;
const MAX_PROXIES = 100;
const MAX_CORS_ORIGINS = 100;
const MAX_POOL = 1000;
const MAX_STATEMENT_SECONDS = 3600;
const MAX_RATE = 1_000_000;
/** Three polls fit into a lease, each long enough for a slow network. */
const MIN_LEASE_SECONDS = 3;
const MAX_LEASE_SECONDS = 3600;
const MAX_RETENTION_DAYS = 3650;
export const DEFAULT_ROLLUP_DAYS = 400;
const { perLocation: DEFAULT_AGENTS, concurrency: DEFAULT_CONCURRENCY } = DEFAULT_AGENT_LIMITS;

const variable = <Value>(row: Variable<Value>): Variable<Value> => row;

/** Every variable that the service reads. */
export const SERVICE_VARIABLES = {
  port: variable<number>({
    name: 'PORT',
    default: '8080',
    whenUnset: 8080,
    meaning: 'The port of the API. 0 chooses a free port and logs it.',
    allowed: 'a whole number from 0 to 65535',
    secret: false,
    parse: wholeNumber(0, 65_535),
  }),
  host: variable<string | null>({
    name: 'HOST',
    default: null,
    whenUnset: null,
    meaning: 'The address to listen on. Default: all addresses.',
    allowed: 'an IP address, for example 127.0.0.1 or ::',
    secret: false,
    parse: ipAddress,
  }),
  databaseUrl: variable<string | null>({
    name: 'DATABASE_URL',
    default: null,
    whenUnset: null,
    meaning: 'The PostgreSQL database; unset, the embedded one is used.',
    allowed: 'a URL like postgres://user:password@host:5432/database?sslmode=verify-full',
    secret: true,
    // The store validates it.
    parse: (text) => ({ ok: true, value: text }),
  }),
  databaseDirectUrl: variable<string | null>({
    name: 'DATABASE_DIRECT_URL',
    default: null,
    whenUnset: null,
    meaning:
      'The same database without PgBouncer or another pooler, for the one connection of each replica that listens to notifications: a pooler loses them. Unset, DATABASE_URL.',
    allowed: 'a URL as in DATABASE_URL',
    secret: true,
    // The store validates it.
    parse: (text) => ({ ok: true, value: text }),
  }),
  dataDir: variable<string | null>({
    name: 'DATA_DIR',
    default: null,
    whenUnset: null,
    meaning:
      'The folder of the embedded database and of artifacts. Without it, both are in memory and lost when the service exits.',
    allowed: 'the path of a folder',
    secret: false,
    parse: filePath,
  }),
  poolSize: variable<number>({
    name: 'DATABASE_POOL_SIZE',
    default: '10',
    whenUnset: 10,
    meaning: 'Maximum number of PostgreSQL connections of each replica.',
    allowed: `a whole number from 1 to ${MAX_POOL}`,
    secret: false,
    parse: wholeNumber(1, MAX_POOL),
  }),
  statementTimeoutSeconds: variable<number>({
    name: 'DATABASE_TIMEOUT_SECONDS',
    default: '30',
    whenUnset: 30,
    meaning: 'How long one statement may take before the database ends it.',
    allowed: `a whole number of seconds from 1 to ${MAX_STATEMENT_SECONDS}`,
    secret: false,
    parse: wholeNumber(1, MAX_STATEMENT_SECONDS),
  }),
  logLevel: variable<LogLevel>({
    name: 'LOG_LEVEL',
    default: 'info',
    whenUnset: 'info',
    meaning: 'How much is logged to stderr; debug has a line for every request.',
    allowed: `one of ${LOG_LEVELS.join(', ')}`,
    secret: false,
    parse: oneOf(LOG_LEVELS),
  }),
  shutdownGraceSeconds: variable<number>({
    name: 'SHUTDOWN_GRACE_SECONDS',
    default: '30',
    whenUnset: 30,
    meaning: 'How long requests in progress may continue after SIGTERM or SIGINT.',
    allowed: `a whole number of seconds from 0 to ${MAX_GRACE_SECONDS}`,
    secret: false,
    parse: wholeNumber(0, MAX_GRACE_SECONDS),
  }),
  rateLimitPerMinute: variable<number>({
    name: 'RATE_LIMIT_PER_MINUTE',
    default: '600',
    whenUnset: 600,
    meaning: 'Requests a minute for each API key, and for each address without one.',
    allowed: `a whole number from 1 to ${MAX_RATE}`,
    secret: false,
    parse: wholeNumber(1, MAX_RATE),
  }),
  allowSubMinute: variable<boolean>({
    name: 'ALLOW_SUBMINUTE',
    default: 'off',
    whenUnset: false,
    meaning:
      'Whether checks of all types may run every 10, 20 or 30 s. If off, only API and TCP checks may.',
    allowed: 'on or off',
    secret: false,
    parse: onOrOff,
  }),
  leaseSeconds: variable<number>({
    name: 'LEASE_SECONDS',
    default: '15',
    whenUnset: 15,
    meaning: 'How long an agent may be silent before its checks are given to others.',
    allowed: `a whole number of seconds from ${MIN_LEASE_SECONDS} to ${MAX_LEASE_SECONDS}`,
    secret: false,
    parse: wholeNumber(MIN_LEASE_SECONDS, MAX_LEASE_SECONDS),
  }),
  maxAgentsPerLocation: variable<number>({
    name: 'MAX_AGENTS_PER_LOCATION',
    default: String(DEFAULT_AGENTS),
    whenUnset: DEFAULT_AGENTS,
    meaning:
      'Maximum number of agents of a private location. The service refuses polls of further agents.',
    allowed: `a whole number from 1 to ${MAX_KNOWN_AGENTS}`,
    secret: false,
    parse: wholeNumber(1, MAX_KNOWN_AGENTS),
  }),
  maxAgentConcurrency: variable<number>({
    name: 'MAX_AGENT_CONCURRENCY',
    default: String(DEFAULT_CONCURRENCY),
    whenUnset: DEFAULT_CONCURRENCY,
    meaning: 'The maximum JOB_CONCURRENCY that counts when checks are shared among agents.',
    allowed: `a whole number from 1 to ${MAX_CONCURRENCY}`,
    secret: false,
    parse: wholeNumber(1, MAX_CONCURRENCY),
  }),
  retentionDays: variable<number>({
    name: 'RETENTION_DAYS',
    default: '30',
    whenUnset: 30,
    meaning: 'How long results and artifacts are kept.',
    allowed: `a whole number of days from 1 to ${MAX_RETENTION_DAYS}`,
    secret: false,
    parse: wholeNumber(1, MAX_RETENTION_DAYS),
  }),
  rollUpRetentionDays: variable<number>({
    name: 'ROLLUP_RETENTION_DAYS',
    default: String(DEFAULT_ROLLUP_DAYS),
    whenUnset: DEFAULT_ROLLUP_DAYS,
    meaning:
      'How long analytics keep results rolled up by hour and day; at least as long as RETENTION_DAYS.',
    allowed: `a whole number of days from 1 to ${MAX_RETENTION_DAYS}`,
    secret: false,
    parse: wholeNumber(1, MAX_RETENTION_DAYS),
  }),
  firstApiKey: variable<string | null>({
    name: 'FIRST_API_KEY',
    default: null,
    whenUnset: null,
    meaning:
      'The admin key of the first account, created if the database has no account. Ignored later.',
    allowed: 'vk_ and 32 hex digits, for example the output of: echo "vk_$(openssl rand -hex 16)"',
    secret: true,
    parse: (text) =>
      /^vk_[0-9a-f]{32}$/.test(text) ? { ok: true, value: text } : { ok: false, culprit: text },
  }),
  trustedProxies: variable<readonly ParsedNetwork[]>({
    name: 'TRUSTED_PROXIES',
    default: null,
    whenUnset: [],
    meaning: 'Proxies in front of the service whose X-Forwarded-For is trusted.',
    allowed: `a list of at most ${MAX_PROXIES} networks or addresses, separated by commas or spaces, for example 10.0.0.0/8, 192.0.2.7`,
    secret: false,
    parse: listParser(network, MAX_PROXIES),
  }),
  corsOrigins: variable<readonly string[]>({
    name: 'CORS_ORIGINS',
    default: null,
    whenUnset: [],
    meaning:
      'Origins whose pages may use the API in the browser, with an API key; cookies never count there. Unset, only pages of the service.',
    allowed: `a list of at most ${MAX_CORS_ORIGINS} origins without wildcards, separated by commas or spaces, for example https://tools.example.org`,
    secret: false,
    parse: listParser(webOrigin, MAX_CORS_ORIGINS),
  }),
  encryptionKeys: ENCRYPTION_KEY_VARIABLE,
  ...ACCOUNT_VARIABLES,
  ...SESSION_VARIABLES,
  ...AUDIT_VARIABLES,
  ...OIDC_VARIABLES,
  ...ROOT_CAUSE_VARIABLES,
  ...ARTIFACT_VARIABLES,
  ...DELIVERY_VARIABLES,
  ...SUBSCRIBE_VARIABLES,
  ...OWN_HEARTBEAT_VARIABLES,
} as const;

const OWN_NAMES: readonly string[] = Object.values(SERVICE_VARIABLES).map(({ name }) => name);
/** Names checked for typing errors. The names of proxy variables are too similar to others (FTP_PROXY, GOPROXY). */
const GUARDED_NAMES = OWN_NAMES.filter((name) => !name.endsWith('_PROXY'));

/** The rows of the table of variables in the README; a test compares them. */
export const SERVICE_ENVIRONMENT: readonly Pick<
  Variable<unknown>,
  'name' | 'default' | 'meaning' | 'allowed' | 'secret'
>[] = Object.values(SERVICE_VARIABLES);

/** For commands that work only on the database. */
const { databaseUrl, dataDir, statementTimeoutSeconds, logLevel, publicUrl, port } =
  SERVICE_VARIABLES;
const NAMED_DATABASE = [
  { ...databaseUrl, meaning: 'The PostgreSQL database of the service.' },
  { ...dataDir, meaning: 'Where DATABASE_URL is unset: the folder of the embedded database.' },
] as const;

/** The variables of the artifact store. */
const ARTIFACT_STORE = [
  SERVICE_VARIABLES.s3Bucket,
  SERVICE_VARIABLES.s3Prefix,
  SERVICE_VARIABLES.s3Region,
  SERVICE_VARIABLES.s3Endpoint,
  SERVICE_VARIABLES.s3AccessKeyId,
  SERVICE_VARIABLES.s3SecretAccessKey,
  SERVICE_VARIABLES.s3ForcePathStyle,
  { ...SERVICE_VARIABLES.httpsProxy, meaning: 'The proxy to a bucket by https.' },
  { ...SERVICE_VARIABLES.httpProxy, meaning: 'The proxy to a bucket by http.' },
  SERVICE_VARIABLES.noProxy,
] as const;

/** The variables of maintenance commands. One of the first two must be set. */
export const MAINTENANCE_ENVIRONMENT = {
  migrate: [...NAMED_DATABASE, statementTimeoutSeconds, logLevel],
  account: [...NAMED_DATABASE, statementTimeoutSeconds, logLevel],
  accountRemoval: [
    NAMED_DATABASE[0],
    {
      ...dataDir,
      meaning: 'The folder of the embedded database, and of artifacts without a bucket.',
    },
    ...ARTIFACT_STORE,
    {
      ...SERVICE_VARIABLES.oidcAccount,
      meaning: 'The account that users of OpenID Connect join: it cannot be removed.',
    },
    statementTimeoutSeconds,
    logLevel,
  ],
  user: [
    ...NAMED_DATABASE,
    { ...publicUrl, meaning: 'The base of the link. Unset, localhost with PORT.' },
    { ...port, meaning: 'The port of the link without PUBLIC_URL.' },
    statementTimeoutSeconds,
    logLevel,
  ],
  decrypt: [
    ...NAMED_DATABASE,
    {
      ...ENCRYPTION_KEY_VARIABLE,
      meaning:
        'The keys that encrypted the credentials, separated by commas; those of DATA_DIR/encryption-key are read, too.',
    },
    statementTimeoutSeconds,
    logLevel,
  ],
} as const satisfies Readonly<
  Record<string, readonly Pick<Variable<unknown>, 'name' | 'default' | 'meaning'>[]>
>;

/**
 * Reads the configuration of the service. Empty values count as unset, as compose files write them.
 *
 * @throws VedetteError of kind `config` and code CONFIG_INVALID or CONFIG_UNKNOWN, with one line
 *   that names the variable, its value (unless secret) and what is allowed
 */
export function loadServiceConfig(env: Environment): ServiceConfig {
  refuseSlips(env, GUARDED_NAMES, OWN_NAMES);
  const variables = SERVICE_VARIABLES;
  return {
    port: readVariable(env, variables.port),
    host: readVariable(env, variables.host),
    databaseUrl: readVariable(env, variables.databaseUrl),
    databaseDirectUrl: readVariable(env, variables.databaseDirectUrl),
    dataDir: readVariable(env, variables.dataDir),
    poolSize: readVariable(env, variables.poolSize),
    statementTimeoutMs: readVariable(env, variables.statementTimeoutSeconds) * 1000,
    logLevel: readVariable(env, variables.logLevel),
    shutdownGraceMs: readVariable(env, variables.shutdownGraceSeconds) * 1000,
    rateLimitPerMinute: readVariable(env, variables.rateLimitPerMinute),
    allowSubMinute: readVariable(env, variables.allowSubMinute),
    leaseMs: readVariable(env, variables.leaseSeconds) * 1000,
    agentLimits: {
      perLocation: readVariable(env, variables.maxAgentsPerLocation),
      concurrency: readVariable(env, variables.maxAgentConcurrency),
    },
    retentionDays: readVariable(env, variables.retentionDays),
    rollUpRetentionDays: readVariable(env, variables.rollUpRetentionDays),
    firstApiKey: readVariable(env, variables.firstApiKey),
    encryptionKeys: readVariable(env, variables.encryptionKeys),
    publicUrl: readVariable(env, variables.publicUrl),
    serviceHosts: readVariable(env, variables.serviceHosts),
    customDomains: readVariable(env, variables.customDomains),
    plansFile: readVariable(env, variables.plansFile),
    staticIpv6s: readVariable(env, variables.staticIpv6s),
    rootCause: readRootCauseConfig(env),
    sessions: readSessionLimits(env),
    auditRetentionDays: readVariable(env, variables.auditRetentionDays),
    oidc: readOidcConfig(env, readVariable(env, variables.publicUrl)),
    artifacts: readArtifactsConfig(env),
    delivery: readOutgoingConfig(env),
    subscribeLimits: readSubscribeLimits(env),
    ownHeartbeat: readOwnHeartbeat(env),
    corsOrigins: readVariable(env, variables.corsOrigins),
    trustedProxies: readVariable(env, variables.trustedProxies).map(({ text }) => text),
  };
}
