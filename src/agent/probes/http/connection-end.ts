import type { Socket } from 'node:net';
import type { ErrorCode } from '../../../model/result/error-codes.ts';
import { systemCodeOf } from '../../../runtime/errors.ts';
import { endedByReset } from '../../../runtime/net/ended-by-reset.ts';
import { failureOfTlsAlert } from '../../net/tls/tls-alerts.ts';
import type { ExchangeEnd } from './transport.ts';

/** Events of the socket itself, independent of what a parser concludes from them. */
export interface SocketEvidence {
  error: unknown;
  /** The peer closed its side normally. */
  ended: boolean;
}

const UNSEEN_RESET = { code: 'ECONNRESET' };

/** Call it before any other listener is set, so that its listeners run first. */
export function watchSocket(socket: Socket): SocketEvidence {
  const evidence: SocketEvidence = { error: null, ended: false };
  socket.on('error', (error) => {
    evidence.error ??= error;
  });
  socket.once('end', () => {
    if (endedByReset(socket)) evidence.error ??= UNSEEN_RESET;
    else evidence.ended = true;
  });
  return evidence;
}

interface Row {
  /** The code of an end before the response's head was complete. */
  readonly before: ErrorCode;
  /** The code of an end after that. */
  readonly within: ErrorCode;
  readonly what: string;
}

const row = (before: ErrorCode, within: ErrorCode, what: string): Row => ({ before, within, what });
const lost = (what: string): Row => row('CONNECTION_RESET', 'CONNECTION_RESET', what);
const broken = (what: string): Row => row('PROTOCOL_ERROR', 'PROTOCOL_ERROR', what);
const ours = (what: string): Row => row('INTERNAL_ERROR', 'INTERNAL_ERROR', what);

const CLOSED = row('CONNECTION_CLOSED', 'BODY_TRUNCATED', 'the connection was closed');
const WRONG_LENGTH = row(
  'PROTOCOL_ERROR',
  'BODY_TRUNCATED',
  'the response is not as long as its Content-Length says',
);

/** Errors of the operating system: they take precedence over what a parser reports. */
const SYSTEM_ROWS: Readonly<Record<string, Row>> = {
  ECONNRESET: lost('the connection was reset'),
  ECONNABORTED: lost('the connection was aborted'),
  ENETRESET: lost('the network dropped the connection'),
  EPIPE: lost('the connection was reset while the request was sent'),
  EHOSTUNREACH: lost('the route to the host was lost'),
  ENETUNREACH: lost('the route to the network was lost'),
  ENETDOWN: lost('the network went down'),
  ETIMEDOUT: row('RESPONSE_TIMEOUT', 'BODY_TIMEOUT', 'the other side stopped acknowledging'),
};

/** Errors of our transports, the parser (HPE_, see rowOf) and node:http2. */
const PROTOCOL_ROWS: Readonly<Record<string, Row>> = {
  HEADERS_TOO_LARGE: row(
    'HEADERS_TOO_LARGE',
    'HEADERS_TOO_LARGE',
    'the response headers are larger than 64 KiB',
  ),
  WRONG_CONTENT_LENGTH: WRONG_LENGTH,
  CONNECTION_ENDED: CLOSED,
  HPE_INVALID_EOF_STATE: CLOSED,
  UNSENDABLE_REQUEST: ours('the request could not be formed'),
  ERR_HTTP2_ERROR: broken('the other side broke the rules of HTTP/2'),
  ERR_HTTP2_GOAWAY_SESSION: CLOSED,
};

/**
 * Why an exchange failed, from error codes and what the socket reported.
 *
 * @param error the HTTP library's error; null if it reported only the end
 * @param responded whether the response's head was complete
 */
export function describeConnectionEnd(
  error: unknown,
  evidence: SocketEvidence,
  responded: boolean,
): ExchangeEnd {
  const row = systemRowOf(evidence.error) ?? systemRowOf(error) ?? rowOf(error, evidence);
  const where = responded ? 'before the whole body came' : 'before a response came';
  const code = responded ? row.within : row.before;
  const isCut = row === CLOSED || code === 'CONNECTION_RESET';
  return { code, what: isCut ? `${row.what} ${where}` : row.what };
}

/** Whether describeConnectionEnd uses a code, and not only how the connection ended. */
export function isCoded(error: unknown, evidence: SocketEvidence): boolean {
  const code = systemCodeOf(error);
  return isCutOff(evidence) || systemRowOf(error) !== null || (code ?? '') in PROTOCOL_ROWS;
}

/** The operating system or TLS cut the connection: a body that seems complete may be cut. */
export function isCutOff(evidence: SocketEvidence): boolean {
  return systemRowOf(evidence.error) !== null;
}

function systemRowOf(error: unknown): Row | null {
  const code = systemCodeOf(error);
  if (code === null) return null;
  const known = SYSTEM_ROWS[code];
  if (known !== undefined) return known;
  if (code !== 'EPROTO' && !code.startsWith('ERR_SSL_')) return null;
  const alert = failureOfTlsAlert(error);
  if (alert !== null) return row(alert.code, alert.code, `the server ${alert.what}`);
  return broken(`the TLS connection broke (${code})`);
}

function rowOf(error: unknown, evidence: SocketEvidence): Row {
  const code = systemCodeOf(error);
  const known = code === null ? undefined : PROTOCOL_ROWS[code];
  if (known !== undefined) return known;
  // Whatever the code: the other side closed before the response was complete.
  if (evidence.ended && !code?.startsWith('HPE_')) return CLOSED;
  return broken(`the response breaks the rules of HTTP (${reasonOf(error) ?? code ?? 'no code'})`);
}

const MAX_REASON_CHARS = 100;

/** The parser's message, on one line; null if it has none. */
function reasonOf(error: unknown): string | null {
  if (typeof error !== 'object' || error === null || !('message' in error)) return null;
  const [line = ''] = String(error.message).split('\n', 1);
  return line === '' ? null : line.slice(0, MAX_REASON_CHARS);
}
