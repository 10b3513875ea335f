import type { AssertionResult } from '../../check/assertions/assertion.ts';
import type { IpFamily } from '../../enums.ts';
import type { ErrorCode } from '../error-codes.ts';
import type { Traceroute } from '../traceroute.ts';

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
  /** The other end of the connection: the target, or the proxy before it. */
  readonly peer: 'target' | 'proxy';
  /** Milliseconds: the smoothed round-trip time, and the minimum (null if unknown). */
  readonly rttMs: number;
  readonly minRttMs: number | null;
  /** Segments that the agent retransmitted, including the SYN. */
  readonly retransmits: number;
  /** Maximum bytes of data in a segment to the peer. */
  readonly mss: number;
}

/** `unanswered`: the other family was connected first, which ended it (ANY only). */
export const FAMILY_OUTCOMES = ['passed', 'degraded', 'failed', 'unanswered'] as const;

/** The outcome for one address family of the target: only with `ipFamily` ANY and BOTH. */
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
  /** Absent unless `ipFamily` is ANY or BOTH. With ANY, the families of the last connection. */
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
