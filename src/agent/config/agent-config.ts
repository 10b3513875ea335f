import { DAY_MS } from '../../model/time-units.ts';
import { readVariable, refuseSlips, textOf } from '../../runtime/config/read-variable.ts';
import type { Environment, Variable } from '../../runtime/config/variable.ts';
import { VedetteError } from '../../runtime/errors.ts';
import type { LogLevel } from '../../runtime/logger.ts';
import type { Network } from '../../runtime/net/address-guard.ts';
import type { Proxies } from '../../runtime/net/proxy/choose-proxy.ts';
import { readProxies } from '../../runtime/net/proxy/proxy-variables.ts';
import { quoted } from '../../runtime/text/quoted.ts';
import type { EvidenceMode } from '../evidence/evidence-budget.ts';
import type { ConnectivityTarget } from '../run/connectivity.ts';
import { readCaFile } from './extra-ca-certs.ts';
import { fixedKey, type KeySource, keyFile } from './key-source.ts';
import { type OperatorVariables, readableFolder, readFromEnv } from './operator-variables.ts';
import { type OtlpConfig, readOtlp } from './otlp.ts';
import type { TargetsFrom } from './targets-from.ts';
import { targetsByName } from './variable-targets.ts';
import { VARIABLES } from './variables.ts';

export type { Environment };

/** The configuration for running checks, with or without the daemon. */
export interface RunConfig {
  /** Maximum number of working runs, 1..1000. */
  readonly concurrency: number;
  readonly connectivityTargets: readonly ConnectivityTarget[];
  readonly deniedNetworks: readonly Network[];
  readonly logLevel: LogLevel;
  /** The certificates of NODE_EXTRA_CA_CERTS, which Node itself trusts already; null for none. */
  readonly extraRootsPem: string | null;
  /** The agent's own variables for templates of checks. */
  readonly operatorVariables: OperatorVariables;
  /** Whether scripts of checks run. */
  readonly executeScripts: boolean;
  /** Maximum number of scripts that run at once, 1..64. */
  readonly scriptWorkers: number;
}

export interface DaemonConfig extends RunConfig {
  /** 0..65535; 0 takes any free port. */
  readonly healthPort: number;
  /** null: all addresses. */
  readonly healthHost: string | null;
  /** Tags in labels of metrics; see labelChecks. */
  readonly metricTags: readonly string[];
  /** Whether `/probe` is served. */
  readonly probeEndpoint: boolean;
  /** null: no export. */
  readonly otlp: OtlpConfig | null;
  readonly externalObservability: boolean;
  /** Whether network failures are traced and captured. */
  readonly evidence: EvidenceMode;
  readonly shutdownGraceMs: number;
}

/** Stand-alone: checks from a file, results to stdout. */
export interface FileWork {
  readonly kind: 'file';
  readonly checksFile: string;
  /** Checks whose targets come from documents, and the proxies to fetch them; null: none. */
  readonly discovery: {
    readonly rules: readonly TargetsFrom[];
    readonly proxies: Proxies;
  } | null;
}

/** With a service: it sends the checks, and results wait for it in the spool. */
export interface ServiceWork {
  readonly kind: 'service';
  readonly serviceUrl: URL;
  readonly key: KeySource;
  /** The proxies for the agent's own traffic. */
  readonly proxies: Proxies;
  /** Origins for parts of artifacts, in addition to the service's. */
  readonly artifactOrigins: readonly string[];
  /** null: everything stays in memory. */
  readonly dataDir: string | null;
  readonly spoolMaxBytes: number;
  readonly spoolMaxAgeMs: number;
}

export interface AgentConfig extends DaemonConfig {
  readonly work: FileWork | ServiceWork;
}

type VariableRow = Pick<Variable<unknown>, 'name' | 'default' | 'meaning' | 'allowed' | 'secret'>;

/** A test compares the README's table of variables with these rows. */
export const ENVIRONMENT: readonly VariableRow[] = Object.values(VARIABLES);

