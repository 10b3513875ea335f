import { stateOfRun } from '../../../model/result/check-state.ts';
import { detailOf } from '../../../model/result/result-summary.ts';
import { runResultOf } from '../../../model/result/run-result.ts';
import { cutText } from '../../../runtime/text/cut-text.ts';
import type { ReceivedResult } from '../../../wire/v1/check-result.ts';
import { knownFactsOf } from '../../error-groups/known-facts.ts';
import type { LastError } from './sql.ts';

/** UTF-8; the whole message is in the result. */
const MAX_ERROR_BYTES = 500;

/** Why the run failed; null if it did not. */
export function lastErrorOf(final: ReceivedResult): LastError | null {
  if (stateOfRun(runResultOf(final)) !== 'failing') return null;
  const message = knownFactsOf(final)?.rawErrorMessage ?? null;
  return {
    code: detailOf(final)?.requestErrorCode ?? null,
    message: message === null ? null : cutText(message, MAX_ERROR_BYTES),
    location: final.runLocation,
    slotMs: final.checkRunId,
  };
}

/** Returns the error of the later slot; for the same slot, that of the location that sorts first. */
export function laterError(one: LastError | null, other: LastError | null): LastError | null {
  if (one === null || other === null) return one ?? other;
  if (one.slotMs !== other.slotMs) return one.slotMs > other.slotMs ? one : other;
  // The location may have made a retry of another location's run, too.
  const orderOf = ({ location, code, message }: LastError): string =>
    JSON.stringify([location, code, message]);
  return orderOf(one) < orderOf(other) ? one : other;
}
