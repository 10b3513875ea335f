import type { AssertionResult } from '../../../model/check/assertions/assertion.ts';
import type { CheckOf } from '../../../model/check/check.ts';
import type { RunnableCheckType } from '../../../model/enums.ts';
import type {
  FamiliesDetail,
  FamilyOutcome,
  LogEntry,
  Timing,
  TimingClock,
  TlsFacts,
} from '../../../model/result/details/check-detail.ts';
import type { Failure } from '../../../model/result/error-codes.ts';
import type { CheckResult } from '../../../model/result/result.ts';
import type { Observation } from '../../../model/result/verdict.ts';
import type { SourceValues } from '../../assertions/evaluator.ts';
import type { Receiver } from '../../config/variable-targets.ts';
import type { ReportedEvidence } from '../../evidence/evidence-budget.ts';
import type { Endpoint } from '../../probes/endpoint.ts';
import type { BodyMemory } from '../../probes/http/body/body-memory.ts';
import { isNetworkError, type ProbeContext } from '../../probes/probe.ts';

/** The field of a result with the details of the check's type. */
export type DetailFields = Partial<
  Pick<CheckResult, 'apiCheckResult' | 'tcpCheckResult' | 'dnsCheckResult' | 'icmpCheckResult'>
>;

/** Added to a probe's outcome to make a result's details. */
export interface DetailExtras {
  readonly assertions: readonly AssertionResult[];
  readonly jobLog: readonly LogEntry[];
  /** Paths for downloading the artifacts of the attempt. */
  readonly jobAssets: readonly string[];
  readonly evidence: ReportedEvidence;
  readonly timing: Timing;
  /**
   * The outcomes of an attempt over each family; default: those of the race in the probe, if any.
   */
  readonly families?: readonly FamilyOutcome[];
}

/** A body that the result contains only in part, or not at all. */
export interface LongBody {
  /** The part that was read and fitted in memory. */
  readonly bytes: Buffer;
  readonly contentType: string | null;
  /** All bytes that were read. */
  readonly totalBytes: number;
}

/** A probe's outcome, common to all check types. */
export interface Probed extends Omit<Observation, 'assertionsFailed'> {
  /** No response of any kind came (`onlyOn: NETWORK_ERROR`). */
  readonly networkError: boolean;
  /** null if the probe ended before it was known. */
  readonly endpoint: Endpoint | null;
  /** An HTTP request was sent, so the target may have acted on it. */
  readonly requestSent: boolean;
  /** Others on the way can read the request. */
  readonly unencrypted: boolean;
  /** The sources of assertions; without a response, only what is known of a failed handshake. */
  readonly sources: SourceValues;
  /** The sources with times, as if everything had come `byMs` earlier. */
  readonly timesEarlier: (byMs: number) => SourceValues;
  /** The part of the response time that the kernel attributes to the target; 0 if unknown. */
  readonly peerMs: number;
  /** Which clock measured its times. */
  readonly clock: TimingClock;
  /** The probe may have failed only because the agent was too short of CPU for an expression. */
  readonly isCutShort: boolean;
  /** A wait ended at its time limit, which is not a failure. */
  readonly timedOut: boolean;
  readonly longBody: LongBody | null;
  /** Bytes that the body needs for the assertions; 0 if there was enough memory. */
  readonly lackedBytes: number;
  detail(extras: DetailExtras): DetailFields;
}

/** Implemented by each check type. */
export interface CheckTypeRunner<Type extends RunnableCheckType> {
  /**
   * Never rejects because of a target; a rejection is a fault of the agent.
   *
   * @param bodyMemory for a body that is longer than a result stores
   */
  probe(check: CheckOf<Type>, context: ProbeContext, bodyMemory: BodyMemory): Promise<Probed>;
  /**
   * The receivers of the request, as far as they are known before it is sent. Called only if the
   * request contains variables of the agent itself.
   */
  receivers(check: CheckOf<Type>): readonly Receiver[];
  /** The outcome of an attempt without a probe. */
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

/** The type's part of `Probed`; all but `detail` are called only if there was a response. */
interface Reading<Response> {
  readonly criterion: (response: Response) => Observation['criterion'];
  readonly sources: (response: Response) => SourceValues;
  readonly timesEarlier: (response: Response, byMs: number) => SourceValues;
  readonly detail: Probed['detail'];
  /** Present even if there was no response: a handshake fails after it showed the certificate. */
  readonly tls?: TlsFacts | null;
}

export function toProbed<Response>(outcome: Outcome<Response>, read: Reading<Response>): Probed {
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
    sources: response === null ? ofHandshake(read.tls ?? null) : read.sources(response),
    timesEarlier: (byMs) => (response === null ? {} : read.timesEarlier(response, byMs)),
    timedOut: false,
    isCutShort: false,
    peerMs: 0,
    clock: 'event-loop',
    longBody: null,
    lackedBytes: 0,
    detail: read.detail,
  };
}

function ofHandshake(facts: TlsFacts | null): SourceValues {
  return facts === null ? {} : { CERTIFICATE: { kind: 'tls', facts } };
}

/** The outcome without a probe: it says nothing about the target. */
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
  isCutShort: false,
  peerMs: 0,
  clock: 'event-loop',
  longBody: null,
  lackedBytes: 0,
} as const;

/** RESPONSE_TIME as if the response had come `byMs` earlier. */
export function responseTimeEarlier(responseTimeMs: number, byMs: number): SourceValues {
  return { RESPONSE_TIME: { kind: 'number', value: Math.max(0, responseTimeMs - byMs) } };
}

/** The fields in the details of every type. */
export function commonDetailFields(
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

/** The families of a detail, if there are any. */
export function familiesIn({
  families,
}: {
  readonly families?: readonly FamilyOutcome[] | undefined;
}): FamiliesDetail {
  return families === undefined ? {} : { families };
}
