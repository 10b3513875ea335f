import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../../../runtime/clock.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { StoreError, type StoreErrorKind } from '../../database/store-errors.ts';
import { conflict, errorBody, ServiceError, tooLarge, unavailable } from '../../errors.ts';
import type { AllowedMethods } from '../allowed-methods.ts';
import { drain } from '../drain.ts';
import { wrongMediaType } from './json-body.ts';
import { SECURITY_HEADERS } from './observe.ts';

const MAX_SHOWN_PATH_CHARS = 200;
const STORE_RETRY_SECONDS = 5;

/** What Fastify itself refuses, by its code. */
const FRAMEWORK_ERRORS: Readonly<Record<string, (request: FastifyRequest) => ServiceError>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: (request) =>
    tooLarge(
      'The body',
      request.routeOptions.bodyLimit ?? request.server.initialConfig.bodyLimit ?? 0,
    ),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: wrongMediaType,
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    new ServiceError(400, 'The body is not as long as its Content-Length says'),
  FST_ERR_BAD_URL: () => new ServiceError(400, 'The path is not validly percent-encoded'),
  FST_ERR_MAX_PARAM_LENGTH: () => new ServiceError(414, 'A part of the path is too long'),
};

/** What a store refused and no feature gave a meaning of its own. */
const STORE_ERRORS: Readonly<
  Record<StoreErrorKind, (error: StoreError, request: FastifyRequest) => ServiceError>
> = {
  unavailable: (error) =>
    unavailable('The database does not answer now; try again', STORE_RETRY_SECONDS, error),
  conflict: () => conflict('This does not go together with what is stored already'),
  invalid: () => new ServiceError(400, 'A value in the request cannot be stored'),
  internal: ownFault,
};

/**
 * Every error as src/service/README.md, "The API" has it; what nobody foresaw as a 500 that tells
 * only the log.
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
  app.setErrorHandler(async (error: unknown, request, reply) => {
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
    // Whoever sends on and on has the answer, and no claim on the connection.
    if (!(await drain(request.raw, clock))) reply.header('connection', 'close');
    return sendError(reply, answer);
  });
  app.setNotFoundHandler({ preHandler: app.rateLimit() }, (request, reply) => {
    const path = request.url.split('?', 1)[0] ?? '/';
    const methods = path === '*' ? ['OPTIONS'] : allowed.at(path);
    if (methods.length > 0) reply.header('allow', methods.join(', '));
    if (methods.length > 0 && request.method === 'OPTIONS') return reply.code(204).send();
    if (methods.length > 0) {
      return sendError(
        reply,
        new ServiceError(
          405,
          `${request.method} is not possible here; there is ${methods.join(', ')}`,
          {
            attributes: { allowed: methods },
          },
        ),
      );
    }
    const shown = path.slice(0, MAX_SHOWN_PATH_CHARS);
    return sendError(
      reply,
      new ServiceError(404, `There is nothing at ${shown}; /openapi.json tells what there is`),
    );
  });
}

/** For what fails before there is a route: a path that cannot be read. */
export function answerFrameworkError(
  error: Error,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  reply.headers({ ...SECURITY_HEADERS, 'x-request-id': request.id });
  return sendError(reply, serviceErrorOf(error, request));
}

function sendError(reply: FastifyReply, error: ServiceError): FastifyReply {
  const { status, message, attributes, headers } = error;
  return (
    reply
      .code(status)
      .headers(headers)
      .type('application/json; charset=utf-8')
      // The schemas are for what a route answers when all is well.
      .serializer(JSON.stringify)
      .send(errorBody(status, message, attributes))
  );
}

function serviceErrorOf(error: unknown, request: FastifyRequest): ServiceError {
  if (error instanceof ServiceError) return error;
  if (error instanceof StoreError) return STORE_ERRORS[error.kind](error, request);
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const known = FRAMEWORK_ERRORS[code];
  if (known !== undefined) return known(request);
  // A body that stopped coming: there is nobody left to tell, and it is no fault of ours.
  if (request.raw.aborted || code === 'ECONNRESET') {
    return new ServiceError(400, 'The request was not sent to its end');
  }
  return ownFault(error, request);
}

function ownFault(cause: unknown, { id }: FastifyRequest): ServiceError {
  return new ServiceError(500, 'Something went wrong in the service; its log says more', {
    attributes: { requestId: id },
    cause,
  });
}
