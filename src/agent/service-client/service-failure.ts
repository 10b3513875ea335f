import { type Scrub, shortenedReadable } from '../secrets/cut-scrubbed.ts';
import type { RouteProxy } from './dispatchers.ts';

/**
 * Why a request failed. Callers decide by the kind alone:
 * - `offline`: no answer (refused, reset, timed out, TLS, name not found)
 * - `busy`: 429, 503 and the like, so the request can be repeated after `retryAfterMs`
 * - `failed`: another 5xx, or an answer that is not the service's
 * - `unauthorized`: 401 or 403, so the key must change
 * - `mismatch`: 426, so the agent or the service must be upgraded
 * - `refused`: another 4xx of the service's own, so the same request will be refused again
 * - `stopped`: our own signal aborted
 */
export type ServiceFailureKind =
  | 'offline'
  | 'busy'
  | 'failed'
  | 'unauthorized'
  | 'mismatch'
  | 'refused'
  | 'stopped';

export interface ServiceFailure {
  readonly kind: ServiceFailureKind;
  /** HTTP status of the answer; null if none came. */
  readonly status: number | null;
  /** One line for the log: what, where, what to do. */
  readonly message: string;
  /** The delay of Retry-After in milliseconds, an hour at most; null if there is none. */
  readonly retryAfterMs: number | null;
  /** Attributes of the service's error answer; empty if it was not one. */
  readonly attributes: Readonly<Record<string, unknown>>;
}

export type ServiceResponse<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly failure: ServiceFailure };

/** The receiver of a request: the service, or the object store behind it, by a signed address. */
export interface Peer {
  readonly isService: boolean;
  /** Scheme, host and port: the rest of a signed address is a secret. */
  readonly origin: string;
  /** Default: none. */
  readonly proxy?: RouteProxy | null;
  /** Masks secrets that were sent to the peer in its texts. */
  readonly scrub: Scrub;
}

const MAX_MESSAGE_CHARS = 500;

/** One line about the peer. Text of the peer must neither forge lines of the log nor fill it. */
export function messageAbout({ isService, origin, proxy, scrub }: Peer, what: string): string {
  const name = isService ? 'service' : 'object store';
  const between = proxy ? ` (through the proxy ${proxy.shown})` : '';
  return shortenedReadable(
    `the ${name} at ${origin}${between} ${what}`,
    MAX_MESSAGE_CHARS,
    scrub,
    (text) => text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' '),
  );
}

export function serviceFailure(kind: ServiceFailureKind, message: string): ServiceFailure {
  return { kind, status: null, message, retryAfterMs: null, attributes: {} };
}

export const STOPPED = serviceFailure('stopped', 'the request was interrupted: the agent stops');
