import { TextDecoder } from 'node:util';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { yieldToEventLoop } from '../../../runtime/event-loop.ts';
import { ServiceError, unsupportedMedia } from '../../errors.ts';
import { findJsonError } from '../json/json-error.ts';
import { jsonShape } from '../json/json-shape.ts';
import { parseJsonInSlices } from '../json/sliced-json.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The media type of bodies if it is not JSON; the route has its own parser. */
    bodyType?: string;
    /** For batches of results: limits only the bytes of a JSON body and the keys of each object. */
    manyValues?: true;
  }
}

/** Far more than any body of the API needs. */
export const MAX_JSON_DEPTH = 64;
/** Four times as many as the largest bodies have, status pages with 1000 services. */
export const MAX_JSON_VALUES = 20_000;
/** Searching a longer text for its error would block other requests. */
const MAX_SEARCHED_CHARS = 512 * 1024;
/** As many nodes take some milliseconds. */
const NODES_PER_YIELD = 8_000;

/**
 * Accepts only JSON bodies; refuses other types with 415. Refuses with 400: invalid JSON or UTF-8, too deep
 * nesting, too many values, and a key that could change an object's prototype (such keys of agents are dropped).
 * Parses long bodies in slices, so that they do not block other requests.
 */
export function addJsonBodies(app: FastifyInstance): void {
  const utf8 = new TextDecoder('utf-8', { fatal: true });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, bytes: Buffer): Promise<unknown> => {
      // Many clients send this type with a DELETE without a body. A route that needs one has a schema.
      if (bytes.length === 0) return undefined;
      const { manyValues = false } = request.routeOptions.config;
      const maxValues = manyValues ? Number.POSITIVE_INFINITY : MAX_JSON_VALUES;
      const shape = jsonShape(bytes, {
        maxDepth: MAX_JSON_DEPTH,
        maxValues,
        maxKeys: MAX_JSON_VALUES,
      });
      if (shape === 'too-deep') {
        throw malformed(`The body is nested deeper than ${MAX_JSON_DEPTH} levels`, {
          limit: MAX_JSON_DEPTH,
        });
      }
      if (shape === 'too-many') {
        throw malformed(`The body contains more than ${maxValues} values`, { limit: maxValues });
      }
      if (shape === 'too-many-keys') {
        throw malformed(`An object in the body has more than ${MAX_JSON_VALUES} keys`, {
          limit: MAX_JSON_VALUES,
        });
      }
      return parseJson(decodeText(utf8, bytes), request.agent === null ? refuseKey : dropKey);
    },
  );
}

/** The answer to a body of another type. */
export function wrongMediaType({ routeOptions }: FastifyRequest): ServiceError {
  const { bodyType } = routeOptions.config;
  return bodyType === undefined
    ? unsupportedMedia('Only JSON is accepted here', ['application/json'])
    : unsupportedMedia('Only bytes are accepted here', [bodyType]);
}

function decodeText(utf8: TextDecoder, bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch (error) {
    throw malformed('The body is not valid UTF-8', {}, error);
  }
}

async function parseJson(text: string, onForeignKey: OnForeignKey): Promise<unknown> {
  let value: unknown;
  try {
    value = await parseJsonInSlices(text, yieldToEventLoop);
  } catch (error) {
    const found = text.length > MAX_SEARCHED_CHARS ? null : findJsonError(text);
    if (found === null) throw malformed('The body is not valid JSON', {}, error);
    const { line, column, expected } = found;
    const where = `line ${line}, column ${column}`;
    throw malformed(
      `The body is not valid JSON: at ${where} it needs ${expected}`,
      { line, column },
      error,
    );
  }
  if (MAY_HOLD_POISON.test(text)) {
    for (const _ of judgeKeys(value, onForeignKey)) await yieldToEventLoop();
  }
  return value;
}

/**
 * Matches these keys as plain text, or an escaped letter or underscore that may be part of one. Only the few
 * bodies that match are searched.
 */
const MAY_HOLD_POISON = /"(?:__proto__|constructor)"|\\u00(?:5[fF]|[67])/;

type OnForeignKey = (holder: object, key: string) => void;

function refuseKey(_holder: object, key: string): void {
  throw malformed(`The body contains the key ${key}, which is not allowed`);
}

/** Drops a key instead of refusing the body: results contain keys from targets, which must not cause their loss. */
function dropKey(holder: object, key: string): void {
  Reflect.deleteProperty(holder, key);
}

/**
 * Finds keys that change a prototype when the object is copied: `__proto__` and `constructor.prototype`. Yields
 * regularly, so that other work can run.
 */
function* judgeKeys(whole: unknown, onForeignKey: OnForeignKey): Generator<void> {
  const open = [membersOf(whole)];
  let nodes = 0;
  for (let members = open.at(-1); members !== undefined; members = open.at(-1)) {
    const { done, value: member } = members.next();
    nodes += 1;
    if (nodes % NODES_PER_YIELD === 0) yield;
    if (done === true) {
      open.pop();
      continue;
    }
    const { holder, key, inner } = member;
    if (key !== null && isForeign(key, inner)) onForeignKey(holder, key);
    if (typeof inner === 'object' && inner !== null) open.push(membersOf(inner));
  }
}

interface Member {
  readonly holder: object;
  /** null in a list. */
  readonly key: string | null;
  readonly inner: unknown;
}

function* membersOf(holder: unknown): Generator<Member> {
  if (typeof holder !== 'object' || holder === null) return;
  if (Array.isArray(holder)) {
    for (const inner of holder) yield { holder, key: null, inner };
    return;
  }
  for (const [key, inner] of Object.entries(holder)) yield { holder, key, inner };
}

function isForeign(key: string, inner: unknown): boolean {
  if (key === '__proto__') return true;
  if (key !== 'constructor' || typeof inner !== 'object' || inner === null) return false;
  return Object.hasOwn(inner, 'prototype');
}

function malformed(
  message: string,
  attributes: Readonly<Record<string, unknown>> = {},
  cause?: unknown,
): ServiceError {
  return new ServiceError(400, message, { attributes, cause });
}
