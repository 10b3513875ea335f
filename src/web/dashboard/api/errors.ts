/** Errors of requests, in the form in which pages show them. */
export type ApiErrorKind = 'refused' | 'unauthorized' | 'unavailable' | 'offline' | 'fault';

const PAGE_FAULT = 'PAGE_FAULT';

/** A problem of one field of a request. */
export interface FieldProblem {
  /** For example `body.name`. */
  readonly path: string;
  readonly message: string;
}

interface ErrorBody {
  readonly message?: unknown;
  readonly error?: unknown;
  readonly attributes?: {
    readonly problems?: readonly FieldProblem[];
  } & Readonly<Record<string, unknown>>;
}

/** A request that did not succeed. Requests that were aborted throw an AbortError instead. */
export class ApiError extends Error {
  readonly kind: ApiErrorKind;
  /** The HTTP status; null without a response. */
  readonly status: number | null;
  /** The standard phrase of the status, such as `Not Found`; `OFFLINE` without a response. */
  readonly code: string;
  /** The id of the request in the log of the service; null without a response. */
  readonly requestId: string | null;
  /** The milliseconds after the response after which to try again; null if the service does not say. */
  readonly retryAfterMs: number | null;
  readonly problems: readonly FieldProblem[];
  readonly attributes: Readonly<Record<string, unknown>>;

  constructor(
    message: string,
    given: {
      readonly kind: ApiErrorKind;
      readonly status?: number;
      readonly code: string;
      readonly requestId?: string | null;
      readonly retryAfterMs?: number | null;
      readonly attributes?: NonNullable<ErrorBody['attributes']>;
      readonly cause?: unknown;
    },
  ) {
    super(message, { cause: given.cause });
    this.name = 'ApiError';
    this.kind = given.kind;
    this.status = given.status ?? null;
    this.code = given.code;
    this.requestId = given.requestId ?? null;
    this.retryAfterMs = given.retryAfterMs ?? null;
    this.problems = given.attributes?.problems ?? [];
    this.attributes = given.attributes ?? {};
  }
}

/** The error of a response. */
export function errorOf(response: Response, body: unknown): ApiError {
  const { message, error, attributes = {} }: ErrorBody = Object(body);
  const { status } = response;
  return new ApiError(
    typeof message === 'string' ? message : `The service responded with status ${status}.`,
    {
      kind: kindOf(status),
      status,
      code: typeof error === 'string' ? error : response.statusText || String(status),
      requestId: response.headers.get('x-request-id'),
      retryAfterMs: retryAfterMs(response.headers.get('retry-after')),
      attributes,
    },
  );
}

/** The service sends whole seconds. A proxy may send a date. */
function retryAfterMs(header: string | null): number | null {
  return header !== null && /^\d{1,6}$/.test(header) ? Number(header) * 1_000 : null;
}

function kindOf(status: number): ApiErrorKind {
  if (status === 401) return 'unauthorized';
  // A proxy answers 502 and 504 while the service restarts.
  if ([429, 502, 503, 504].includes(status)) return 'unavailable';
  return status >= 500 ? 'fault' : 'refused';
}

/** The error of a request that got no response. */
export function offline(cause: unknown): ApiError {
  return new ApiError('The service cannot be reached. Check the connection, then try again.', {
    kind: 'offline',
    code: 'OFFLINE',
    cause,
  });
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

/** Advice on an error for the text beside its message; null if the message contains it. */
export function adviceOf({ kind, status, code, requestId, attributes }: ApiError): string | null {
  switch (kind) {
    case 'unauthorized':
      return 'Sign in again in another tab, then continue here: what you typed is kept.';
    case 'unavailable':
      return 'Wait a moment, then try again.';
    case 'fault':
      if (code === PAGE_FAULT) return 'Reload the page.';
      // A response without an id comes from a proxy, not from the service.
      return requestId === null
        ? 'Wait a moment, then try again.'
        : 'Try again. If it fails again, the log of the service says why, beside the id of the request.';
    case 'offline':
      return null;
    case 'refused':
      if (status === 404) return 'It may have been deleted meanwhile.';
      // Other requests are also refused with 403, such as one with a wrong password.
      return attributes.needed === undefined ? null : 'Ask an admin of the account for that role.';
  }
}

/** Converts any thrown value into an error that pages can show. */
export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new ApiError(`The page has a fault: ${message}`, {
    kind: 'fault',
    code: PAGE_FAULT,
    cause: error,
  });
}
