import type { Assertion } from '../../../model/check/assertion.ts';
import type { Check } from '../../../model/check/check.ts';
import type { ErrorCode, Failure } from '../../../model/result/error-codes.ts';
import { commonVerdict, type Verdict, verdictOf } from '../../../model/result/verdict.ts';
import type { Evaluator } from '../../assertions/evaluator.ts';
import { numberOf } from '../../assertions/numeric.ts';
import { EXACT_MS } from '../../net/overtime.ts';
import type { Probed } from '../check-types/check-type.ts';

/** A peer that waited for us longer than this may have closed the connection for that reason. */
const OWN_SLOWNESS_MS = 1000;

const TIME_OUTS: ReadonlySet<ErrorCode> = new Set([
  'DNS_TIMEOUT',
  'CONNECT_TIMEOUT',
  'TLS_TIMEOUT',
  'RESPONSE_TIMEOUT',
  'BODY_TIMEOUT',
]);
/** How a peer ends the connection with a client that is too slow. */
const GIVEN_UP: ReadonlySet<ErrorCode> = new Set([
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
const TIMED_SOURCES: ReadonlySet<string> = new Set(['RESPONSE_TIME', 'LATENCY', 'JSON_RESPONSE']);

/** What an attempt showed, and how starved of CPU the agent was in it. */
export interface Starved {
  readonly probed: Probed;
  readonly assertionsFailed: boolean;
  /** One was stopped at its time limit, for which our own want of CPU may be to blame. */
  readonly isCutShort: boolean;
  readonly starvedMs: number;
  /** By so much its times may be too long: not by what starved it while the kernel timed it. */
  readonly uncertainMs: number;
  /** Whether the last wait that ended at its deadline gave the target all of its time. */
  readonly lastTimeOut: 'certain' | 'uncertain' | null;
}

interface EvaluatorTools {
  readonly evaluator: Evaluator;
  readonly signal: AbortSignal;
}

/**
 * The verdict on an attempt, if it is certain. The true times lie between those measured and those
 * less the starvation while the event loop took them, but not below what the kernel saw the target
 * take: where not all of them give one verdict, there is none (null). What depends on no time stands,
 * unless the target may have given us up for our own slowness.
 *
 * @param measured the verdict on the times as they were measured
 */
export async function certainVerdict(
  check: Check,
  seen: Starved,
  measured: Verdict,
  tools: EvaluatorTools,
): Promise<Verdict | null> {
  const { probed, starvedMs, lastTimeOut } = seen;
  if (seen.isCutShort) return null;
  if (Math.max(starvedMs, seen.uncertainMs) < EXACT_MS || measured.hasErrors) return measured;
  const { failure } = probed;
  if (failure !== null && lastTimeOut === 'uncertain') return null;
  const hasTimedOut = probed.timedOut || isTimeOut(failure);
  // A lookup whose deadline passed before it sent a query has no time-out of its own.
  const isOurDoing = mayHaveGivenUp(probed) || (hasTimedOut && lastTimeOut === null);
  if (isOurDoing && starvedMs > OWN_SLOWNESS_MS) return null;
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

/** By so many milliseconds the measured times may be too long: not by what passed before or after them. */
export function tooLongAtMost(
  { responseTimeMs, peerMs }: Pick<Probed, 'responseTimeMs' | 'peerMs'>,
  uncertainMs: number,
): number {
  return Math.min(uncertainMs, Math.max(0, responseTimeMs - peerMs));
}

function isTimeOut(failure: Failure | null): boolean {
  return failure !== null && TIME_OUTS.has(failure.code);
}

function mayHaveGivenUp({ failure, sources }: Probed): boolean {
  if (failure !== null) return GIVEN_UP.has(failure.code);
  const status = sources.STATUS_CODE;
  return status?.kind === 'number' && status.value === REQUEST_TIMEOUT_STATUS;
}

/** The instants to judge at beside the measured one: thresholds are crossed once, targets met once. */
function earlierBy(check: Check, responseTimeMs: number, starvedMs: number): readonly number[] {
  const met = assertionsOf(check)
    .filter(({ source }) => source === 'RESPONSE_TIME')
    .map(({ target }) => responseTimeMs - (numberOf(target) ?? Number.NaN))
    .filter((byMs) => byMs > 0 && byMs < starvedMs);
  return [...met, starvedMs];
}

/** Whether assertions would have failed, had everything come earlier. */
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
