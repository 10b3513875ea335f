import { retryAfterMs } from '../../runtime/backoff.ts';
import { ASKS_FOR_CREDENTIALS } from '../../runtime/net/proxy/connect-response.ts';
import { type ErrorResponse, mismatchIn } from '../../wire/v1/error-response.ts';
import { credentialsText, offlineFailure, rulesText } from './connection-failures.ts';
import type { RouteProxy } from './dispatchers.ts';
import {
  messageAbout,
  type Peer,
  type ServiceFailure,
  type ServiceFailureKind,
  serviceFailure,
} from './service-failure.ts';

export interface ErrorStatus {
  readonly status: number;
  readonly retryAfter: string | null;
  /** The Location of a redirect. */
  readonly location: string | null;
  /** Null if the answer is not of the form that the service's errors have. */
  readonly answer: ErrorResponse | null;
}

const FORBIDDEN = 403;
const TOO_LARGE = 413;

/** Applies to any body: a proxy that refuses a request uses the same statuses. */
const KIND_OF_STATUS: Readonly<Record<number, ServiceFailureKind>> = {
  401: 'unauthorized',
  403: 'unauthorized',
  408: 'failed',
  413: 'refused',
  425: 'busy',
  426: 'mismatch',
  429: 'busy',
  503: 'busy',
};
/** An object store uses statuses differently: 403 is an expired signature. */
const BUSY: ReadonlySet<number> = new Set([429, 503]);

const MAX_RETRY_AFTER_MS = 3_600_000;

const ADVICE: Readonly<Partial<Record<ServiceFailureKind, string>>> = {
  unauthorized: 'see that API_KEY is a key of this private location that was not revoked',
  mismatch: 'upgrade the older one of the agent and the service',
};
/** The longest body that an agent sends is a part of an artifact, 8 MiB. */
const BODY_LIMIT_ADVICE =
  'let the proxy accept longer bodies, up to 16 MiB (nginx: client_max_body_size 16m)';

export function failureFromStatus(peer: Peer, error: ErrorStatus, wallMs: number): ServiceFailure {
  const { status, answer } = error;
  const forwarder = peer.proxy?.forwards === true && answer === null ? peer.proxy : null;
  if (forwarder !== null && ASKS_FOR_CREDENTIALS.has(status)) {
    return { ...offlineFailure(peer, credentialsText(forwarder, status)), status };
  }
  const isForbidden = forwarder !== null && status === FORBIDDEN;
  const ofPeer = peer.isService ? serviceKind(error) : BUSY.has(status) ? 'busy' : 'failed';
  const kind = isForbidden ? 'failed' : ofPeer;
  const advice = isForbidden ? `; ${rulesText(forwarder)}` : '';
  return {
    kind,
    status,
    message: messageAbout(peer, `${answeredText(peer, error, kind, forwarder)}${advice}`),
    retryAfterMs: retryAfterMs(error.retryAfter, wallMs, MAX_RETRY_AFTER_MS),
    attributes: answer?.attributes ?? {},
  };
}

function serviceKind({ status, answer }: ErrorStatus): ServiceFailureKind {
  const known = KIND_OF_STATUS[status];
  if (known !== undefined) return known;
  // A proxy's page for an unknown path must not cost a single result.
  return status >= 400 && status < 500 && answer !== null ? 'refused' : 'failed';
}

function answeredText(
  { isService }: Peer,
  { status, location, answer }: ErrorStatus,
  kind: ServiceFailureKind,
  forwarder: RouteProxy | null,
): string {
  if (status < 400) {
    const target = location === null ? 'elsewhere' : redirectTarget(location);
    return isService
      ? `answered ${status}, a redirect to ${target}: set SERVICE_URL to the service's own address`
      : `answered ${status}, a redirect to ${target}, which is not followed: see S3_REGION and S3_DIRECT_ENDPOINT of the service`;
  }
  // The service's own text says which of the two to upgrade.
  if (answer !== null && mismatchIn(answer) !== null)
    return `answered ${status}: ${answer.message}`;
  const isLimitOfProxy = isService && status === TOO_LARGE && answer === null;
  const advice = isLimitOfProxy ? BODY_LIMIT_ADVICE : adviceFor(status, answer, kind);
  const own =
    answer === null
      ? `, and not in the form of the service (${forwarder === null ? 'a proxy in between?' : `an answer of the proxy ${forwarder.shown}?`})`
      : `: ${answer.message}`;
  return `answered ${status}${own}${advice === undefined ? '' : `; ${advice}`}`;
}

function adviceFor(
  status: number,
  answer: ErrorResponse | null,
  kind: ServiceFailureKind,
): string | undefined {
  // Our service names the missing resource; a 404 without one means a wrong address.
  const isWrongAddress = status === 404 && typeof answer?.attributes.resource !== 'string';
  return isWrongAddress
    ? 'see that SERVICE_URL is the address of the service, without the /v1 of its API'
    : ADVICE[kind];
}

/** The path of a redirect may contain secrets. */
function redirectTarget(location: string): string {
  return URL.canParse(location) ? new URL(location).origin : 'another path';
}

/** The failure for a response with a 2xx status that cannot be parsed. */
export function unreadableResponse(peer: Peer, status: number, problem: string): ServiceFailure {
  const settings = peer.proxy
    ? 'SERVICE_URL and the proxy are right'
    : 'SERVICE_URL names a Vedette service';
  const what = `answered ${status}, but not as a Vedette service does: ${problem}; see that ${settings}`;
  return { ...serviceFailure('failed', messageAbout(peer, what)), status };
}
