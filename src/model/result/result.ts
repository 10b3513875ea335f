import type { AssertionResult } from '../check/assertion.ts';
import type { DnsProtocol } from '../check/request/dns.ts';
import type { TcpStep } from '../check/request/tcp.ts';
import type { FamilyChoice, IpFamily, RunnableCheckType } from '../enums.ts';
import type { DnsAnswer } from './dns-answer.ts';
import type { ErrorCode } from './error-codes.ts';
import type { Traceroute } from './traceroute.ts';

/** Results: src/model/README.md, "Results". All times in milliseconds. */

/** Milliseconds since the attempt's start, cumulative; null if the phase was not reached. */
export interface HttpTimings {
  readonly socket: number | null;
  readonly lookup: number | null;
  readonly connect: number | null;
  readonly secureConnect: number | null;
  readonly response: number | null;
  readonly end: number | null;
}

/** Durations, summed over redirects; they add up to the total within 1 ms. */
export interface HttpTimingPhases {
  readonly wait: number;
  readonly dns: number;
  readonly tcp: number;
  readonly tls: number;
  readonly firstByte: number;
  readonly download: number;
  readonly total: number;
}

/** Milliseconds since the attempt's start, cumulative; null if the phase was not reached. */
export interface TcpTimings {
  readonly lookup: number | null;
  readonly connect: number | null;
  /** Absent without TLS. */
  readonly secureConnect?: number | null;
  /** The first byte of the response. */
  readonly response: number | null;
  readonly end: number;
}

export interface TcpTimingPhases {
  readonly dns: number;
  readonly connection: number;
  /** The upgrade to TLS and the handshake; absent without TLS. */
  readonly tls?: number;
  readonly data: number;
  readonly total: number;
}

export interface DnsTimings {
  readonly end: number;
}

/** Over DOT and DOH with the phases, which add up to the total within 1 ms. */
export interface DnsTimingPhases {
  readonly tcp?: number;
  readonly tls?: number;
  readonly query?: number;
  readonly total: number;
}

export interface IcmpTimings {
  readonly lookup: number;
  readonly end: number;
}

export interface IcmpTimingPhases {
  readonly dns: number;
  readonly total: number;
}

export interface CertificateFacts {
  readonly subject: string;
  readonly issuer: string;
  readonly subjectAltNames: readonly string[];
  /** ISO 8601. */
  readonly validFrom: string;
  readonly validTo: string;
  /** Whole days from now to validTo; negative once it is past. */
  readonly daysRemaining: number;
  readonly serialNumber: string;
  readonly fingerprint256: string;
  /** RSA, EC, ED25519, …; absent, like keyBits, in results of older agents. */
  readonly keyType?: string;
  /** null if the type of key has no size. */
  readonly keyBits?: number | null;
}

export interface TlsFacts {
  /** TLSv1.2, TLSv1.3; null if no handshake got that far. */
  readonly protocol: string | null;
  readonly cipher: string | null;
  readonly alpnProtocol: string | null;
  readonly authorized: boolean;
  readonly certificate: CertificateFacts | null;
}

/** A body as it is stored in a result: text up to 10 KB, binary as base64 up to 50 KB. */
export interface StoredBody {
  readonly body: string | null;
  readonly bodyEncoding: 'text' | 'base64' | 'omitted';
  /** Bytes that were read, after decoding. */
  readonly bodyBytes: number;
  /** The body was longer than the 25 MB that are read. */
  readonly bodyTruncated: boolean;
  /** Present if `body` is only the first 10 KB of a longer text. */
  readonly bodyCut?: true;
}

export interface HttpResponse extends StoredBody {
  readonly status: number;
  readonly statusText: string;
  readonly httpVersion: '1.0' | '1.1' | '2';
  /** Lower-case names; repeated fields are joined with ', ', Set-Cookie is an array. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** The address of the last hop. */
  readonly ip: string;
  readonly ipFamily: IpFamily;
  /** The last hop's URL. */
  readonly url: string;
  readonly redirects: readonly { readonly status: number; readonly url: string }[];
  readonly tls: TlsFacts | null;
  readonly timings: HttpTimings;
  readonly timingPhases: HttpTimingPhases;
}

export interface HttpRequestEcho {
  readonly method: string;
  readonly url: string;
  readonly data: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly params: Readonly<Record<string, string>>;
}

