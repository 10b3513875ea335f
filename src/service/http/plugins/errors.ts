import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../../../runtime/clock.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { StoreError, type StoreErrorKind } from '../../database/store-errors.ts';
import { conflict, errorBody, ServiceError, tooLarge, unavailable } from '../../errors.ts';
import type { AllowedMethods } from '../allowed-methods.ts';
import { wrongMediaType } from './json-body.ts';
import { SECURITY_HEADERS } from './observe.ts';

const MAX_SHOWN_PATH_CHARS = 200;
const STORE_RETRY_SECONDS = 5;
/** Maximum number of bytes to drain. The connection to a client that sends more is closed. */
const MAX_DRAINED_BYTES = 64 * 1024 * 1024;
const DRAIN_LIMIT_MS = 5_000;

declare module 'fastify' {
  interface FastifyInstance {
    /** The response to an error. Logs the error where the service is at fault. */
    answerTo(error: unknown, request: FastifyRequest): ServiceError;
  }
  interface FastifyRequest {
    /** Sends an error to a browser that opens a page, where it is not to be JSON. */
    errorPage: ErrorPage | null;
  }
}

type ErrorPage = (error: ServiceError, reply: FastifyReply) => FastifyReply;

/** Errors of Fastify itself, by code. */
const FRAMEWORK_ERRORS: Readonly<Record<string, (request: FastifyRequest) => ServiceError>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: (request) =>
    tooLarge(
      'The body',
      request.routeOptions.bodyLimit ?? request.server.initialConfig.bodyLimit ?? 0,
    ),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: wrongMediaType,
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    new ServiceError(400, 'Body length does not match Content-Length'),
  FST_ERR_BAD_URL: () => new ServiceError(400, 'The path is not validly percent-encoded'),
  FST_ERR_MAX_PARAM_LENGTH: () => new ServiceError(414, 'A part of the path is too long'),
};

/** Errors of a store that no feature handled. */
const STORE_ERRORS: Readonly<
  Record<StoreErrorKind, (error: StoreError, request: FastifyRequest) => ServiceError>
> = {
  unavailable: (error) =>
    unavailable('The database does not answer now; try again', STORE_RETRY_SECONDS, error),
  conflict: () => conflict('The request conflicts with stored data'),
  invalid: () => new ServiceError(400, 'A value in the request cannot be stored'),
  internal: ownFault,
};

/**
 * Answers every error in the form of src/service/README.md, "The API"; an unexpected error as a 500
 * whose details are only logged.
 */
export function addErrors(
  app: FastifyInstance,
  parts: {
    readonly log: Logger;
    readonly allowed: AllowedMethods;
    readonly clock: Clock;
  },
): void {
  const { log, allowed, clock } = parts;
  app.decorateRequest('errorPage', null);
  app.decorate('answerTo', (error: unknown, request: FastifyRequest) => {
    const answer = serviceErrorOf(error, request);
    if (answer.status >= 500) {
      const level = answer.status === 500 ? 'error' : 'warn';
      log[level](
        {
          err: error,
          requestId: request.id,
          method: request.method,
          route: request.routeOptions.url,
        },
        answer.status === 500 ? 'a request failed by a fault of the service' : answer.message,
      );
    }
    return answer;
  });
  /** Answers requests whose path has no route, or no route for the method. */
  const answerUnserved = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const path = request.url.split('?', 1)[0] ?? '/';
    const methods = path === '*' ? ['OPTIONS'] : allowed.at(path);
    if (methods.length > 0) reply.header('allow', methods.join(', '));
    if (methods.length > 0 && request.method === 'OPTIONS') return reply.code(204).send();
    if (methods.length > 0) {
      return sendError(
        reply,
        new ServiceError(
          405,
          `${request.method} is not allowed here; allowed: ${methods.join(', ')}`,
          {
            attributes: { allowed: methods },
          },
        ),
      );
    }
    const shown = path.slice(0, MAX_SHOWN_PATH_CHARS);
    return sendError(
      reply,
      new ServiceError(404, `Nothing is served at ${shown}; see /openapi.json`),
    );
  };
  app.setErrorHandler(async (error: unknown, request, reply) => {
    // Fastify requires a body for the method QUERY, even if no route has that method.
    if (request.is404 && codeOf(error) === 'FST_ERR_ROUTE_MISSING_CONTENT_TYPE') {
      return answerUnserved(request, reply);
    }
    const answer = app.answerTo(error, request);
    // A client that keeps sending gets the response, and its connection is closed.
    if (!(await drain(request.raw, clock))) reply.header('connection', 'close');
    const { errorPage } = request;
    if (errorPage === null || !isOpenedByBrowser(request)) return sendError(reply, answer);
    return errorPage(answer, reply.code(answer.status).headers(answer.headers));
  });
  app.setNotFoundHandler({ preHandler: app.rateLimit() }, answerUnserved);
}

/** Answers errors that occur before routing, such as a malformed path. */
export function frameworkErrorResponse(
  error: Error,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  reply.headers({ ...SECURITY_HEADERS, 'x-request-id': request.id });
  return sendError(reply, serviceErrorOf(error, request));
}

/** Whether a browser opens a page: only then does it accept HTML explicitly. */
function isOpenedByBrowser({ headers: { accept = '' } }: FastifyRequest): boolean {
  return accept.includes('text/html');
}

function sendError(reply: FastifyReply, error: ServiceError): FastifyReply {
  const { status, message, attributes, headers } = error;
  return (
    reply
      .code(status)
      .headers(headers)
      .type('application/json; charset=utf-8')
      // The schemas of a route describe only successful answers.
      .serializer(JSON.stringify)
      .send(errorBody(status, message, attributes))
  );
}

function serviceErrorOf(error: unknown, request: FastifyRequest): ServiceError {
  if (error instanceof ServiceError) return error;
  if (error instanceof StoreError) return STORE_ERRORS[error.kind](error, request);
  const code = codeOf(error);
  const known = FRAMEWORK_ERRORS[code];
  if (known !== undefined) return known(request);
  // The client has disconnected: this is no fault of the service, and nobody reads the response.
  const isGone = request.raw.aborted || code === 'ECONNRESET';
  const isStreamCut = code === 'ERR_STREAM_PREMATURE_CLOSE' && request.raw.socket.destroyed;
  if (isGone || isStreamCut) return new ServiceError(400, 'The client closed the connection');
  return ownFault(error, request);
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

function ownFault(cause: unknown, { id }: FastifyRequest): ServiceError {
  return new ServiceError(500, 'Internal error; see the service log', {
    attributes: { requestId: id },
    cause,
  });
}

/**
 * Discards the rest of a body that is not used. If the connection were closed while the client is still
 * sending, the client would not receive the response.
 *
 * @returns false if the body did not end within the limits, or the connection closed before
 */
function drain(request: IncomingMessage, clock: Clock): Promise<boolean> {
  const { headers } = request;
  const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'];
  if (!hasBody || request.complete || request.destroyed) return Promise.resolve(true);
  return new Promise((resolve) => {
    let bytes = 0;
    const count = (chunk: Uint8Array): void => {
      bytes += chunk.length;
      if (bytes > MAX_DRAINED_BYTES) done();
    };
    const done = (): void => {
      cancel();
      request.off('data', count).off('end', done).off('close', done).off('error', done);
      resolve(request.complete);
    };
    const cancel = clock.after(DRAIN_LIMIT_MS, done);
    request.on('end', done).on('close', done).on('error', done).on('data', count);
    request.resume();
  });
}
