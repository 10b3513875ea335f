import type { Check } from '../../model/check/check.ts';
import type { OwnVariable } from '../../model/check/variable.ts';
import { credentialTexts, mapCredentials } from '../../model/credentials/credential-fields.ts';
import { type KnownCheck, UNKNOWN_SECRET } from './normal-form.ts';
import type { KnownVariable } from './variable-plan.ts';

/**
 * Remembers what this process has written. The service never returns secret values: without this, `vedette up`
 * would write all of them again at every change of its file.
 */
export interface WriteHistory {
  readonly checks: ReadonlyMap<string, Check>;
  readonly variables: ReadonlyMap<string, OwnVariable>;
}

export const NOTHING_WRITTEN: WriteHistory = { checks: new Map(), variables: new Map() };

/** Fills in the secret values that were written to variables. */
export function withWrittenValues(
  known: readonly KnownVariable[],
  { variables }: WriteHistory,
): readonly KnownVariable[] {
  return known.map((variable) => {
    const { key, value, secret } = variable;
    return value === null && secret ? { ...variable, value: secretIn(variables, key) } : variable;
  });
}

/** Fills in the secret values of variables and the credentials that were written to checks. */
export function withWrittenChecks(
  known: readonly KnownCheck[],
  { checks }: WriteHistory,
): readonly KnownCheck[] {
  return known.map((entry) => {
    const written = checks.get(entry.id);
    if (entry.check === null || written === undefined) return entry;
    const own = new Map(written.variables.map((variable) => [variable.key, variable]));
    const variables = entry.check.variables.map((variable) =>
      variable.value === UNKNOWN_SECRET
        ? { ...variable, value: secretIn(own, variable.key) ?? UNKNOWN_SECRET }
        : variable,
    );
    const texts = credentialTexts(written.request);
    const request = mapCredentials(entry.check.request, (text, { id }) =>
      text === UNKNOWN_SECRET ? (texts.get(id) ?? UNKNOWN_SECRET) : text,
    );
    // The type of a check never changes.
    return { ...entry, check: { ...entry.check, request, variables } as Check };
  });
}

function secretIn(written: ReadonlyMap<string, OwnVariable>, key: string): string | null {
  const variable = written.get(key);
  return variable?.secret === true ? variable.value : null;
}
