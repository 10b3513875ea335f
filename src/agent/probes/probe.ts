import type { Failure } from '../../model/result/error-codes.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { AddressGuard } from '../../runtime/net/address-guard.ts';
import type { Resolver } from '../net/resolver.ts';
import type { StarvationWatch } from '../net/starvation-watch.ts';
import type { Scrub } from '../secrets/cut-scrubbed.ts';
import type { OperatorSecrets } from '../secrets/operator-secrets.ts';
import type { Endpoint } from './endpoint.ts';
import type { JobLog } from './job-log.ts';

export interface ProbeContext {
  /**
   * Aborted when the run is to end at once (shutdown, or cancelled). The probe then returns
   * CANCELLED.
   */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Monotonic instant at which the attempt times out, in the phase that runs then. */
  readonly deadlineMs: number;
  readonly starvation?: StarvationWatch | undefined;
  readonly resolver: Resolver;
  /** TARGET_DENY: checks every resolved address of every hop before connecting. */
  readonly guard: AddressGuard;
  readonly log: JobLog;
  /** Called with the number of bytes of each piece of a body. */
  readonly onBody?: ((bytes: number) => void) | undefined;
  /** The agent's own values in the request, and where they may be sent. */
  readonly operatorSecrets: OperatorSecrets;
  /**
   * IPv6 does not fall back to IPv4, which has an attempt of its own (BOTH, and ANY of ICMP
   * checks).
   */
  readonly staysInFamily?: boolean | undefined;
  /** Adds secrets that only this attempt knows; resolves when it may send something with them. */
  readonly learnSecrets?: ((values: readonly string[]) => Promise<void>) | undefined;
  /** The whole body is wanted, whether or not an assertion reads it: a script does. */
  readonly wantsBody?: boolean | undefined;
  /** Value of the header of the same name, for HTTP checks that send it. */
  readonly traceparent?: string | undefined;
  /** Masks secrets in texts before they are cut (cut-scrubbed.ts). The result scrubs all others. */
  readonly scrub: Scrub;
}

/**
 * The outcome of one attempt. Nothing that a target does makes a probe throw: a missing, wrong or
 * hostile answer is a `failure`, beside what is known.
 */
export interface ProbeOutcome<Echo, Response, Timings, Phases> {
  /** The request as it was sent, for the result. */
  readonly request: Echo;
  /** null if the request could not be sent anywhere. */
  readonly endpoint: Endpoint | null;
  /** Present if the target answered at all, even if a failure followed. */
  readonly response: Response | null;
  readonly failure: Failure | null;
  readonly timings: Timings;
  readonly timingPhases: Phases;
  /** Milliseconds; what thresholds and RESPONSE_TIME judge. */
  readonly responseTimeMs: number;
}

/** The attempt ended without an answer of the target (`onlyOn: NETWORK_ERROR`, evidence). */
export function isNetworkError(outcome: {
  readonly response: unknown;
  readonly failure: Failure | null;
}): boolean {
  return outcome.failure !== null && outcome.response === null;
}

/** Rounds to the microsecond, the resolution that results have. */
export function roundToMicroseconds(durationMs: number): number {
  return Math.round(durationMs * 1000) / 1000;
}
