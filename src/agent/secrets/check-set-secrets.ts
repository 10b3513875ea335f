import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { OwnVariable } from '../../model/check/variable.ts';
import type { CheckSet } from '../source/check-source.ts';
import { namesFromOthers } from './render-check.ts';
import { urlCredentialsOf } from './sent-credentials.ts';

/** The part of a set of checks that AgentSecrets use. */
export type AgentSecretsInput = Pick<
  CheckSet,
  'checks' | 'variables' | 'unreadableVariables' | 'proxyUrl'
>;

/** Yields to the event loop after this many checks. */
const CHECKS_PER_YIELD = 100;

export interface NamedValue {
  readonly name: string;
  readonly value: string;
}

/**
 * The secrets of the checks, the shared variables and the proxy. Those shared by all checks come
 * first, in case there are too many.
 */
export async function checkSetSecrets({
  checks,
  variables,
  proxyUrl,
}: AgentSecretsInput): Promise<readonly NamedValue[]> {
  const ofProxy = (proxyUrl === null ? [] : urlCredentialsOf(proxyUrl)).map((value) => ({
    name: 'proxyUrl',
    value,
  }));
  const secrets: NamedValue[] = [...ofProxy, ...secretsAmong(variables)];
  for (const [index, check] of checks.entries()) {
    secrets.push(...secretsAmong(check.variables));
    // Compiles the templates now instead of when the check runs.
    namesFromOthers(check);
    if (index % CHECKS_PER_YIELD === CHECKS_PER_YIELD - 1) await yieldToEventLoop();
  }
  return secrets;
}

/** The names and values of the secret variables. */
export function secretsAmong(variables: readonly OwnVariable[]): readonly NamedValue[] {
  return variables.flatMap(({ key, value, secret }) => (secret ? [{ name: key, value }] : []));
}
