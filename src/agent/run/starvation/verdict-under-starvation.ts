import type { Assertion } from '../../../model/check/assertions/assertion.ts';
import { parseNumber } from '../../../model/check/assertions/numeric.ts';
import type { Check } from '../../../model/check/check.ts';
import type { ErrorCode, Failure } from '../../../model/result/error-codes.ts';
import { commonVerdict, type Verdict, verdictOf } from '../../../model/result/verdict.ts';
import type { Evaluator } from '../../assertions/evaluator.ts';
import { EXACT_MS } from '../../net/deadline-extension.ts';
import type { Probed } from '../check-types/check-type.ts';

/**
 * If the agent was starved for longer than this, a peer may have closed the connection, and a
 * script may have exceeded its time limit, only because of that.
 */
export const OWN_SLOWNESS_MS = 1000;

const TIME_OUTS: ReadonlySet<ErrorCode> = new Set([
  'DNS_TIMEOUT',
  'CONNECT_TIMEOUT',
  'TLS_TIMEOUT',
  'RESPONSE_TIMEOUT',
  'BODY_TIMEOUT',
]);
/** How a peer ends the connection with a slow client. */
const CLOSED_BY_PEER: ReadonlySet<ErrorCode> = new Set([
  'CONNECT_RESET',
  'PROXY_UNREACHABLE',
  'PROXY_REFUSED',
  'TLS_RESET',
  'TLS_HANDSHAKE_FAILED',
  'CONNECTION_RESET',
  'CONNECTION_CLOSED',
  'PROTOCOL_ERROR',
  'BODY_TRUNCATED',
]);
const REQUEST_TIMEOUT_STATUS = 408;
const NONE: ReadonlySet<Assertion> = new Set();
const TIMED_SOURCES: ReadonlySet<string> = new Set(['RESPONSE_TIME', 'LATENCY', 'JSON_RESPONSE']);

/** The observation of an attempt, and how starved of CPU the agent was in it. */
export interface Starved {
  readonly probed: Probed;
  /** The assertions that exceeded their time limit, perhaps because the agent was short of CPU. */
  readonly cutShort: ReadonlySet<Assertion>;
  /** An assertion failed that was not cut short. */
  readonly assertionsFailed: boolean;
  readonly starvedMs: number;
  /** How much too long its times may be; excludes starvation while the kernel measured the time. */
  readonly uncertainMs: number;
  /** Whether the target had the whole time limit in the last wait that timed out. */
  readonly lastTimeOut: 'certain' | 'uncertain' | null;
}

interface EvaluatorTools {
  readonly evaluator: Evaluator;
  readonly signal: AbortSignal;
}

/**
 * The verdict on an attempt despite CPU starvation; null if it is uncertain. The true times are
 * between the measured ones and those minus the starvation, but not less than the time that the
 * kernel attributes to the target. The verdict is certain if all of these times give the same one.
 * A verdict that does not depend on times is certain, unless the target may have closed the
 * connection because the agent was slow. If assertions were cut short, it is certain only if the
 * attempt fails without them; if the expression of a step was, it never is.
 *
 * @param measured the verdict for the measured times
 */
export async function verdictUnderStarvation(
  check: Check,
  seen: Starved,
  measured: Verdict,
  tools: EvaluatorTools,
): Promise<Verdict | null> {
  const { probed, starvedMs, lastTimeOut } = seen;
  if (probed.isCutShort) return null;
  if (seen.cutShort.size > 0) return failureWithoutCutShort(check, seen, tools);
  if (Math.max(starvedMs, seen.uncertainMs) < EXACT_MS || measured.hasErrors) return measured;
  const { failure } = probed;
  if (failure !== null && lastTimeOut === 'uncertain') return null;
  const hasTimedOut = probed.timedOut || isTimeOut(failure);
  // lastTimeOut is null for a lookup whose deadline passed before it sent a query.
  const mayBeOurFault = mayHaveBeenClosed(probed) || (hasTimedOut && lastTimeOut === null);
  if (mayBeOurFault && starvedMs > OWN_SLOWNESS_MS) return null;
  if (hasTimedOut && lastTimeOut === 'certain') return measured;
  const verdicts = [measured];
  const measuredMs = probed.responseTimeMs;
  const mostMs = tooLongAtMost(probed, seen.uncertainMs);
  if (mostMs < EXACT_MS) return measured;
  for (const byMs of earlierBy(check, measuredMs, mostMs)) {
    const failed = await failsEarlier(check, seen, byMs, tools);
    const responseTimeMs = Math.max(0, measuredMs - byMs);
    verdicts.push(verdictOf(check, { ...probed, responseTimeMs, assertionsFailed: failed }));
  }
  return commonVerdict(verdicts);
}

