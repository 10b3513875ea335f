import type { AssertionResult } from '../../../model/check/assertion.ts';
import type { CheckOf } from '../../../model/check/check.ts';
import type { Failure } from '../../../model/result/error-codes.ts';
import type { CheckResult, LogEntry, Timing, TimingClock } from '../../../model/result/result.ts';
import type { Observation } from '../../../model/result/verdict.ts';
import type { RunnableCheckType } from '../../../model/vocabulary.ts';
import type { SourceValues } from '../../assertions/evaluator.ts';
import type { Receiver } from '../../config/variable-targets.ts';
import type { ReportedEvidence } from '../../evidence/evidence.ts';
import type { Endpoint } from '../../probes/endpoint.ts';
import type { BodyMemory } from '../../probes/http/body/body-memory.ts';
import { isNetworkError, type ProbeContext } from '../../probes/probe.ts';

/** The one field of a result that contains the details of the check's type. */
export type DetailFields = Partial<
  Pick<CheckResult, 'apiCheckResult' | 'tcpCheckResult' | 'dnsCheckResult' | 'icmpCheckResult'>
>;

/** What is added to a probe's outcome before it becomes a result's details. */
export interface DetailExtras {
  readonly assertions: readonly AssertionResult[];
  readonly jobLog: readonly LogEntry[];
  /** Where the artifacts of the attempt can be downloaded. */
  readonly jobAssets: readonly string[];
  readonly evidence: ReportedEvidence;
  readonly timing: Timing;
}

/** A body of which the result contains only the start, or nothing. */
export interface LongBody {
  /** As much of it as was read and fitted into memory. */
  readonly bytes: Buffer;
  readonly contentType: string | null;
  /** All that was read. */
  readonly totalBytes: number;
}

/** One probe's outcome in the terms that are common to all check types. */
export interface Probed extends Omit<Observation, 'assertionsFailed'> {
  /** No answer of any kind came (`onlyOn: NETWORK_ERROR`). */
  readonly networkError: boolean;
  /** null where the probe ended before it had one. */
  readonly endpoint: Endpoint | null;
  /** An HTTP request went out, on which the target may have acted. */
  readonly requestSent: boolean;
  /** What was sent, or would have been, can be read by others on the way. */
  readonly unencrypted: boolean;
  /** What assertions read; empty where there was no response. */
  readonly sources: SourceValues;
  /** Those sources that are times or contain some, had everything come this many milliseconds earlier. */
  readonly timesEarlier: (byMs: number) => SourceValues;
  /** The part of the response time that the kernel attributes to the target; 0 where it reports none. */
  readonly peerMs: number;
  /** Who took its times. */
  readonly clock: TimingClock;
  /** A wait that is not a failure ended because its time was up. */
  readonly timedOut: boolean;
  readonly longBody: LongBody | null;
  /** Bytes that the body for the assertions needs; 0 where there was enough memory. */
  readonly lackedBytes: number;
  detail(extras: DetailExtras): DetailFields;
}

/** All that a run needs to know about a check type. A new type implements it. */
export interface CheckTypeRunner<Type extends RunnableCheckType> {
  /**
   * Never rejects for what a target does; a rejection is a fault of our own.
   *
   * @param bodyMemory for a body that is longer than a result stores
   */
  probe(check: CheckOf<Type>, context: ProbeContext, bodyMemory: BodyMemory): Promise<Probed>;
  /**
   * Who can read the request, as far as is known before it is sent. Called only where the request
   * has values of the agent's own.
   */
  receivers(check: CheckOf<Type>): readonly Receiver[];
  /** The outcome of an attempt whose probe broke: a fault of our own. */
  broken(check: CheckOf<Type>, failure: Failure): Probed;
}

export type CheckTypeRunners = { readonly [Type in RunnableCheckType]: CheckTypeRunner<Type> };

/** A probe's outcome, of any check type. */
interface Outcome<Response> {
  readonly endpoint: Endpoint | null;
  readonly response: Response | null;
  readonly failure: Failure | null;
  readonly responseTimeMs: number;
}

/** What differs from type to type; the first two are asked only where there was a response. */
interface Reading<Response> {
  readonly criterion: (response: Response) => Observation['criterion'];
  readonly sources: (response: Response) => SourceValues;
  readonly timesEarlier: (response: Response, byMs: number) => SourceValues;
  readonly detail: Probed['detail'];
}

export function probedOf<Response>(outcome: Outcome<Response>, read: Reading<Response>): Probed {
  const { response, failure, responseTimeMs, endpoint } = outcome;
  return {
    endpoint,
    requestSent: false,
    unencrypted: false,
    failure,
    responseTimeMs,
    criterion: response === null ? 'unmet' : read.criterion(response),
    answered: response !== null,
    packetLossPercent: null,
    networkError: isNetworkError(outcome),
    sources: response === null ? {} : read.sources(response),
    timesEarlier: (byMs) => (response === null ? {} : read.timesEarlier(response, byMs)),
    timedOut: false,
    peerMs: 0,
    clock: 'event-loop',
    longBody: null,
    lackedBytes: 0,
    detail: read.detail,
  };
}

/** The outcome of a probe that broke: it says nothing about the target. */
export const NOTHING_SEEN = {
  responseTimeMs: 0,
  criterion: 'unmet',
  answered: false,
  packetLossPercent: null,
  networkError: false,
  endpoint: null,
  requestSent: false,
  unencrypted: false,
  sources: {},
  timesEarlier: () => ({}),
  timedOut: false,
  peerMs: 0,
  clock: 'event-loop',
  longBody: null,
  lackedBytes: 0,
} as const;

/** RESPONSE_TIME, had the response come this many milliseconds earlier. */
export function responseTimeEarlier(responseTimeMs: number, byMs: number): SourceValues {
  return { RESPONSE_TIME: { kind: 'number', value: Math.max(0, responseTimeMs - byMs) } };
}

/** The fields that every type's details have, from a failure and the run's extras. */
export function commonDetail(
  failure: Failure | null,
  { assertions, jobLog, jobAssets, evidence: { pcapDataUrl, traceroute }, timing }: DetailExtras,
) {
  return {
    assertions,
    requestError: failure?.message ?? null,
    requestErrorCode: failure?.code ?? null,
    jobLog,
    jobAssets,
    pcapDataUrl,
    traceroute,
    timing,
  };
}