export interface TcpResponse {
  readonly data: string;
  readonly address: string;
  readonly port: number;
  readonly ipFamily: IpFamily;
}

export interface DnsResponse {
  /** NOERROR, NXDOMAIN, SERVFAIL, … */
  readonly responseCode: string;
  readonly answer: DnsAnswer;
  /** The answer in the format of dig. */
  readonly text: string;
  readonly nameServer: {
    readonly host: string;
    readonly port: number;
    readonly protocol: DnsProtocol;
  };
  /** With `compareSerials`: what each name server has; null if it did not say. */
  readonly serials?: readonly { readonly nameServer: string; readonly serial: number | null }[];
}

export interface IcmpResponse {
  readonly hostname: string;
  readonly resolvedIp: string;
  readonly ipFamily: IpFamily;
  readonly pingCount: number;
  readonly packetsSent: number;
  readonly packetsReceived: number;
  /** Percent. */
  readonly packetLoss: number;
  readonly dnsResolutionTime: number;
  /** null if no reply came. */
  readonly latency: Readonly<Record<'avg' | 'min' | 'max' | 'stdDev', number | null>>;
  readonly pingResults: readonly {
    readonly sequence: number;
    readonly success: boolean;
    readonly rtt: number | null;
    readonly ttl: number | null;
  }[];
}

/** One line of a job log. `time` is epoch milliseconds. */
export interface LogEntry {
  readonly time: number;
  readonly level: 'info' | 'warn' | 'error';
  readonly msg: string;
}

/**
 * What measured the times: the agent's event loop, which is late if it gets no CPU; the kernel,
 * which is not; or both, the kernel for connecting and the event loop for the rest.
 */
export type TimingClock = 'event-loop' | 'kernel' | 'mixed';

/** How exact the times of an attempt are. */
export interface Timing {
  /**
   * Milliseconds by which they may be too long. Only times after the first byte may be too short.
   */
  readonly uncertaintyMs: number;
  /** A TimingClock, or another value of a newer agent. */
  readonly clock: string;
}

/** The state of the connection in the agent's kernel, at its end. */
export interface TcpFacts {
  /** The end of the connection: through a proxy, the proxy. */
  readonly peer: 'target' | 'proxy';
  /** Round-trip times: smoothed, and the minimum, null if unknown. */
  readonly rttMs: number;
  readonly minRttMs: number | null;
  /** Segments that the agent retransmitted, including the SYN. */
  readonly retransmits: number;
  /** Maximum bytes of data in a segment to the peer. */
  readonly mss: number;
}

/** `unanswered`: the other family was connected first, which ended it (ANY only). */
export const FAMILY_OUTCOMES = ['passed', 'degraded', 'failed', 'unanswered'] as const;

/** How one address family of the target did: only with `ipFamily` ANY and BOTH. */
export interface FamilyOutcome {
  readonly ipFamily: IpFamily;
  /** null if none was tried. */
  readonly address: string | null;
  readonly outcome: (typeof FAMILY_OUTCOMES)[number];
  /** Milliseconds; null with ANY, where only one family gets further than a connection. */
  readonly responseTime: number | null;
  readonly requestErrorCode: ErrorCode | null;
  readonly requestError: string | null;
}

/** A part of the details of checks that may use either address family. */
export interface FamiliesDetail {
  /** Absent unless the check asks for ANY or BOTH. With ANY those of the last connection. */
  readonly families?: readonly FamilyOutcome[];
}

/** The fields common to the details of all types. */
export interface CheckDetail<Request, Response> {
  readonly request: Request;
  readonly response: Response | null;
  readonly assertions: readonly AssertionResult[];
  readonly requestError: string | null;
  readonly requestErrorCode: ErrorCode | null;
  readonly jobLog: readonly LogEntry[];
  readonly jobAssets: readonly string[];
  readonly pcapDataUrl: string | null;
  readonly traceroute: Traceroute | null;
  /** Absent in results of older agents. */
  readonly timing?: Timing;
}

/**
 * Timings and TLS facts are in the response, or here if there was none (src/model/README.md,
 * "Results").
 */
