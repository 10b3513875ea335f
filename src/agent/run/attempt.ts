import type { AssertionResult } from '../../model/assertion.ts';
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

/** Probes once and judges what came. Never rejects: what breaks in it is an INTERNAL_ERROR. */
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
  const context = { signal, clock, deadlineMs, resolver, guard, log };
  const { probed, assertions } = await observe(check, parts, context);
  const { failure, networkError, responseTimeMs } = probed;
  if (failure !== null) log.error(`${failure.code}: ${failure.message}`);

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

interface Observed {
  readonly probed: Probed;
  readonly assertions: readonly AssertionResult[];
}

async function observe(
  check: Check,
  { checkTypes, evaluator, log }: AttemptParts,
  context: ProbeContext,
): Promise<Observed> {
  // The table has for each type the runner of just that type, which the compiler cannot follow.
  const runner = checkTypes[check.checkType] as CheckTypeRunner<typeof check.checkType>;
  try {
    const probed = await runner.probe(check as never, context);
    const { assertions } = check.request;
    const { signal } = context;
    return { probed, assertions: await evaluator.evaluate(assertions, probed.sources, signal) };
  } catch (thrown) {
    log.error({ err: thrown, checkId: check.id }, 'an attempt broke; please report this');
    const message = `The agent's own fault: ${messageOf(thrown)}`;
    const probed = runner.broken(check as never, { code: 'INTERNAL_ERROR', message });
    return { probed, assertions: [] };
  }
}
