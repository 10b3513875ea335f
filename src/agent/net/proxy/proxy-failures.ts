import { MASK } from '../../../model/credentials/mask.ts';
import type { ErrorCode, Failure } from '../../../model/result/error-codes.ts';
import { ASKS_FOR_CREDENTIALS } from '../../../runtime/net/proxy/connect-response.ts';
import type { HttpProxy } from '../../../runtime/net/proxy/proxy-url.ts';
import { millisecondsText } from '../../../runtime/text/duration-text.ts';
import { type Scrub, shortenedReadable } from '../../secrets/cut-scrubbed.ts';
import type { NoTunnel } from './open-tunnel.ts';

/** Codes that say nothing about the proxy. */
const NOT_THE_PROXYS: ReadonlySet<ErrorCode> = new Set([
  'CANCELLED',
  'INTERNAL_ERROR',
  'ADDRESS_DENIED',
]);

/**
 * Why the proxy of a location must not be used; null if it may be, or there is none.
 *
 * @param proxy as `parseProxy` reads the URL
 */
export function unusableProxy(proxyUrl: string | null, proxy: HttpProxy | null): Failure | null {
  if (proxy !== null) return proxyNotReadable(proxy);
  return proxyUrl === null ? null : { code: 'PROXY_UNREACHABLE', message: UNUSABLE_PROXY };
}

const UNUSABLE_PROXY =
  "The location's proxyUrl cannot be used: it must be like http://proxy.example.com:3128, with a user and password before the host at most, and every / ? # @ : in them percent-encoded";

/**
 * Why the proxy must not be used: the service sends a mask instead of a password, or of a user
 * without a password, that it cannot decrypt. null if it may be used.
 */
function proxyNotReadable({ secrets }: HttpProxy): Failure | null {
  if (!secrets.includes(MASK)) return null;
  return {
    code: 'CREDENTIAL_NOT_READABLE',
    message:
      "The location's proxyUrl has a credential that the service cannot decrypt, so nothing was sent: give the location its proxyUrl again, or put the key that encrypted it after the other keys in ENCRYPTION_KEY of the service and restart it.",
  };
}

/** Why connecting to the proxy failed, from the failure of its look-up, TCP or TLS. */
export function proxyUnreachable({ shown }: HttpProxy, failure: Failure): Failure {
  const code = NOT_THE_PROXYS.has(failure.code) ? failure.code : 'PROXY_UNREACHABLE';
  return { code, message: `The proxy ${shown} cannot be used: ${failure.message}` };
}

/** Why a tunnel is used, for messages. */
export interface TunnelUse {
  readonly target: string;
  /** http goes through a tunnel, too, because TARGET_DENY is set. */
  readonly becauseOfDeny: boolean;
}

export function tunnelFailure(
  proxy: HttpProxy,
  { target, becauseOfDeny }: TunnelUse,
  end: NoTunnel,
  { tookMs, scrub }: { readonly tookMs: number; readonly scrub: Scrub },
): Failure {
  const { shown } = proxy;
  switch (end.ended) {
    case 'cancelled':
      return {
        code: 'CANCELLED',
        message: `Connecting to ${target} was cancelled because the agent stops`,
      };
    case 'time-up': {
      const message = `The proxy ${shown} did not answer within ${millisecondsText(tookMs)} whether it connects to ${target}: it may wait for the target itself`;
      return { code: 'CONNECT_TIMEOUT', message };
    }
    case 'broken': {
      const message = `The proxy ${shown} made no connection to ${target}: ${end.what}`;
      return { code: 'PROXY_UNREACHABLE', message };
    }
    case 'answered': {
      const { status, reason } = end;
      if (ASKS_FOR_CREDENTIALS.has(status)) return credentialsFailure(proxy, target, end, scrub);
      const answer = `it answered ${status}${reasonText(reason, scrub)} to CONNECT`;
      const advice = status >= 500 ? UNABLE : becauseOfDeny ? FORBIDDEN_TO_DENY : FORBIDDEN;
      const message = `The proxy ${shown} made no connection to ${target}: ${answer}; ${advice}`;
      return { code: 'PROXY_REFUSED', message };
    }
  }
}

const UNABLE = 'it could not reach the target, or not find its name';
const FORBIDDEN = "its rules have to allow the target's host and port";
const FORBIDDEN_TO_DENY = `${FORBIDDEN}, also for CONNECT, by which all goes where TARGET_DENY is set`;

/** The failure for such an answer to CONNECT, or for a 407 to a request. */
export function credentialsFailure(
  proxy: HttpProxy,
  target: string,
  { status, reason }: { readonly status: number; readonly reason: string },
  scrub: Scrub,
): Failure {
  const { shown } = proxy;
  const answer = `${status}${reasonText(reason, scrub)}`;
  const message = `The proxy ${shown} requires credentials to connect to ${target}: it answered ${answer}; ${credentialsAdvice(proxy)}`;
  return { code: 'PROXY_AUTH_REQUIRED', message };
}

const MAX_REASON_CHARS = 100;

/** The proxy's free text, in brackets: it must neither forge log lines nor fill the log. */
function reasonText(reason: string, scrub: Scrub): string {
  const printable = (text: string): string => text.replaceAll(/[^\x20-\x7e]+/g, ' ').trim();
  const shown = shortenedReadable(reason, MAX_REASON_CHARS, scrub, printable);
  return shown === '' ? '' : ` (${shown})`;
}

function credentialsAdvice({ authorization }: HttpProxy): string {
  if (authorization === null) return "the location's proxyUrl has to name a user and a password";
  return "it rejected the user and password of the location's proxyUrl";
}
