import type { Check } from '../../model/check/check.ts';
import type { Failure } from '../../model/result/error-codes.ts';
import { type Verdict, verdictOf } from '../../model/result/verdict.ts';
import type { Endpoint } from '../probes/endpoint.ts';
import type { BodyMemory } from '../probes/http/body/body-memory.ts';
import { JobLog } from '../probes/job-log.ts';
import { roundToMicroseconds } from '../probes/probe.ts';
import type { AttemptSecrets } from '../secrets/attempt-secrets.ts';
import { NOT_SCRUBBED } from '../secrets/cut-scrubbed.ts';
import { NO_OPERATOR_SECRETS } from '../secrets/operator-secrets.ts';
import type { DetailExtras, DetailFields, LongBody } from './check-types/check-type.ts';
import { type AttemptContext, type AttemptParts, observe } from './observe.ts';
import { SentRequests } from './sent-requests.ts';
import type { AttemptStarvation } from './starvation/starvation-meter.ts';
import { tooLongAtMost, verdictUnderStarvation } from './starvation/verdict-under-starvation.ts';

/** No attempt takes longer, whatever its thresholds say (src/model/README.md, "Thresholds"). */
const ATTEMPT_LIMIT_MS = 30_000;

export interface AttemptOptions {
  /** The first line of the job log. */
  readonly opening: string;
  readonly signal: AbortSignal;
  /** Whether to keep a body that is longer than a result stores, in case the attempt fails. */
  readonly keepLongBody: boolean;
  /** Memory reserved for the body; without it, memory is allocated as needed. */
  readonly room?: BodyMemory | undefined;
  /** Makes the job log short. */
  readonly isBrief?: boolean;
  /** Called with the bytes of a body as they arrive. */
  readonly onBody?: (bytes: number) => void;
  /** IPv6 does not fall back to IPv4, which has an attempt of its own. */
  readonly staysInFamily?: boolean;
  /** See ProbeContext. */
  readonly traceparent?: string | undefined;
}

export interface Attempt {
  /** Epoch milliseconds. */
  readonly startedAtMs: number;
  /** Monotonic instant of the start. */
  readonly startMs: number;
  /** Milliseconds from the start until the verdict. */
  readonly durationMs: number;
  readonly failure: Failure | null;
  readonly networkError: boolean;
  /** No response came, or an ICMP check lost too many echoes. */
  readonly unreached: boolean;
  readonly endpoint: Endpoint | null;
  /** Methods of the HTTP requests of the check and its scripts: targets may have acted on them. */
  readonly sentMethods: readonly string[];
  /**
   * A variable of the agent itself whose value others on the way can read, in the request of the
   * check or of a script; null if there is none. A capture of a repeated attempt would contain it.
   */
  exposedVariable(): string | null;
  readonly responseTimeMs: number;
  readonly verdict: Verdict;
  /** False if the agent was too short of CPU, or too busy: the attempt then does not count. */
  readonly isCertain: boolean;
  /** The attempt does not count because scripts lacked workers or memory, not CPU. */
  readonly wasBusy: boolean;
  /** Milliseconds: the larger of the CPU starvation and the uncertainty of the measured times. */
  readonly starvedMs: number;
  /** Lines may be added until `detail` is called. */
  readonly jobLog: JobLog;
  readonly longBody: LongBody | null;
  /**
   * Bytes that the body needed for the assertions, if there was not enough memory: the attempt then
   * does not count. 0 also if the attempt failed without those assertions.
   */
  readonly lackedBytes: number;
  /** Secrets of its request that AgentSecrets does not know. */
  readonly secrets: AttemptSecrets;
  detail(extras: Pick<DetailExtras, 'jobAssets' | 'evidence' | 'families'>): DetailFields;
  /** Frees the memory of its body, which must not be used afterwards. Must always be called. */
  forget(): void;
}

