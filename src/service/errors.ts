import { STATUS_CODES } from 'node:http';

/** The body of every error: src/service/README.md, "The API". */
export interface ErrorBody {
  readonly statusCode: number;
  /** The status phrase. */
  readonly error: string;
  readonly message: string;
  readonly attributes: ErrorAttributes;
}

/** Extra data for programs, shown to the caller. */
export type ErrorAttributes = Readonly<Record<string, unknown>>;

/** One thing that is wrong with a request. `path` and `message` read as one sentence. */
export interface RequestProblem {
  /** For example `body.request.port` or `query.limit`. */
  readonly path: string;
  /** For example `must be a whole number from 1 to 100, not 101`. */
  readonly message: string;
}

export interface ServiceErrorExtras {
  readonly attributes?: ErrorAttributes;
  /** Headers of the answer, in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Only logged. */
  readonly cause?: unknown;
}

/**
 * An error answer, thrown by features and by the HTTP layer. Its message is for the caller: what is
 * wrong and what to do, without internals.
 */
export class ServiceError extends Error {
  /** An HTTP status from 400 to 599. */
  readonly status: number;
  readonly attributes: ErrorAttributes;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, extras: ServiceErrorExtras = {}) {
    super(message, extras.cause === undefined ? {} : { cause: extras.cause });
    this.name = 'ServiceError';
    this.status = status;
    this.attributes = extras.attributes ?? {};
    this.headers = extras.headers ?? {};
  }
}

/**
 * The form of src/service/README.md, "The API". `attributes` is always present.
 */
export function errorBody(
  status: number,
  message: string,
  attributes: ErrorAttributes = {},
): ErrorBody {
  return { statusCode: status, error: STATUS_CODES[status] ?? 'Error', message, attributes };
}

/** Maximum number of problems in a response: a caller fixes the first ones first. */
export const MAX_PROBLEMS = 20;
/** Maximum number of problems that validation collects. */
export const MAX_FOUND_PROBLEMS = 1000;

/** 400: the request is understood and wrong. `problems` has at least one entry. */
export function invalid(problems: readonly RequestProblem[]): ServiceError {
  const [first] = problems;
  const more = problems.length - 1;
  const atLeast = problems.length >= MAX_FOUND_PROBLEMS ? 'at least ' : '';
  const sentence =
    first === undefined ? 'The request is invalid' : `${first.path} ${first.message}`.trim();
  const rest = more > 0 ? ` (and ${atLeast}${more} more, see attributes.problems)` : '';
  return new ServiceError(400, `${sentence}${rest}`, {
    attributes: { problems: problems.slice(0, MAX_PROBLEMS) },
  });
}

const SEND_KEY =
  'Send an active key in the header Authorization, as Bearer and the key: one of an account (vk_ and 32 hex digits), or for the requests of agents that of their location (pl_ and 32 hex digits)';

/** 401. One message for every fault of the token: src/service/README.md, "Errors and rate limits". */
export function badToken(): ServiceError {
  return new ServiceError(401, 'Bad Token', {
    attributes: { advice: SEND_KEY },
    headers: { 'www-authenticate': 'Bearer realm="vedette"' },
  });
}

/** 401 for the cookie of a session. */
export function notSignedIn(): ServiceError {
  return new ServiceError(401, 'You are not signed in, or your session has ended', {
    attributes: { advice: 'Sign in again.' },
  });
}

/** 401 for a sign-in, the same for an unknown user. */
export function wrongPassword(): ServiceError {
  return new ServiceError(401, 'The email or the password is wrong');
}

/** 403: authenticated, but not allowed. */
export function forbidden(message: string, attributes: ErrorAttributes = {}): ServiceError {
  return new ServiceError(403, message, { attributes });
}

/** 404. Also for resources of other accounts, whose existence is not revealed. */
export function notFound(what: string): ServiceError {
  return new ServiceError(404, `There is no such ${what}`, { attributes: { resource: what } });
}

/** 409: the request conflicts with stored data. */
export function conflict(message: string, attributes: ErrorAttributes = {}): ServiceError {
  return new ServiceError(409, message, { attributes });
}

/** 413. */
export function tooLarge(what: string, limitBytes: number): ServiceError {
  return new ServiceError(413, `${what} is larger than ${limitBytes} bytes`, {
    attributes: { limitBytes },
  });
}

/** 415. `allowed` completes "send …". */
export function unsupportedMedia(message: string, allowed: readonly string[]): ServiceError {
  return new ServiceError(415, `${message}; send ${allowed.join(' or ')}`, {
    attributes: { allowed },
  });
}

/** 429. */
export function tooManyRequests(limit: number, retryAfterSeconds: number): ServiceError {
  return tooMany(`${limit} requests a minute`, limit, retryAfterSeconds);
}

/** 429 for a wrong key from an address that sent many of them. */
export function tooManyWrongKeys(limit: number, retryAfterSeconds: number): ServiceError {
  return tooMany(`${limit} wrong keys a minute from this address`, limit, retryAfterSeconds);
}

/** 429 for a sign-in after too many failed ones. */
export function tooManySignIns(retryAfterSeconds: number): ServiceError {
  return new ServiceError(429, `Too many failed sign-ins; try again in ${retryAfterSeconds} s`, {
    attributes: { retryAfterSeconds },
    headers: { 'retry-after': String(retryAfterSeconds) },
  });
}

/** 429 for a request to subscribe to a status page. */
export function tooManySubscriptions(retryAfterSeconds: number): ServiceError {
  return new ServiceError(
    429,
    `Too many requests to subscribe; try again in ${retryAfterSeconds} s`,
    {
      attributes: { retryAfterSeconds },
      headers: { 'retry-after': String(retryAfterSeconds) },
    },
  );
}

function tooMany(what: string, limit: number, retryAfterSeconds: number): ServiceError {
  return new ServiceError(429, `More than ${what}; try again in ${retryAfterSeconds} s`, {
    attributes: { limit, retryAfterSeconds },
    headers: { 'retry-after': String(retryAfterSeconds) },
  });
}

/** 503: a dependency is unavailable for now, and a retry may help. */
export function unavailable(message: string, retryAfterSeconds: number, cause?: unknown) {
  return new ServiceError(503, message, {
    attributes: { retryAfterSeconds },
    headers: { 'retry-after': String(retryAfterSeconds) },
    cause,
  });
}
