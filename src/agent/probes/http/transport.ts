import type { ErrorCode } from '../../../model/result/error-codes.ts';
import type { HttpResponse } from '../../../model/result/result.ts';

/** One request as it goes over one connection. */
export interface HopRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer | null;
  /** What stands in the request line in place of path and query: the whole URL, for a proxy. */
  readonly requestTarget?: string;
}

/** Status line and header fields of a final response, as long as they came. */
export type ResponseHead = Pick<HttpResponse, 'status' | 'statusText' | 'httpVersion' | 'headers'>;

/** Why an exchange ended early. `what` goes on a sentence that starts with the target's name. */
export interface Ending {
  readonly code: ErrorCode;
  readonly what: string;
  /** The server takes this request over HTTP/1.1 alone (RFC 9113 7, HTTP_1_1_REQUIRED). */
  readonly http1Required?: true;
}

/**
 * What a transport tells as it goes: `firstByte` (again where the bytes before were an interim
 * response), `head` once, `data` as it comes, `read` after each read that ended nothing, whatever it
 * brought, and then one of `end` and `failed`.
 */
export interface TransportEvents {
  firstByte(): void;
  head(head: ResponseHead): void;
  data(chunk: Buffer): void;
  read(): void;
  end(): void;
  failed(ending: Ending): void;
  /** Instead of either: something of ours threw, which ends the exchange. */
  fault(thrown: unknown): void;
}

/** One request under way on its own connection. */
export interface Transport {
  /** Asks for no more data until `resume`; what is already on its way still comes. */
  pause(): void;
  resume(): void;
  /** Closes the connection in this event-loop iteration. Call it at any time, also repeatedly. */
  destroy(): void;
}

/**
 * Header fields as results have them: lower-case names, repeated fields joined with ', ' (RFC
 * 9110 5.3), Set-Cookie, which cannot be joined, always an array, and Location one where there are
 * several different ones: joined they would give a wrong URL.
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
  // fromEntries defines own properties, so that a header named __proto__ is one like any other.
  return Object.fromEntries(entries);
}

function oneOrAll(values: readonly string[]): string | readonly string[] {
  const [first = '', ...others] = new Set(values);
  return others.length === 0 ? first : values;
}
