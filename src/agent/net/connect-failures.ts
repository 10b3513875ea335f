import type { ErrorCode, Failure } from '../../model/result/error-codes.ts';
import { endpointText } from '../../runtime/net/endpoint-text.ts';
import { millisecondsText } from '../../runtime/text/duration-text.ts';
import type { NotOpened } from './open-socket.ts';

interface Row {
  readonly code: ErrorCode;
  /** The end of a sentence that starts with the target's name. */
  readonly what: string;
}

const UNREACHABLE: Row = { code: 'CONNECT_UNREACHABLE', what: 'cannot be reached: no route' };
const SHORTAGE: Row = {
  code: 'INTERNAL_ERROR',
  what: 'was not tried: this machine has no file descriptor or port left for a connection; raise its limit (ulimit -n, ip_local_port_range) or add an agent to the location',
};

/** Failures by the operating system's error code while a connection is being established. */
const ROWS: Readonly<Record<string, Row>> = {
  ECONNREFUSED: { code: 'CONNECT_REFUSED', what: 'refused the connection' },
  ETIMEDOUT: { code: 'CONNECT_TIMEOUT', what: 'did not answer' },
  ECONNRESET: {
    code: 'CONNECT_RESET',
    what: 'reset the connection while it was being established',
  },
  EHOSTUNREACH: UNREACHABLE,
  ENETUNREACH: UNREACHABLE,
  EHOSTDOWN: UNREACHABLE,
  ENETDOWN: UNREACHABLE,
  EAFNOSUPPORT: UNREACHABLE,
  EMFILE: SHORTAGE,
  ENFILE: SHORTAGE,
  ENOBUFS: SHORTAGE,
  ENOMEM: SHORTAGE,
  EADDRNOTAVAIL: SHORTAGE,
};

const OTHER: Row = { code: 'CONNECT_FAILED', what: 'could not be connected to' };

/** Immediate errors of a machine that has no IPv6 route or address. */
const NO_IPV6: ReadonlySet<string> = new Set(['ENETUNREACH', 'EADDRNOTAVAIL', 'EAFNOSUPPORT']);

export function mayMeanNoIpv6(systemCode: string): boolean {
  return NO_IPV6.has(systemCode);
}

/** `example.com:443 (192.0.2.1)`; without the parentheses if the target is an address. */
export function targetText(hostname: string, port: number, address: string): string {
  const endpoint = endpointText(hostname, port);
  return hostname === address ? endpoint : `${endpoint} (${address})`;
}

/** Why connecting to one address failed. `target` is the text of targetText. */
export function connectFailure(target: string, end: NotOpened, tookMs: number): Failure {
  switch (end.ended) {
    case 'cancelled':
      return {
        code: 'CANCELLED',
        message: `Connecting to ${target} was cancelled because the agent stops`,
      };
    case 'time-up': {
      const syns =
        end.synsRepeated === 0 ? '' : `, though the SYN was ${sentText(end.synsRepeated)}`;
      return {
        code: 'CONNECT_TIMEOUT',
        message: `${target} did not answer within ${millisecondsText(tookMs)}${syns}`,
      };
    }
    case 'error': {
      const { code, what } = ROWS[end.systemCode] ?? OTHER;
      const message = `${target} ${what} (${end.systemCode} after ${millisecondsText(tookMs)})`;
      return { code, message };
    }
  }
}

/** RFC 6298 2: without a round-trip measurement, TCP repeats a SYN after 1 s. */
export function repeatedSynText(target: string, synsRepeated: number): string {
  return `${target} answered only when the SYN was ${sentText(synsRepeated)}: one was lost on the way, or the target's queue of connections was full`;
}

function sentText(repeated: number): string {
  const times = repeated === 1 ? '' : ` ${repeated} times, the first time`;
  return `sent again${times} after 1 s`;
}

/** The failure of an attempt that must not fall back to IPv4: nothing is known about the target. */
export function notTriedOverIpv6(target: string): Failure {
  return {
    code: 'INTERNAL_ERROR',
    message: `${target} was not tried over IPv6: this machine has no IPv6; give it IPv6, or set ipFamily to IPv4`,
  };
}

/** The failure for an IPv6 literal, which has no IPv4 address to fall back to. */
export function noIpv6Failure(target: string): Failure {
  return {
    code: 'CONNECT_UNREACHABLE',
    message: `${target} cannot be reached: this machine has no IPv6`,
  };
}