const RUN_ROWS: readonly VariableRow[] = [
  // `run` prints results: by default it shows only log lines from `warn` on.
  { ...VARIABLES.logLevel, default: 'warn' },
  VARIABLES.concurrency,
  VARIABLES.deniedNetworks,
  VARIABLES.connectivityTargets,
  VARIABLES.variablesFromEnv,
  VARIABLES.variablesDir,
  VARIABLES.variableTargets,
  VARIABLES.executeScripts,
  VARIABLES.scriptWorkers,
  VARIABLES.extraCaCerts,
];

/** The variables that each command reads. */
export const ENVIRONMENT_OF = {
  run: RUN_ROWS,
  agent: ENVIRONMENT,
} as const satisfies Record<string, readonly VariableRow[]>;

/** Variables that an agent without a service does not read. */
const FOR_A_SERVICE = [VARIABLES.apiKey, VARIABLES.apiKeyFile];

const MIB = 1024 * 1024;

const OWN_NAMES = ENVIRONMENT.map(({ name }) => name);
/** Names whose misspellings are refused. Many others are like the proxies' (FTP_PROXY, GOPROXY). */
const GUARDED_NAMES = OWN_NAMES.filter((name) => !name.endsWith('_PROXY'));

/**
 * Reads the daemon's configuration. Empty values count as unset, as in Compose files.
 *
 * @throws VedetteError of kind `config` and code CONFIG_MISSING, CONFIG_INVALID, CONFIG_CONFLICT or
 *   CONFIG_UNKNOWN, with one line that names the variable, its value (unless secret) and what is
 *   allowed
 */
export function loadConfig(env: Environment): AgentConfig {
  refuseSlips(env, GUARDED_NAMES, namesThatAreNoSlips(env));
  const config = { ...readDaemonConfig(env), work: readWork(env) };
  if (config.probeEndpoint && config.work.kind === 'service') {
    throw conflicting(
      'PROBE_ENDPOINT is on, which is for an agent of CHECKS_FILE: unset it, or start a second agent with CHECKS_FILE for probes',
    );
  }
  return config;
}

function readWork(env: Environment): FileWork | ServiceWork {
  const serviceUrl = readVariable(env, VARIABLES.serviceUrl);
  const checksFile = readVariable(env, VARIABLES.checksFile);
  const targetsFrom = readVariable(env, VARIABLES.targetsFrom);
  if (serviceUrl === null) {
    if (checksFile === null) {
      throw missing(
        `neither SERVICE_URL nor CHECKS_FILE is set: set SERVICE_URL and API_KEY to work for a service, or CHECKS_FILE to ${VARIABLES.checksFile.allowed}`,
      );
    }
    const idle = FOR_A_SERVICE.find(({ name }) => textOf(env, name) !== null);
    if (idle !== undefined) {
      throw conflicting(
        `${idle.name} is set, which is for an agent of a service: set SERVICE_URL too, or unset it to run CHECKS_FILE alone`,
      );
    }
    const isAlone = targetsFrom.length === 0;
    const discovery = isAlone ? null : { rules: targetsFrom, proxies: readProxies(env) };
    return { kind: 'file', checksFile, discovery };
  }
  if (targetsFrom.length > 0) {
    throw conflicting(
      'TARGETS_FROM is set, which is for an agent of CHECKS_FILE: unset it, or start a second agent with CHECKS_FILE',
    );
  }
  if (checksFile !== null) {
    throw conflicting(
      'SERVICE_URL and CHECKS_FILE are both set: unset CHECKS_FILE to work for the service, or SERVICE_URL to run the file',
    );
  }
  return {
    kind: 'service',
    serviceUrl,
    key: readKey(env),
    proxies: readProxies(env),
    artifactOrigins: readVariable(env, VARIABLES.artifactOrigins),
    dataDir: readVariable(env, VARIABLES.dataDir),
    spoolMaxBytes: readVariable(env, VARIABLES.spoolMaxMib) * MIB,
    spoolMaxAgeMs: readVariable(env, VARIABLES.spoolMaxDays) * DAY_MS,
  };
}

