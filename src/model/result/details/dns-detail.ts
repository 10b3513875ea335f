import type { DnsProtocol } from '../../check/request/dns.ts';
import type { CheckDetail, TlsFacts } from './check-detail.ts';
import type { DnsAnswer } from './dns-answer.ts';

/** Milliseconds since the attempt's start. */
export interface DnsTimings {
  readonly end: number;
}

/** Milliseconds. Only DOT and DOH have the phases, which add up to the total within 1 ms. */
export interface DnsTimingPhases {
  readonly tcp?: number;
  readonly tls?: number;
  readonly query?: number;
  readonly total: number;
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
  /** With `compareSerials`: the serial of each name server; null if it did not answer with one. */
  readonly serials?: readonly { readonly nameServer: string; readonly serial: number | null }[];
}

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
