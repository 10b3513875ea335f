import type { IpFamily } from '../../enums.ts';
import type { CheckDetail, FamiliesDetail, TcpFacts, TlsFacts } from './check-detail.ts';

/** Milliseconds since the attempt's start, cumulative; null if the phase was not reached. */
export interface HttpTimings {
  readonly socket: number | null;
  readonly lookup: number | null;
  readonly connect: number | null;
  readonly secureConnect: number | null;
  readonly response: number | null;
  readonly end: number | null;
}

/** Durations in milliseconds, summed over redirects; they add up to the total within 1 ms. */
export interface HttpTimingPhases {
  readonly wait: number;
  readonly dns: number;
  readonly tcp: number;
  readonly tls: number;
  readonly firstByte: number;
  readonly download: number;
  readonly total: number;
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