function readKey(env: Environment): KeySource {
  const key = readVariable(env, VARIABLES.apiKey);
  const path = readVariable(env, VARIABLES.apiKeyFile);
  if (key !== null && path !== null) {
    throw conflicting('API_KEY and API_KEY_FILE are both set: unset one of them');
  }
  if (key !== null) return fixedKey(key);
  if (path !== null) return keyFile(path);
  throw missing(
    `SERVICE_URL is set, but neither API_KEY nor API_KEY_FILE: API_KEY must be ${VARIABLES.apiKey.allowed}`,
  );
}

/**
 * Reads the configuration for running checks, without the daemon's variables.
 *
 * @throws VedetteError like loadConfig
 */
export function loadRunConfig(env: Environment): RunConfig {
  const names = RUN_ROWS.map(({ name }) => name);
  refuseSlips(env, names, namesThatAreNoSlips(env));
  return readRunConfig(env);
}

function readDaemonConfig(env: Environment): DaemonConfig {
  return {
    ...readRunConfig(env),
    healthPort: readVariable(env, VARIABLES.healthPort),
    healthHost: readVariable(env, VARIABLES.healthHost),
    metricTags: readVariable(env, VARIABLES.metricTags),
    probeEndpoint: readVariable(env, VARIABLES.probeEndpoint),
    otlp: readOtlp(env),
    externalObservability: readVariable(env, VARIABLES.externalObservability),
    evidence: readVariable(env, VARIABLES.evidence),
    shutdownGraceMs: readVariable(env, VARIABLES.shutdownGraceSeconds) * 1000,
  };
}

function readRunConfig(env: Environment): RunConfig {
  return {
    extraRootsPem: readExtraRoots(env),
    concurrency: readVariable(env, VARIABLES.concurrency),
    connectivityTargets: readVariable(env, VARIABLES.connectivityTargets),
    deniedNetworks: readVariable(env, VARIABLES.deniedNetworks),
    logLevel: readVariable(env, VARIABLES.logLevel),
    operatorVariables: readOperatorVariables(env),
    executeScripts: readVariable(env, VARIABLES.executeScripts),
    scriptWorkers: readVariable(env, VARIABLES.scriptWorkers),
  };
}

function readOperatorVariables(env: Environment): OperatorVariables {
  const names = readVariable(env, VARIABLES.variablesFromEnv);
  const folder = readVariable(env, VARIABLES.variablesDir);
  const targets = targetsByName(readVariable(env, VARIABLES.variableTargets));
  // A folder may get a file of any name later.
  const stray = folder === null ? [...targets.keys()].find((name) => !names.includes(name)) : null;
  if (stray !== null && stray !== undefined) {
    throw invalid(
      `VARIABLE_TARGETS names ${stray}, which is not a variable of the agent: name it in VARIABLES_FROM_ENV too, set VARIABLES_DIR, or take its entries out`,
    );
  }
  return {
    fromEnv: readFromEnv(env, names, OWN_NAMES),
    folder: folder === null ? null : readableFolder(folder),
    targets,
  };
}

/** Names in VARIABLES_FROM_ENV are not misspellings, however similar to one of ours. */
function namesThatAreNoSlips(env: Environment): readonly string[] {
  return [...OWN_NAMES, ...readVariable(env, VARIABLES.variablesFromEnv)];
}

function readExtraRoots(env: Environment): string | null {
  const path = readVariable(env, VARIABLES.extraCaCerts);
  if (path === null) return null;
  const file = readCaFile(path);
  if (file.ok) return file.pem;
  const { name, allowed } = VARIABLES.extraCaCerts;
  throw invalid(`${name} is ${quoted(path)}, which ${file.problem}; it must be ${allowed}`);
}

function missing(message: string): VedetteError {
  return new VedetteError('config', 'CONFIG_MISSING', message);
}

function conflicting(message: string): VedetteError {
  return new VedetteError('config', 'CONFIG_CONFLICT', message);
}

function invalid(message: string): VedetteError {
  return new VedetteError('config', 'CONFIG_INVALID', message);
}
