import type { RouteOptions } from 'fastify';
import { z } from 'zod';
import { type RouteAccess, routeAccess } from '../access/route-access.ts';
import {
  type ErrorStatus,
  errorRef,
  type HeaderName,
  headerRefs,
  type ParameterName,
  parameterRef,
} from './standard-parts.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Sends server-sent events to clients that accept them, after the event of Last-Event-ID. */
    streamsEvents?: true;
  }
}

type Json = { readonly [key: string]: unknown };

/** Facts about an operation that are not in its schemas, derived from the declaration of its route. */
export interface OperationFacts {
  readonly method: string;
  readonly access: RouteAccess;
  readonly isConditional: boolean;
  /** Whether its response shows the resource that it creates. */
  readonly creates: boolean;
  readonly isRateLimited: boolean;
  readonly hasParams: boolean;
  readonly hasBody: boolean;
  /** A list with `page` and `cursor`. */
  readonly isPaged: boolean;
  readonly streamsEvents: boolean;
  /** The id that the schema declares, for all methods of the route. */
  readonly operationId: string | undefined;
  readonly isShared: boolean;
}

/** The facts about each operation of a route, keyed by `GET /v1/checks/{id}`. */
export function factsOf({ method, url, config, schema }: RouteOptions) {
  const methods = [method].flat();
  const path = url.replaceAll(/:(\w+)/g, '{$1}');
  const { querystring, body, params, operationId } = schema ?? {};
  return methods.map((each): readonly [string, OperationFacts] => [
    `${each} ${path}`,
    {
      method: each,
      access: routeAccess(config),
      isConditional: config?.conditional === true,
      creates: config?.creates === true,
      isRateLimited: config?.rateLimit !== false,
      hasParams: params !== undefined,
      hasBody: body !== undefined,
      isPaged: querystring instanceof z.ZodObject && 'cursor' in querystring.shape,
      streamsEvents: config?.streamsEvents === true,
      operationId,
      isShared: methods.length > 1,
    },
  ]);
}

/** Adds the name, the parameters in headers, the errors and the headers of responses to an operation. */
export function describeOperation(operation: Json, facts: OperationFacts): Json {
  const { responses, parameters, requestBody, operationId: _, ...rest } = operation;
  const showsOne = showsOneResource(responses, facts);
  const names = parametersOf(facts, showsOne);
  const own = Array.isArray(parameters) ? parameters : [];
  return {
    operationId: operationIdOf(facts),
    ...rest,
    ...(own.length + names.length === 0
      ? {}
      : { parameters: [...own, ...names.map(parameterRef)] }),
    ...(requestBody === undefined ? {} : { requestBody: bodyOf(asObject(requestBody)) }),
    responses: responsesOf(asObject(responses), facts, showsOne),
  };
}

/** Marks a body that may be null as optional: Fastify declares every body as required. */
function bodyOf(requestBody: Json): Json {
  const { anyOf } = asObject(asObject(asObject(requestBody.content)['application/json']).schema);
  const isOptional = Array.isArray(anyOf) && anyOf.some(({ type }) => type === 'null');
  return isOptional ? { ...requestBody, required: false } : requestBody;
}

/**
 * Returns the operation id. A route for PUT and PATCH declares the id of PATCH; the id of PUT begins with `put`,
 * because a PUT changes only the given fields. Other routes with two methods declare the id of the first.
 */
function operationIdOf({ method, operationId, isShared }: OperationFacts): string | undefined {
  if (!isShared || operationId === undefined) return operationId;
  if (method === 'PUT') return operationId.replace(/^update/, 'put');
  return method === 'POST' ? `${operationId}ByPost` : operationId;
}

function parametersOf(
  { method, access, isConditional, streamsEvents }: OperationFacts,
  showsOne: boolean,
): readonly ParameterName[] {
  if (access.kind !== 'role') return [];
  const isWrite = method !== 'GET';
  return [
    'ServiceAccount',
    ...(method === 'POST' ? (['IdempotencyKey'] as const) : []),
    ...(isWrite && isConditional ? (['IfMatch'] as const) : []),
    ...(method === 'PUT' && isConditional ? (['IfNoneMatchOnWrite'] as const) : []),
    ...(!isWrite && showsOne ? (['IfNoneMatch'] as const) : []),
    ...(streamsEvents ? (['LastEventId'] as const) : []),
  ];
}

