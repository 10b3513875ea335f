import { quoted, readVariable, refuseSlips, textOf } from '../runtime/config/read-variable.ts';
import type { Environment, Variable } from '../runtime/config/variable.ts';
import { VedetteError } from '../runtime/errors.ts';
import type { LogLevel } from '../runtime/logger.ts';
import { readCaFile } from './config/extra-ca-certs.ts';
import { UNSUPPORTED_VARIABLES, VARIABLES } from './config/variables.ts';
import type { Network } from './net/address-guard.ts';
import type { ConnectivityTarget } from './run/connectivity.ts';

export type { Environment };

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
  const checksFile = readVariable(env, VARIABLES.checksFile);
  if (checksFile === null) {
    const { name, allowed } = VARIABLES.checksFile;
    throw new VedetteError('config', 'CONFIG_MISSING', `${name} is not set; it must be ${allowed}`);
  }
  const externalObservability = readVariable(env, VARIABLES.externalObservability);
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
    healthPort: readVariable(env, VARIABLES.healthPort),
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
  };
}

/** A slip matters only where the command would have read what was meant. */
function refuseNearMiss(env: Environment, command: Command): void {
  const names = ENVIRONMENT_OF[command].map(({ name }) => name);
  refuseSlips(env, names, [...OWN_NAMES, ...UNSUPPORTED_VARIABLES]);
}

function readExtraRoots(env: Environment): string | null {
  const path = readVariable(env, VARIABLES.extraCaCerts);
  if (path === null) return null;
  const file = readCaFile(path);
  if (file.ok) return file.pem;
  const { name, allowed } = VARIABLES.extraCaCerts;
  throw invalid(`${name} is ${quoted(path)}, which ${file.problem}; it must be ${allowed}`);
}

function invalid(message: string): VedetteError {
  return new VedetteError('config', 'CONFIG_INVALID', message);
}
