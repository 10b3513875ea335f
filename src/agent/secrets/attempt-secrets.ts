import type { Check } from '../../model/check/check.ts';
import { MASK } from '../../model/credentials/mask.ts';
import type { Scrubber } from '../../scrub/scrubber.ts';
import { type Lookup, variableValuesIn } from './render-check.ts';
import { sentCredentialsOf } from './sent-credentials.ts';

/** The secrets of one attempt that are not declared secret. */
export interface AttemptSecrets {
  readonly values: readonly string[];
  /** The number of values that did not fit in MAX_CHARS. */
  readonly dropped: number;
}

export const NO_ATTEMPT_SECRETS: AttemptSecrets = { values: [], dropped: 0 };

/** Maximum length of all values together: several headers of maximum length. */
const MAX_CHARS = 100_000;
/** Longer values count as not declared secret: searching for them takes too long. */
const MAX_ASKED_CHARS = 2_000;

/**
 * The credentials of an attempt's request if any of them is not declared secret.
 *
 * @param sent the check with its templates filled in
 * @param known masks the declared secrets
 */
export function attemptSecretsOf(
  check: Check,
  sent: Check,
  { known, lookup }: { readonly known: Scrubber; readonly lookup: Lookup },
): AttemptSecrets {
  const isKnown = (value: string): boolean =>
    value.length <= MAX_ASKED_CHARS && known.text(value) === MASK;
  const { parts, wholes } = sentCredentialsOf(sent);
  if (parts.every(isKnown)) return NO_ATTEMPT_SECRETS;
  // One scrubber needs both: if one value is a part of the other, two would leave the rest of it.
  const declared = variableValuesIn(check, lookup).filter(isKnown);
  const all = [...new Set([...parts, ...wholes, ...declared])];
  let chars = 0;
  const values = all.filter((value) => {
    const fits = chars + value.length <= MAX_CHARS;
    if (fits) chars += value.length;
    return fits;
  });
  return { values, dropped: all.length - values.length };
}
