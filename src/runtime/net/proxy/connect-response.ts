import { decodedHeaderText } from '../header-text.ts';

/** A proxy's answer to CONNECT, from its bytes so far. */
export type ConnectResponse =
  | { readonly kind: 'incomplete' }
  /** `rest`: the bytes after the head; after a 2xx they come from the target. */
  | {
      readonly kind: 'answer';
      readonly status: number;
      /** Unmodified: see reasonText. */
      readonly reason: string;
      readonly rest: Buffer;
    }
  | { readonly kind: 'foreign'; readonly isTls: boolean }
  | { readonly kind: 'too-long' };

/** RFC 9110 15.5.8; and 401, by which some proxies answer to a wrong user or password. */
export const ASKS_FOR_CREDENTIALS: ReadonlySet<number> = new Set([401, 407]);

/** Usual heads have a few hundred bytes, or a few thousand with a request for credentials. */
export const MAX_HEAD_BYTES = 16 * 1024;

const PROTOCOL = Buffer.from('HTTP/1.');
const STATUS_LINE = /^HTTP\/1\.\d (\d{3})(?: ([^\r\n]*))?\r?\n/;
const INCOMPLETE = { kind: 'incomplete' } as const;
/** The first byte of every TLS record that a peer without a key can send (RFC 8446 5.1). */
const TLS_RECORDS: ReadonlySet<number> = new Set([20, 21, 22]);

/**
 * Reads the head of an answer to CONNECT from all bytes so far. Skips interim responses (1xx).
 * Ignores header fields: a 2xx to CONNECT has no content, regardless of its fields (RFC 9110 9.3.6),
 * and the status of a refusal is enough.
 */
export function readConnectResponse(bytes: Buffer): ConnectResponse {
  let left = bytes;
  for (;;) {
    const start = left.subarray(0, PROTOCOL.length);
    if (!start.equals(PROTOCOL.subarray(0, start.length))) {
      return { kind: 'foreign', isTls: TLS_RECORDS.has(left[0] ?? 0) };
    }
    const text = left.toString('latin1', 0, MAX_HEAD_BYTES);
    const end = /\r?\n\r?\n/.exec(text);
    if (end === null) return bytes.length >= MAX_HEAD_BYTES ? { kind: 'too-long' } : INCOMPLETE;
    const line = STATUS_LINE.exec(text);
    if (line === null) return { kind: 'foreign', isTls: false };
    const [, status = '', reason = ''] = line;
    const rest = left.subarray(end.index + end[0].length);
    if (status.startsWith('1') && status !== '101') {
      left = rest;
      continue;
    }
    return { kind: 'answer', status: Number(status), reason: decodedHeaderText(reason), rest };
  }
}
