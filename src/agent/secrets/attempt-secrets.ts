import type { Check } from '../../model/check/check.ts';
import { MASK } from '../../model/credentials/sensitive-headers.ts';
import type { Scrubber } from '../../scrub/scrubber.ts';
import { type Lookup, valuesIn } from './render-check.ts';
import { credentialsOfRequest } from './request-credentials.ts';
import { otherFormsOf } from './secret-forms.ts';

/** Secrets of one attempt, beyond those that are declared. */
export interface AttemptSecrets {
  readonly values: readonly string[];
  /** How many more there were beyond the limit. */
  readonly dropped: number;
}

export const NO_ATTEMPT_SECRETS: AttemptSecrets = { values: [], dropped: 0 };

/** In all: some headers of the longest that a check can have. */
const MAX_CHARS = 100_000;
/** What is longer is not looked for among the declared ones, which takes time, but taken for unknown. */
const MAX_ASKED_CHARS = 2_000;

/**
 * The credentials of an attempt's request, where there are any that are not declared secret.
 *
 * @param sent the check with its templates filled in
 * @param known masks what is declared
 */
export function attemptSecretsOf(
  check: Check,
  sent: Check,
  { known, lookup }: { readonly known: Scrubber; readonly lookup: Lookup },
): AttemptSecrets {
  const isKnown = (value: string): boolean =>
    value.length <= MAX_ASKED_CHARS && known.text(value) === MASK;
  const { parts, wholes } = credentialsOfRequest(sent);
  if (parts.every(isKnown)) return NO_ATTEMPT_SECRETS;
  // One search has to know both: where a declared secret is a part of a credential, or the other
  // way round, the rest of it would show.
  const declared = valuesIn(check, lookup).filter(isKnown);
  const all = [...new Set([...parts, ...wholes, ...declared])];
  let chars = 0;
  const values = all.filter((value) => {
    const fits = chars + value.length <= MAX_CHARS;
    if (fits) chars += value.length;
    return fits;
  });
  return { values, dropped: all.length - values.length };
}

/** All that a scrubber has to know to mask them. */
export function formsOf({ values }: AttemptSecrets): readonly string[] {
  return [...new Set(values.flatMap((value) => [value, ...otherFormsOf(value)]))];
}
