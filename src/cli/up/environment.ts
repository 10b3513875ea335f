import { join } from 'node:path';
import { loadConfig } from '../../agent/config/agent-config.ts';
import { VARIABLES } from '../../agent/config/variables.ts';
import { readVariable, textOf } from '../../runtime/config/read-variable.ts';
import type { Environment, Variable } from '../../runtime/config/variable.ts';
import type { LogLevel } from '../../runtime/logger.ts';
import { loadServiceConfig, SERVICE_ENVIRONMENT, SERVICE_VARIABLES } from '../../service/config.ts';
import { SUPERVISED } from './parent-watch.ts';

/** Reachable only from this machine unless the user chooses another address. */
const STANDARD_HOST = '127.0.0.1';
/** The log is printed among the results. */
const STANDARD_LOG_LEVEL: LogLevel = 'warn';
/** `up` gives the service each check of the file, and asks for a run of each, as fast as it can. */
const STANDARD_RATE_LIMIT = '1000000';

type Row = Pick<Variable<unknown>, 'name' | 'default' | 'meaning' | 'allowed' | 'secret'>;

/** The variables that matter most to `vedette up`; it passes on all others, too. */
export const UP_ENVIRONMENT: readonly Row[] = [
  SERVICE_VARIABLES.port,
  {
    ...SERVICE_VARIABLES.host,
    default: STANDARD_HOST,
    meaning: 'The address that the API listens on.',
  },
  VARIABLES.healthPort,
  VARIABLES.healthHost,
  SERVICE_VARIABLES.databaseUrl,
  { ...VARIABLES.logLevel, default: STANDARD_LOG_LEVEL },
  VARIABLES.shutdownGraceSeconds,
];

/** Variables that `up` sets itself; it does not pass on the user's values. */
const OWN: readonly string[] = [
  'SERVICE_URL',
  'API_KEY',
  'API_KEY_FILE',
  'DATA_DIR',
  'CHECKS_FILE',
  'FIRST_API_KEY',
];
/** Variables that the agent does not read and does not get, such as DATABASE_URL with its password. */
const FOR_THE_SERVICE_ALONE: readonly string[] = SERVICE_ENVIRONMENT.map(({ name }) => name).filter(
  (name) => !Object.values(VARIABLES).some((variable) => variable.name === name),
);

const NO_PROXY = VARIABLES.noProxy.name;
const NO_PROXY_NAMES = [NO_PROXY, NO_PROXY.toLowerCase()];

/** The folders and the file in which `up` saves what it needs at the next start. */
export interface UpFolders {
  readonly service: string;
  readonly agent: string;
  readonly state: string;
  /** What `--open` opens. */
  readonly openedPage: string;
}

export function foldersIn(dataDir: string): UpFolders {
  return {
    service: join(dataDir, 'service'),
    agent: join(dataDir, 'agent'),
    state: join(dataDir, 'up.json'),
    openedPage: join(dataDir, 'open.html'),
  };
}

export interface UpConfig {
  /** An IP address. */
  readonly host: string;
  /** The address at which the agent's health port is reached. */
  readonly healthHost: string;
  readonly logLevel: LogLevel;
  /** How long stopping may take: the grace periods of both processes and a margin. */
  readonly graceMs: number;
  serviceEnvironment(apiKey: string, port: number | null): Environment;
  agentEnvironment(serviceUrl: URL, key: string, healthPort: number | null): Environment;
}

/** For the end of the processes after their grace periods. */
const MORE_GRACE_MS = 30_000;
const SOME_API_KEY = `vk_${'0'.repeat(32)}`;
const SOME_LOCATION_KEY = `pl_${'0'.repeat(32)}`;

/**
 * Reads what both processes will read: an invalid variable is reported before either starts.
 *
 * @throws VedetteError like loadConfig and loadServiceConfig
 */
export function loadUpConfig(env: Environment, folders: UpFolders): UpConfig {
  const passed = without(env, OWN);
  const common: Environment = {
    ...passed,
    LOG_LEVEL: textOf(env, 'LOG_LEVEL') ?? STANDARD_LOG_LEVEL,
    [SUPERVISED]: '1',
  };
  const serviceEnvironment: UpConfig['serviceEnvironment'] = (apiKey, port) => ({
    ...common,
    HOST: textOf(env, 'HOST') ?? STANDARD_HOST,
    RATE_LIMIT_PER_MINUTE: textOf(env, 'RATE_LIMIT_PER_MINUTE') ?? STANDARD_RATE_LIMIT,
    ...(port === null ? {} : { PORT: String(port) }),
    DATA_DIR: folders.service,
    FIRST_API_KEY: apiKey,
  });
  // Templates may use any variable that the operator names, even one of the service.
  const named = readVariable(env, VARIABLES.variablesFromEnv);
  const unread = FOR_THE_SERVICE_ALONE.filter((name) => !named.includes(name));
  const agentEnvironment: UpConfig['agentEnvironment'] = (serviceUrl, key, healthPort) => ({
    ...without(common, [...unread, ...NO_PROXY_NAMES]),
    [NO_PROXY]: noProxyFor(serviceUrl, env),
    ...(healthPort === null ? {} : { AGENT_HEALTH_PORT: String(healthPort) }),
    SERVICE_URL: serviceUrl.href,
    API_KEY: key,
    DATA_DIR: folders.agent,
  });

  const service = loadServiceConfig(serviceEnvironment(SOME_API_KEY, null));
  const agent = loadConfig(
    agentEnvironment(new URL(`http://${STANDARD_HOST}`), SOME_LOCATION_KEY, null),
  );
  return {
    host: service.host ?? STANDARD_HOST,
    healthHost: agent.healthHost ?? STANDARD_HOST,
    logLevel: readVariable(common, VARIABLES.logLevel),
    graceMs: service.shutdownGraceMs + agent.shutdownGraceMs + MORE_GRACE_MS,
    serviceEnvironment,
    agentEnvironment,
  };
}

/** The service is local: through a proxy, a loopback address would mean the proxy's machine. */
function noProxyFor({ hostname }: URL, env: Environment): string {
  const given = NO_PROXY_NAMES.flatMap((name) => textOf(env, name) ?? []);
  return [...given, hostname].join(',');
}

/** The URL for a process of this machine. */
export function urlOf(host: string, port: number): URL {
  const reached = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host;
  return new URL(`http://${reached.includes(':') ? `[${reached}]` : reached}:${port}/`);
}

function without(env: Environment, names: readonly string[]): Environment {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !names.includes(name)));
}
