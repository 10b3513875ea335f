import type { Check } from '../../model/check/check.ts';
import { VedetteError } from '../../runtime/errors.ts';
import { nearestName } from '../../runtime/text/nearest-name.ts';

export interface Selection {
  readonly selected: readonly Check[];
  /** Checks that are skipped because they are not activated. */
  readonly skipped: readonly Check[];
}

/**
 * Selects the checks to run, in the order of the file: the named ones, activated or not; without names, all
 * activated ones.
 *
 * @throws VedetteError of kind `usage` for an id that no check has
 */
export function selectChecks(checks: readonly Check[], ids: readonly string[]): Selection {
  if (ids.length === 0) {
    return {
      selected: checks.filter(({ activated }) => activated),
      skipped: checks.filter(({ activated }) => !activated),
    };
  }
  const known = checks.map(({ id }) => id);
  const unknown = ids.find((id) => !known.includes(id));
  if (unknown !== undefined) {
    const nearest = nearestName(unknown, known);
    const hint = nearest === null ? '' : `; did you mean ${nearest}?`;
    const message = `no check has the id ${JSON.stringify(unknown)}${hint}`;
    throw new VedetteError('usage', 'UNKNOWN_CHECK', message);
  }
  return { selected: checks.filter(({ id }) => ids.includes(id)), skipped: [] };
}
