import type { Check } from '../../model/check.ts';
import type { Failure } from '../../model/error-codes.ts';
import { type Verdict, verdictOf } from '../../model/verdict.ts';
import type { Clock } from '../../runtime/clock.ts';
import { messageOf } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { Evaluator } from '../assertions/evaluator.ts';
import type { AddressGuard } from '../net/address-guard.ts';
import type { Resolver } from '../net/resolver.ts';
import { JobLog } from '../probes/job-log.ts';
import type { ProbeContext } from '../probes/probe.ts';
import type {
  CheckTypeRunner,
  CheckTypeRunners,
  DetailFields,
  Probed,
} from './check-types/check-type.ts';

/** No attempt takes longer, whatever its thresholds say (SEMANTICS 1, the table of limits). */
const ATTEMPT_LIMIT_MS = 30_000;

export interface AttemptParts {
  readonly clock: Clock;
  readonly checkTypes: CheckTypeRunners;
  readonly evaluator: Evaluator;
  readonly resolver: Resolver;
  readonly guard: AddressGuard;
  readonly log: Logger;
}

export interface Attempt {
  /** Epoch milliseconds. */
  readonly startedAtMs: number;
  /** Monotonic instant of the start. */
  readonly startMs: number;
  /** From the start until it was judged, milliseconds. */
  readonly durationMs: number;
  readonly failure: Failure | null;
  readonly networkError: boolean;
  readonly responseTimeMs: number;
  readonly verdict: Verdict;
  readonly details: DetailFields;
}

/** Probes once and judges what came. Never rejects: a probe that breaks is an INTERNAL_ERROR. */
export async function makeAttempt(
  check: Check,
  parts: AttemptParts,
  opening: string,
  signal: AbortSignal,
): Promise<Attempt> {
  const { clock } = parts;
  const log = new JobLog(clock);
  log.info(opening);
  const startedAtMs = clock.wallMs();
  const startMs = clock.monotonicMs();
  const deadlineMs = startMs + ATTEMPT_LIMIT_MS;
  const { resolver, guard } = parts;
  const probed = await probe(check, parts, { signal, clock, deadlineMs, resolver, guard, log });
  const { failure, networkError, responseTimeMs, sources } = probed;
  if (failure !== null) log.error(`${failure.code}: ${failure.message}`);

  const assertions = await parts.evaluator.evaluate(check.request.assertions, sources, signal);
  const assertionsFailed = assertions.some(({ error }) => error !== null);
  const verdict = verdictOf(check, { ...probed, assertionsFailed });
  const details = probed.detail({ assertions, jobLog: log.entries() });
  const durationMs = clock.monotonicMs() - startMs;
  return {
    startedAtMs,
    startMs,
    durationMs,
    failure,
    networkError,
    responseTimeMs,
    verdict,
    details,
  };
}

async function probe(check: Check, parts: AttemptParts, context: ProbeContext): Promise<Probed> {
  // The table has for each type the runner of just that type, which the compiler cannot follow.
  const runner = parts.checkTypes[check.checkType] as CheckTypeRunner<typeof check.checkType>;
  try {
    return await runner.probe(check as never, context);
  } catch (thrown) {
    parts.log.error({ err: thrown, checkId: check.id }, 'a probe broke; please report this');
    const message = `The agent's own fault: ${messageOf(thrown)}`;
    return runner.broken(check as never, { code: 'INTERNAL_ERROR', message });
  }
}
