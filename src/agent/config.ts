import { VedetteError } from '../runtime/errors.ts';
import type { LogLevel } from '../runtime/logger.ts';
import { readCaFile } from './config/extra-ca-certs.ts';
import { findNearMiss } from './config/near-miss.ts';
import { UNSUPPORTED_VARIABLES, VARIABLES, type Variable } from './config/variables.ts';
import type { Network } from './net/address-guard.ts';
import type { ConnectivityTarget } from './run/connectivity.ts';

/** Environment variables by name, as `process.env` has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** What running checks needs, with or without the daemon around it. */
export interface RunConfig {
  /** Runs at once, 1..1000. */
  readonly concurrency: number;
  readonly connectivityTargets: readonly ConnectivityTarget[];
  readonly deniedNetworks: readonly Network[];
  readonly logLevel: LogLevel;
  /** The certificates of NODE_EXTRA_CA_CERTS, which Node itself trusts already; null for none. */
  readonly extraRootsPem: string | null;
}

/** What the daemon needs. */
export interface AgentConfig extends RunConfig {
  readonly checksFile: string;
  /** 0..65535; 0 takes any free port. */
  readonly healthPort: number;
  readonly externalObservability: boolean;
  readonly shutdownGraceMs: number;
}

type VariableRow = Pick<Variable<unknown>, 'name' | 'default' | 'meaning' | 'allowed' | 'secret'>;

/** The README's table of variables is held to these rows by a test. */
export const ENVIRONMENT: readonly VariableRow[] = Object.values(VARIABLES);

const RUN_ROWS: readonly VariableRow[] = [
  // What is no result is told from `warn` up there, beside the results.
  { ...VARIABLES.logLevel, default: 'warn' },
  VARIABLES.concurrency,
  VARIABLES.deniedNetworks,
  VARIABLES.connectivityTargets,
  VARIABLES.extraCaCerts,
];

/** The commands that read variables, each with exactly those that it reads. */
export const ENVIRONMENT_OF = {
  run: RUN_ROWS,
  up: [...RUN_ROWS, VARIABLES.healthPort, VARIABLES.shutdownGraceSeconds],
  agent: ENVIRONMENT,
} as const satisfies Record<string, readonly VariableRow[]>;

type Command = keyof typeof ENVIRONMENT_OF;

const OWN_NAMES = ENVIRONMENT.map(({ name }) => name);
const MAX_SHOWN_CHARS = 100;

/**
 * Reads the daemon's configuration. Empty values count as unset, as compose files write them.
 *
 * @throws VedetteError of kind `config` and code CONFIG_MISSING, CONFIG_INVALID,
 *   CONFIG_UNSUPPORTED or CONFIG_UNKNOWN, with one line that names the variable, its value (unless
 *   secret) and what is allowed
 */
export function loadConfig(env: Environment): AgentConfig {
  const unsupported = UNSUPPORTED_VARIABLES.find((name) => textOf(env, name) !== null);
  if (unsupported !== undefined) {
    throw new VedetteError(
      'config',
      'CONFIG_UNSUPPORTED',
      `${unsupported} is set, but this release has no service to report to: unset it; checks come from CHECKS_FILE only`,
    );
  }
  refuseNearMiss(env, 'agent');
  const checksFile = read(env, VARIABLES.checksFile);
  if (checksFile === null) {
    const { name, allowed } = VARIABLES.checksFile;
    throw new VedetteError('config', 'CONFIG_MISSING', `${name} is not set; it must be ${allowed}`);
  }
  const externalObservability = read(env, VARIABLES.externalObservability);
  return { ...readDaemonConfig(env), checksFile, externalObservability };
}

/**
 * Reads what the daemon needs on a file that the command line names. Whatever else a shell has set,
 * for the agent or for other programs, is let be.
 *
 * @throws VedetteError like loadConfig
 */
export function loadUpConfig(env: Environment, checksFile: string): AgentConfig {
  refuseNearMiss(env, 'up');
  const externalObservability = VARIABLES.externalObservability.whenUnset;
  return { ...readDaemonConfig(env), checksFile, externalObservability };
}

/**
 * Reads only what running checks needs: no CHECKS_FILE, and no daemon's variable can be off.
 *
 * @throws VedetteError like loadConfig
 */
export function loadRunConfig(env: Environment): RunConfig {
  refuseNearMiss(env, 'run');
  return readRunConfig(env);
}

function readDaemonConfig(
  env: Environment,
): RunConfig & Pick<AgentConfig, 'healthPort' | 'shutdownGraceMs'> {
  return {
    ...readRunConfig(env),
    healthPort: read(env, VARIABLES.healthPort),
    shutdownGraceMs: read(env, VARIABLES.shutdownGraceSeconds) * 1000,
  };
}

function readRunConfig(env: Environment): RunConfig {
  return {
    extraRootsPem: readExtraRoots(env),
    concurrency: read(env, VARIABLES.concurrency),
    connectivityTargets: read(env, VARIABLES.connectivityTargets),
    deniedNetworks: read(env, VARIABLES.deniedNetworks),
    logLevel: read(env, VARIABLES.logLevel),
  };
}

function textOf(env: Environment, name: string): string | null {
  const text = env[name]?.trim() ?? '';
  return text === '' ? null : text;
}

function read<Value>(env: Environment, variable: Variable<Value>): Value {
  const text = textOf(env, variable.name);
  if (text === null) return variable.whenUnset;
  const parsed = variable.parse(text);
  if (parsed.ok) return parsed.value;
  const { name, allowed, secret } = variable;
  const verb = parsed.culprit === text ? 'is' : 'holds';
  const found = secret ? 'is malformed' : `${verb} ${quoted(parsed.culprit)}`;
  throw invalid(`${name} ${found}; it must be ${allowed}`);
}

/** A slip matters only where the command would have read what was meant. */
function refuseNearMiss(env: Environment, command: Command): void {
  const names = Object.keys(env).filter((name) => textOf(env, name) !== null);
  const read = ENVIRONMENT_OF[command].map(({ name }) => name);
  const slip = findNearMiss(names, read, [...OWN_NAMES, ...UNSUPPORTED_VARIABLES]);
  if (slip === null) return;
  throw new VedetteError(
    'config',
    'CONFIG_UNKNOWN',
    `${quoted(slip.name)} is no variable of Vedette; did you mean ${slip.meant}? Rename it, or unset it if it is for another program`,
  );
}

function readExtraRoots(env: Environment): string | null {
  const path = read(env, VARIABLES.extraCaCerts);
  if (path === null) return null;
  const file = readCaFile(path);
  if (file.ok) return file.pem;
  const { name, allowed } = VARIABLES.extraCaCerts;
  throw invalid(`${name} is ${quoted(path)}, which ${file.problem}; it must be ${allowed}`);
}

function invalid(message: string): VedetteError {
  return new VedetteError('config', 'CONFIG_INVALID', message);
}

/** In quotes, on one line and not too long, whatever it holds. */
function quoted(text: string): string {
  return JSON.stringify(
    text.length > MAX_SHOWN_CHARS ? `${text.slice(0, MAX_SHOWN_CHARS)}…` : text,
  );
}