function responsesOf(own: Json, facts: OperationFacts, showsOne: boolean): Json {
  const { default: others, ...declared } = own;
  const isUnchangedPossible = facts.method === 'GET' && showsOne;
  const successes = Object.entries(declared).map(([status, response]) => {
    const headers = headersOf(Number(status), facts, showsOne);
    const { content, ...rest } = asObject(response);
    const all = facts.streamsEvents ? { ...asObject(content), ...EVENT_STREAM } : content;
    return [
      status,
      { ...rest, ...(all === undefined ? {} : { content: all }), headers: headerRefs(headers) },
    ];
  });
  return {
    ...Object.fromEntries(successes),
    ...(isUnchangedPossible && !('304' in declared)
      ? { 304: { description: 'Not modified; no body.', headers: headerRefs(['ETag']) } }
      : {}),
    ...Object.fromEntries(
      errorsOf(facts)
        .filter((status) => !(String(status) in declared))
        .map((status) => [status, errorRef(status)]),
    ),
    ...(others === undefined ? {} : { default: others }),
  };
}

const EVENT_STREAM = { 'text/event-stream': { schema: { type: 'string' } } };

function headersOf(status: number, facts: OperationFacts, showsOne: boolean): HeaderName[] {
  const { method, access, isConditional, creates, isRateLimited, isPaged } = facts;
  const hasEtag = method === 'GET' || isConditional || creates;
  return [
    'X-Request-Id',
    ...(status !== 204 && showsOne && hasEtag ? (['ETag'] as const) : []),
    ...(status === 201 ? (['Location'] as const) : []),
    ...(method === 'POST' && access.kind === 'role' ? (['Idempotent-Replayed'] as const) : []),
    ...(isPaged
      ? (['Link', 'X-Next-Cursor', 'X-Total-Count', 'X-Total-Count-At-Least'] as const)
      : []),
    ...(isRateLimited
      ? (['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'] as const)
      : []),
  ];
}

function errorsOf(facts: OperationFacts): readonly ErrorStatus[] {
  const { method, access, isConditional, isRateLimited, hasParams, hasBody, streamsEvents } = facts;
  const isClosed = access.kind !== 'public';
  const isWrite = method !== 'GET';
  const mayCreate = method === 'POST' || (method === 'PUT' && isConditional);
  const when: Readonly<Record<ErrorStatus, boolean>> = {
    400: isClosed || hasParams || hasBody,
    // A public route with a body takes a password or a token.
    401: isClosed || hasBody,
    402: access.kind === 'role' && mayCreate,
    403: isClosed || hasBody,
    404: hasParams || (access.kind === 'role' && hasBody),
    409: isWrite && access.kind === 'role',
    410: streamsEvents,
    412: isConditional,
    413: hasBody,
    415: hasBody,
    422: method === 'POST' && access.kind === 'role',
    429: isRateLimited || hasParams,
    503: isClosed || hasParams || hasBody,
  };
  return Object.entries(when).flatMap(([status, may]) =>
    may ? [Number(status) as ErrorStatus] : [],
  );
}

/** Whether responses have an ETag: the same rule as in `addEtags`. */
function showsOneResource(responses: unknown, { access, method }: OperationFacts): boolean {
  if (access.kind !== 'role') return false;
  const found = Object.entries(asObject(responses)).find(([status]) => /^20[0-2]$/.test(status));
  if (found === undefined) return false;
  const { content } = asObject(found[1]);
  const schema = asObject(asObject(asObject(content)['application/json']).schema);
  return Object.keys(schema).length > 0 && schema.type !== 'array' && method !== 'HEAD';
}

function asObject(value: unknown): Json {
  return typeof value === 'object' && value !== null ? (value as Json) : {};
}
