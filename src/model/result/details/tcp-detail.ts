import type { TcpStep } from '../../check/request/tcp.ts';
import type { FamilyChoice, IpFamily } from '../../enums.ts';
import type { CheckDetail, FamiliesDetail, TcpFacts, TlsFacts } from './check-detail.ts';

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

/** Durations in milliseconds; they add up to the total within 1 ms. */
export interface TcpTimingPhases {
  readonly dns: number;
  readonly connection: number;
  /** The upgrade to TLS and the handshake; absent without TLS. */
  readonly tls?: number;
  readonly data: number;
  readonly total: number;
}

export interface TcpResponse {
  readonly data: string;
  readonly address: string;
  readonly port: number;
  readonly ipFamily: IpFamily;
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
