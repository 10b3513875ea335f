import type { HttpResponse } from '../../../model/result/details/http-detail.ts';
import type { ErrorCode } from '../../../model/result/error-codes.ts';

export interface HopRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer | null;
  /** Replaces path and query in the request line: the whole URL, for a proxy. */
  readonly requestTarget?: string;
}

/** Status line and header fields of a final response, not cut. */
export type ResponseHead = Pick<HttpResponse, 'status' | 'statusText' | 'httpVersion' | 'headers'>;

/** Why an exchange ended early. `what` continues a sentence that starts with the target's name. */
export interface ExchangeEnd {
  readonly code: ErrorCode;
  readonly what: string;
  /** The server accepts this request only over HTTP/1.1 (RFC 9113 7, HTTP_1_1_REQUIRED). */
  readonly http1Required?: true;
}

/**
 * Events of a transport: `firstByte` (again after an interim response), `head` once, `data` for
 * each piece, `read` after each read that did not end the response, and finally `end` or `failed`.
 * `end` says what ended the response: the last read, or the end of the connection.
 */
export interface TransportEvents {
  firstByte(): void;
  head(head: ResponseHead): void;
  data(chunk: Buffer): void;
  read(): void;
  end(by: 'read' | 'connection'): void;
  failed(ending: ExchangeEnd): void;
  /** Instead of either: our own code threw, which ends the exchange. */
  fault(thrown: unknown): void;
}

export interface Transport {
  /** Stops reading until `resume`; data in flight still arrives. */
  pause(): void;
  resume(): void;
  /** Closes the connection in this event-loop iteration. Call it at any time, also repeatedly. */
  destroy(): void;
}

/**
 * Header fields as results contain them: names in lower case, repeated fields joined with ', ' (RFC
 * 9110 5.3). Set-Cookie, which cannot be joined, is always an array. So are several different
 * Locations, which would make a wrong URL if they were joined.
 */
export function resultHeaders(
  fields: Iterable<readonly [string, string | readonly string[] | undefined]>,
): ResponseHead['headers'] {
  const entries: [string, string | readonly string[]][] = [];
  for (const [name, value] of fields) {
    if (value === undefined) continue;
    if (name === 'set-cookie') entries.push([name, typeof value === 'string' ? [value] : value]);
    else if (typeof value === 'string') entries.push([name, value]);
    else entries.push([name, name === 'location' ? oneOrAll(value) : value.join(', ')]);
  }
  // fromEntries defines own properties, so a header named __proto__ is one like any other.
  return Object.fromEntries(entries);
}

function oneOrAll(values: readonly string[]): string | readonly string[] {
  const [first = '', ...others] = new Set(values);
  return others.length === 0 ? first : values;
}
