import { VedetteError } from '../errors.ts';
import { quoted } from '../text/quoted.ts';
import { findNearMiss } from './near-miss.ts';
import type { Environment, Variable } from './variable.ts';

/** Shorter names are similar to too many others: HOME is two letters from HOST. */
const SHORTEST_GUARDED_NAME = 8;

/** The trimmed text of a variable. Empty counts as unset, as in Compose files. */
export function textOf(env: Environment, name: string): string | null {
  const text = env[name]?.trim() ?? '';
  return text === '' ? null : text;
}

/**
 * The value of one variable, or its `whenUnset`.
 *
 * @throws VedetteError of kind `config` and code CONFIG_INVALID, with one line that names the
 *   variable, its value (unless secret) and what is allowed
 */
export function readVariable<Value>(env: Environment, variable: Variable<Value>): Value {
  const text = textOf(env, variable.name);
  if (text === null) return variable.whenUnset;
  const parsed = variable.parse(text);
  if (parsed.ok) return parsed.value;
  const { name, allowed, secret } = variable;
  const verb = parsed.culprit === text ? 'is' : 'contains';
  const found = secret ? 'is malformed' : `${verb} ${quoted(parsed.culprit)}`;
  throw new VedetteError('config', 'CONFIG_INVALID', `${name} ${found}; it must be ${allowed}`);
}

/**
 * Refuses a set variable whose name is most likely a typo of one that is read.
 *
 * @param guarded the names that are read; short ones are ignored
 * @param alsoKnown further names that are not typos
 * @throws VedetteError of kind `config` and code CONFIG_UNKNOWN
 */
export function refuseSlips(
  env: Environment,
  guarded: readonly string[],
  alsoKnown: readonly string[],
): void {
  const names = Object.keys(env).filter((name) => textOf(env, name) !== null);
  const long = guarded.filter((name) => name.length >= SHORTEST_GUARDED_NAME);
  const slip = findNearMiss(names, long, [...guarded, ...alsoKnown]);
  if (slip === null) return;
  throw new VedetteError(
    'config',
    'CONFIG_UNKNOWN',
    `${quoted(slip.name)} is not a variable of Vedette; did you mean ${slip.meant}? Rename it, or unset it if it is for another program`,
  );
}