export interface HttpDetail extends CheckDetail<HttpRequestEcho, HttpResponse>, FamiliesDetail {
  readonly timings?: HttpTimings;
  readonly timingPhases?: HttpTimingPhases;
  readonly tls?: TlsFacts | null;
  /**
   * The connection of the last hop, with or without a response; absent in results of older agents.
   */
  readonly tcp?: TcpFacts | null;
}

export type TcpDetail = CheckDetail<
  {
    hostname: string;
    port: number;
    data: string | null;
    /** Absent without steps; `send` is cut. */
    steps?: readonly TcpStep[];
    ipFamily: FamilyChoice;
  },
  TcpResponse
> &
  FamiliesDetail & {
    readonly timings: TcpTimings;
    readonly timingPhases: TcpTimingPhases;
    /** Absent in results of older agents. */
    readonly tcp?: TcpFacts | null;
    /** Also of a handshake that failed; null without TLS, absent in results of older agents. */
    readonly tls?: TlsFacts | null;
  };

export type DnsDetail = CheckDetail<
  {
    query: string;
    recordType: string;
    nameServer: string | null;
    port: number;
    protocol: DnsProtocol;
  },
  DnsResponse
> & {
  readonly timings: DnsTimings;
  readonly timingPhases: DnsTimingPhases;
  /** Over DOT and DOH only, with or without a response; null if there was no handshake. */
  readonly tls?: TlsFacts | null;
};

export type IcmpDetail = CheckDetail<
  { hostname: string; pingCount: number; ipFamily: FamilyChoice },
  IcmpResponse
> &
  FamiliesDetail & { readonly timings: IcmpTimings; readonly timingPhases: IcmpTimingPhases };

export type ResultType = 'FINAL' | 'ATTEMPT';

/** One attempt of one run: src/model/README.md, "Results", with the details of the check's type. */
export interface CheckResult {
  readonly resultType: ResultType;
  readonly id: string;
  readonly name: string;
  readonly checkId: string;
  readonly checkType: RunnableCheckType;
  readonly hasFailures: boolean;
  readonly hasErrors: boolean;
  readonly isDegraded: boolean;
  readonly isCancelled: boolean;
  readonly overMaxResponseTime: boolean;
  readonly runLocation: string;
  /** ISO 8601, like the two after it. */
  readonly startedAt: string;
  readonly stoppedAt: string;
  readonly created_at: string;
  readonly responseTime: number;
  readonly apiCheckResult: HttpDetail | null;
  readonly tcpCheckResult: TcpDetail | null;
  readonly dnsCheckResult: DnsDetail | null;
  readonly icmpCheckResult: IcmpDetail | null;
  readonly browserCheckResult: null;
  readonly multiStepCheckResult: null;
  readonly agenticCheckResult: null;
  /** The slot in epoch milliseconds. */
  readonly checkRunId: number;
  /** FINAL: retries made. ATTEMPT: attempts that came before this one. */
  readonly attempts: number;
  readonly sequenceId: string;
  readonly errorGroupIds: readonly string[];
}

/** Why a slot was not run. A test compares the table of the README with this list. */
export const MISSED_REASONS = {
  previous_run_active: "The check's previous run was still active.",
  agent_busy:
    'All JOB_CONCURRENCY permits, all SCRIPT_WORKERS, or all the memory for response bodies, were in use until it was too late.',
  agent_asleep:
    'The process did not run in time: the machine was asleep or the process was suspended.',
  clock_jump: 'The wall clock was set forward over the slot.',
  agent_offline: 'The agent itself had no network (CONNECTIVITY_CHECK).',
  agent_starved:
    'The agent was short of CPU: no attempt had a certain verdict, or the run was skipped.',
  agent_stopped: 'The agent was not running, or stopped before the run was complete.',
  agent_fault: 'A fault of the agent itself ended the run.',
  spool_damaged:
    "The slot may have been run: its record on the agent's disk was damaged and is lost.",
  unassigned: 'No agent had the check: the previous agent was lost, or no agent was connected.',
} as const;
export type MissedReason = keyof typeof MISSED_REASONS;

/** Consecutive slots of one check that were not run, all for the same reason. */
export interface MissedSlots {
  readonly checkId: string;
  /** Epoch milliseconds of the first of them. */
  readonly slot: number;
  /** Epoch milliseconds of the last of them; the same as `slot` for one. */
  readonly lastSlot: number;
  readonly count: number;
  readonly reason: MissedReason;
}
