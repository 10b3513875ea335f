import { constants } from 'node:http2';
import { describeConnectionEnd, isCoded, type SocketEvidence } from '../connection-end.ts';
import type { ExchangeEnd } from '../transport.ts';

export interface Http2End {
  /** The stream's error; null if it only closed. */
  readonly error: unknown;
  /** The code of its RST_STREAM, 0 for none. Node also sets one when the connection ends. */
  readonly resetCode: number;
  /** The server sent GOAWAY: it accepts no further requests. */
  readonly goaway: boolean;
  readonly closed: boolean;
  /** The body is not as long as the response announced. */
  readonly short: boolean;
  readonly evidence: SocketEvidence;
  readonly responded: boolean;
}

/** RFC 9113 7, by number. */
const CODE_NAMES = [
  'NO_ERROR',
  'PROTOCOL_ERROR',
  'INTERNAL_ERROR',
  'FLOW_CONTROL_ERROR',
  'SETTINGS_TIMEOUT',
  'STREAM_CLOSED',
  'FRAME_SIZE_ERROR',
  'REFUSED_STREAM',
  'CANCEL',
  'COMPRESSION_ERROR',
  'CONNECT_ERROR',
  'ENHANCE_YOUR_CALM',
  'INADEQUATE_SECURITY',
  'HTTP_1_1_REQUIRED',
];

/** Codes for broken rules, whichever side noticed them. */
const RULE_CODES: ReadonlySet<number> = new Set([
  constants.NGHTTP2_PROTOCOL_ERROR,
  constants.NGHTTP2_FLOW_CONTROL_ERROR,
  constants.NGHTTP2_STREAM_CLOSED,
  constants.NGHTTP2_FRAME_SIZE_ERROR,
  constants.NGHTTP2_COMPRESSION_ERROR,
]);

export function describeHttp2End(end: Http2End): ExchangeEnd {
  const { error, resetCode, evidence, responded } = end;
  if (isCoded(error, evidence)) return describeConnectionEnd(error, evidence, responded);
  if (!responded && resetCode === constants.NGHTTP2_ENHANCE_YOUR_CALM) {
    // Node's own way to refuse a header block that is over the limit.
    return describeConnectionEnd({ code: 'HEADERS_TOO_LARGE' }, evidence, responded);
  }
  if (responded && end.short && resetCode === constants.NGHTTP2_PROTOCOL_ERROR) {
    // RFC 9113 8.1.1: an end before the announced length is a protocol error.
    return describeConnectionEnd({ code: 'WRONG_CONTENT_LENGTH' }, evidence, responded);
  }
  const name = CODE_NAMES[resetCode] ?? `code ${resetCode}`;
  if (RULE_CODES.has(resetCode)) {
    return { code: 'PROTOCOL_ERROR', what: `the rules of HTTP/2 were broken (${name})` };
  }
  const where = responded ? 'before the whole body came' : 'before a response came';
  if (end.goaway || end.closed || resetCode === constants.NGHTTP2_NO_ERROR) {
    const what = end.goaway
      ? 'the server ended the connection (GOAWAY)'
      : 'the connection was closed';
    return { code: responded ? 'BODY_TRUNCATED' : 'CONNECTION_CLOSED', what: `${what} ${where}` };
  }
  const what = `the server reset the stream (${name}) ${where}`;
  const isRequired = !responded && resetCode === constants.NGHTTP2_HTTP_1_1_REQUIRED;
  return { code: 'CONNECTION_RESET', what, ...(isRequired ? { http1Required: true } : {}) };
}
