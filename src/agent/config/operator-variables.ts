import { accessSync, constants, statSync } from 'node:fs';
import { MAX_VALUE_CHARS, variableKeySchema } from '../../model/check/variable.ts';
import { MASK } from '../../model/credentials/mask.ts';
import type { Parsed } from '../../runtime/config/parsers.ts';
import type { Environment } from '../../runtime/config/variable.ts';
import { messageOf, systemCodeOf, VedetteError } from '../../runtime/errors.ts';
import { quoted } from '../../runtime/text/quoted.ts';
import type { VariableTarget } from './variable-targets.ts';

/** Maximum number of variables from the environment, and of those from VARIABLES_DIR. */
export const MAX_OPERATOR_VARIABLES = 500;

/** Variables that the operator gives to the templates of checks; the service never gets them. */
export interface OperatorVariables {
  /** The values by name; they do not change while the agent runs. */
  readonly fromEnv: ReadonlyMap<string, string>;
  /** The folder with one file per value; null if there is none. */
  readonly folder: string | null;
  /**
   * The only targets of each value, by name; a value without an entry may be sent to any target.
   */
  readonly targets: ReadonlyMap<string, readonly VariableTarget[]>;
}

export const NO_OPERATOR_VARIABLES: OperatorVariables = {
  fromEnv: new Map(),
  folder: null,
  targets: new Map(),
};

/** Matches an entry that is a misspelt name and not a value: `DB-PASSWORD`. */
const NEARLY_NAME = /^[\w.-]+$/;
/** Matches `NAME=value`, where only the name is allowed. */
const SETTING = /^([\w.-]+[=:]).+$/s;

/**
 * One entry of VARIABLES_FROM_ENV. A refused entry may contain a value (`NAME=value`, or a shell
 * expanded `$NAME`): only the part that is a name is shown.
 */
export function variableName(text: string): Parsed<string> {
  if (variableKeySchema.safeParse(text).success) return { ok: true, value: text };
  const shown = NEARLY_NAME.test(text) ? text : MASK;
  return { ok: false, culprit: SETTING.test(text) ? text.replace(SETTING, `$1${MASK}`) : shown };
}

/**
 * The values of the named variables. Empty ones count as unset.
 *
 * @param settings names of the agent's own settings, which no check may read
 * @throws VedetteError of kind `config` and code CONFIG_INVALID, with one line that never contains
 *   a value
 */
export function readFromEnv(
  env: Environment,
  names: readonly string[],
  settings: readonly string[],
): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  for (const name of names) {
    if (settings.includes(name.toUpperCase())) {
      throw invalidNames(`${name}, which is a setting of the agent that no check may read`);
    }
    const value = Object.hasOwn(env, name) ? (env[name] ?? '') : '';
    if (value === '') {
      throw invalidNames(`${name}, which is not set: set it, or take its name out`);
    }
    if (value.length > MAX_VALUE_CHARS) {
      throw invalidNames(`${name}, whose value is longer than ${MAX_VALUE_CHARS} characters`);
    }
    values.set(name, value);
  }
  return values;
}

/** @throws VedetteError of kind `config` and code CONFIG_INVALID if it is not a readable folder */
export function readableFolder(path: string): string {
  try {
    if (!statSync(path).isDirectory()) throw invalidFolder(path, 'is not a folder');
    accessSync(path, constants.R_OK | constants.X_OK);
    return path;
  } catch (error) {
    if (error instanceof VedetteError) throw error;
    const code = systemCodeOf(error);
    if (code === 'ENOENT') throw invalidFolder(path, 'does not exist');
    if (code === 'EACCES' || code === 'EPERM') {
      throw invalidFolder(path, 'may not be read by this user');
    }
    throw invalidFolder(path, `cannot be read (${code ?? messageOf(error)})`);
  }
}

function invalidNames(problem: string): VedetteError {
  return new VedetteError('config', 'CONFIG_INVALID', `VARIABLES_FROM_ENV names ${problem}`);
}

function invalidFolder(path: string, problem: string): VedetteError {
  return new VedetteError(
    'config',
    'CONFIG_INVALID',
    `VARIABLES_DIR is ${quoted(path)}, which ${problem}; it must be the path of a folder with one file per value`,
  );
}
