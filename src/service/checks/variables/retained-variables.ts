import type { OwnVariable } from '../../../model/check/variable.ts';
import { holdsMask } from '../../../model/credentials/mask.ts';
import { invalid } from '../../errors.ts';
import { bodyProblem, MASK_NOT_ALLOWED } from '../../http/resources/input-problems.ts';

/**
 * Refuses masks in secret values: responses contain no value of a secret variable, so a mask is a mistake of
 * the client.
 *
 * @throws ServiceError 400
 */
export function refuseMaskedVariables(variables: readonly OwnVariable[]): void {
  const problems = variables.flatMap(({ secret, value }, index) =>
    secret && holdsMask(value)
      ? [bodyProblem(['variables', index, 'value'], MASK_NOT_ALLOWED)]
      : [],
  );
  if (problems.length > 0) throw invalid(problems);
}

/**
 * The variables of an update. A secret variable without a value, as responses show it, keeps the stored
 * value of the same key.
 *
 * @param given not validated yet; undefined keeps all
 * @returns `retained` are the keys whose secret values are retained; null if the update has no variables
 * @throws ServiceError 400 where a variable stops being secret and has no value
 */
export function withRetainedVariables(
  given: unknown,
  before: readonly OwnVariable[],
): { readonly variables: unknown; readonly retained: ReadonlySet<string> | null } {
  if (given === undefined) return { variables: before, retained: null };
  const secretKeys = new Set(before.filter(({ secret }) => secret).map(({ key }) => key));
  const retained = new Set<string>();
  if (!Array.isArray(given)) return { variables: given, retained };
  const variables = (given as readonly unknown[]).map((variable, index) => {
    if (typeof variable !== 'object' || variable === null) return variable;
    const { key, value, secret } = variable as Readonly<Record<string, unknown>>;
    if (typeof key !== 'string' || !secretKeys.has(key) || (value ?? null) !== null)
      return variable;
    if (secret !== true) {
      // Otherwise a caller with write access could read the secret value.
      const message = 'is required when a variable stops being secret';
      throw invalid([bodyProblem(['variables', index, 'value'], message)]);
    }
    retained.add(key);
    return { ...variable, value: '' };
  });
  return { variables, retained };
}