/**
 * Probes once and judges the outcome. Never rejects: a fault of the agent is an INTERNAL_ERROR.
 * Does not probe if the run is cancelled already.
 */
export async function makeAttempt(
  check: Check,
  parts: AttemptParts,
  options: AttemptOptions,
): Promise<Attempt> {
  const starvation = parts.starvation.begin();
  try {
    return await attemptStarved(check, parts, options, starvation);
  } finally {
    parts.starvation.end();
  }
}

async function attemptStarved(
  check: Check,
  parts: AttemptParts,
  options: AttemptOptions,
  starvation: AttemptStarvation,
): Promise<Attempt> {
  const { clock } = parts;
  const { opening, signal, keepLongBody, room: reservedMemory, isBrief = false } = options;
  const { onBody, staysInFamily, traceparent } = options;
  const log = new JobLog(clock, { isBrief, scrub: (text) => context.scrub(text) });
  const bodyMemory = reservedMemory ?? parts.bodyRoom.open(keepLongBody);
  const startedAtMs = clock.wallMs();
  const startMs = clock.monotonicMs();
  const { resolver, guard } = parts;
  const context: AttemptContext = {
    signal,
    clock,
    deadlineMs: startMs + ATTEMPT_LIMIT_MS,
    resolver,
    guard,
    log,
    onBody,
    staysInFamily,
    traceparent,
    operatorSecrets: NO_OPERATOR_SECRETS,
    scrub: NOT_SCRUBBED,
    sent: new SentRequests(),
    starvation,
  };
  log.info(opening);
  const observed = await observe(check, parts, context, bodyMemory);
  const { probed, assertions, secrets, cutShort, othersFailed } = observed;
  const { starvedMs, uncertainMs, lackedBytes, wasBusy, scriptStarvedMs } = observed;
  const { failure, networkError, endpoint, responseTimeMs } = probed;
  const isLossy = probed.packetLossPercent !== null && probed.criterion === 'unmet';
  if (failure !== null) log.error(`${failure.code}: ${failure.message}`);

  const assertionsFailed = assertions.some(({ error }) => error !== null);
  const { lastTimeOut } = context.starvation;
  const seen = {
    ...{ probed, cutShort, assertionsFailed: othersFailed },
    ...{ starvedMs, uncertainMs, lastTimeOut },
  };
  const measured = verdictOf(check, { ...probed, assertionsFailed });
  const certain = await verdictUnderStarvation(check, seen, measured, {
    evaluator: parts.evaluator,
    signal,
  });
  const tooLongMs = tooLongAtMost(probed, uncertainMs);
  if (tooLongMs >= MIN_LOGGED_STARVED_MS) log.info(starvedText(tooLongMs));
  const timing = { uncertaintyMs: roundToMicroseconds(tooLongMs), clock: probed.clock };
  const longBody = keepLongBody ? probed.longBody : null;
  const durationMs = clock.monotonicMs() - startMs;
  return {
    startedAtMs,
    startMs,
    durationMs,
    failure,
    networkError,
    unreached: networkError || isLossy,
    endpoint,
    sentMethods: context.sent.sentMethods,
    exposedVariable: () => context.sent.exposedVariable(),
    responseTimeMs,
    verdict: certain ?? measured,
    isCertain: certain !== null && !wasBusy && scriptStarvedMs === 0,
    wasBusy,
    starvedMs: Math.max(starvedMs, uncertainMs, scriptStarvedMs),
    jobLog: log,
    longBody,
    lackedBytes,
    secrets,
    detail: (extras) => probed.detail({ assertions, jobLog: log.entries(), timing, ...extras }),
    forget: () => bodyMemory.close(),
  };
}

/** Shorter starvation is only in the result's `timing`, not in the job log. */
const MIN_LOGGED_STARVED_MS = 10;

function starvedText(tooLongMs: number): string {
  return `The agent was short of CPU in this attempt: its times may be up to ${Math.round(tooLongMs)} ms too long`;
}