/** The verdict if the attempt fails whatever its assertions that were cut short give; else null. */
async function failureWithoutCutShort(
  check: Check,
  seen: Starved,
  tools: EvaluatorTools,
): Promise<Verdict | null> {
  const { probed, assertionsFailed, cutShort } = seen;
  const assertions = assertionsOf(check).filter((each) => !cutShort.has(each));
  const rest = { ...check, request: { ...check.request, assertions } } as Check;
  const measured = verdictOf(rest, { ...probed, assertionsFailed });
  const known = { ...seen, cutShort: NONE };
  const verdict = await verdictUnderStarvation(rest, known, measured, tools);
  return verdict?.hasFailures === true || verdict?.hasErrors === true ? verdict : null;
}

/** Milliseconds by which the measured times may be too long, which is at most their own length. */
export function tooLongAtMost(
  { responseTimeMs, peerMs }: Pick<Probed, 'responseTimeMs' | 'peerMs'>,
  uncertainMs: number,
): number {
  return Math.min(uncertainMs, Math.max(0, responseTimeMs - peerMs));
}

function isTimeOut(failure: Failure | null): boolean {
  return failure !== null && TIME_OUTS.has(causeOf(failure));
}

/** Whether an agent that is short of CPU can bring the failure about. */
export function mayFollowSlowness(failure: Failure): boolean {
  return isTimeOut(failure) || CLOSED_BY_PEER.has(causeOf(failure));
}

function causeOf({ code, cause }: Failure): ErrorCode {
  return cause ?? code;
}

function mayHaveBeenClosed({ failure, sources }: Probed): boolean {
  if (failure !== null) return CLOSED_BY_PEER.has(causeOf(failure));
  const status = sources.STATUS_CODE;
  return status?.kind === 'number' && status.value === REQUEST_TIMEOUT_STATUS;
}

/**
 * The milliseconds by which to shorten the response time for each further evaluation: to the
 * targets of RESPONSE_TIME that the true time may have met, and by the whole starvation.
 */
function earlierBy(check: Check, responseTimeMs: number, starvedMs: number): readonly number[] {
  const met = assertionsOf(check)
    .filter(({ source }) => source === 'RESPONSE_TIME')
    .map(({ target }) => responseTimeMs - (parseNumber(target) ?? Number.NaN))
    .filter((byMs) => byMs > 0 && byMs < starvedMs);
  return [...met, starvedMs];
}

/** Whether assertions would have failed if everything had come earlier. */
async function failsEarlier(
  check: Check,
  { probed, assertionsFailed }: Starved,
  byMs: number,
  { evaluator, signal }: EvaluatorTools,
): Promise<boolean> {
  const timed = assertionsOf(check).filter(({ source }) => TIMED_SOURCES.has(source));
  if (timed.length === 0) return assertionsFailed;
  const others = assertionsOf(check).filter((one) => !timed.includes(one));
  const sources = { ...probed.sources, ...probed.timesEarlier(byMs) };
  const results = await evaluator.evaluate([...timed, ...others], sources, signal);
  return results.some(({ error }) => error !== null);
}

function assertionsOf(check: Check): readonly Assertion[] {
  return check.request.assertions;
}
