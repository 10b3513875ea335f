import { TextDecoder } from 'node:util';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ServiceError, unsupportedMedia } from '../../errors.ts';
import { jsonShape } from '../json-shape.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The type that bodies have here, where it is not JSON and the route has a parser of its own. */
    bodyType?: string;
    /** Results in numbers: only the bytes of a JSON body are bounded, not its values. */
    manyValues?: true;
  }
}

/** No body of the API comes near it. */
export const MAX_JSON_DEPTH = 64;
/** The largest bodies, status pages of 1000 services, have a quarter of it. */
export const MAX_JSON_VALUES = 20_000;

/**
 * Takes JSON bodies and no others. Refuses with 400 what is no JSON, no UTF-8, too deep or of too many values,
 * and a key by which an object's prototype could be changed (an agent may send one: it is left out). Refuses
 * with 415 every other type.
 */
export function addJsonBodies(app: FastifyInstance): void {
  const utf8 = new TextDecoder('utf-8', { fatal: true });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, bytes: Buffer): Promise<unknown> => {
      // Many clients say so of a DELETE without a body. Where one is needed, its schema misses it.
      if (bytes.length === 0) return undefined;
      const { manyValues = false } = request.routeOptions.config;
      const maxValues = manyValues ? Number.POSITIVE_INFINITY : MAX_JSON_VALUES;
      const shape = jsonShape(bytes, { maxDepth: MAX_JSON_DEPTH, maxValues });
      if (shape === 'too-deep') {
        throw malformed(`The body is nested deeper than ${MAX_JSON_DEPTH} levels`, {
          limit: MAX_JSON_DEPTH,
        });
      }
      if (shape === 'too-many') {
        throw malformed(`The body holds more than ${maxValues} values`, { limit: maxValues });
      }
      return parseJson(decodeText(utf8, bytes), request.agent === null ? refuseKey : dropKey);
    },
  );
}

/** The answer to a body of any other type. */
export function wrongMediaType({ routeOptions }: FastifyRequest): ServiceError {
  const { bodyType } = routeOptions.config;
  return bodyType === undefined
    ? unsupportedMedia('Only JSON is taken here', ['application/json'])
    : unsupportedMedia('Only bytes are taken here', [bodyType]);
}

function decodeText(utf8: TextDecoder, bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch (error) {
    throw malformed('The body is not valid UTF-8', {}, error);
  }
}

function parseJson(text: string, onForeignKey: OnForeignKey): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw malformed('The body is not valid JSON', {}, error);
  }
  if (MAY_HOLD_POISON.test(text)) judgeKeys(value, onForeignKey);
  return value;
}

/**
 * The keys as they are written, or an escape of a letter or underscore, of which they may be made. Few
 * bodies hold either, so few are walked; the word `protocol`, say, is in every result.
 */
const MAY_HOLD_POISON = /"(?:__proto__|constructor)"|\\u00(?:5[fF]|[67])/;

type OnForeignKey = (holder: object, key: string) => void;

function refuseKey(_holder: object, key: string): void {
  throw malformed(`The body holds the key ${key}, which is not allowed`);
}

/** What agents send has names that targets chose, and a target must not cost them their results. */
function dropKey(holder: object, key: string): void {
  Reflect.deleteProperty(holder, key);
}

/** An own `__proto__`, or `constructor.prototype`, turns into another prototype when it is copied. */
function judgeKeys(value: unknown, onForeignKey: OnForeignKey): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    const isPoison =
      key === '__proto__' ||
      (key === 'constructor' &&
        typeof inner === 'object' &&
        inner !== null &&
        Object.hasOwn(inner, 'prototype'));
    if (isPoison) onForeignKey(value, key);
    judgeKeys(inner, onForeignKey);
  }
}

function malformed(
  message: string,
  attributes: Readonly<Record<string, unknown>> = {},
  cause?: unknown,
): ServiceError {
  return new ServiceError(400, message, { attributes, cause });
}
