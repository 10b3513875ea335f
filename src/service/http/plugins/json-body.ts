import { TextDecoder } from 'node:util';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { yieldToEventLoop } from '../../../runtime/event-loop.ts';
import { ServiceError, unsupportedMedia } from '../../errors.ts';
import { jsonShape } from '../json/json-shape.ts';
import { parseJsonInSlices } from '../json/sliced-json.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The type that bodies have here, where it is not JSON and the route has a parser of its own. */
    bodyType?: string;
    /** Results in numbers: the values of a JSON body are not bounded, only its bytes and each object's keys. */
    manyValues?: true;
  }
}

/** No body of the API comes near it. */
export const MAX_JSON_DEPTH = 64;
/** The largest bodies, status pages of 1000 services, have a quarter of it. */
export const MAX_JSON_VALUES = 20_000;
/** Some milliseconds, with all that they may be. */
const NODES_A_TURN = 8_000;

/**
 * Takes JSON bodies and no others. Refuses with 400 what is no JSON, no UTF-8, too deep or of too many values,
 * and a key by which an object's prototype could be changed (an agent may send one: it is left out). Refuses
 * with 415 every other type. A long body is read in slices, so that it holds up nobody else.
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
        throw malformed(`The body holds more than ${maxValues} values`, { limit: maxValues });
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

async function parseJson(text: string, onForeignKey: OnForeignKey): Promise<unknown> {
  let value: unknown;
  try {
    value = await parseJsonInSlices(text, yieldToEventLoop);
  } catch (error) {
    throw malformed('The body is not valid JSON', {}, error);
  }
  if (MAY_HOLD_POISON.test(text)) {
    for (const _ of judgeKeys(value, onForeignKey)) await yieldToEventLoop();
  }
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

/**
 * An own `__proto__`, or `constructor.prototype`, turns into another prototype when it is copied. Yields
 * now and then, for others to go on.
 */
function* judgeKeys(whole: unknown, onForeignKey: OnForeignKey): Generator<void> {
  const open = [membersOf(whole)];
  let nodes = 0;
  for (let members = open.at(-1); members !== undefined; members = open.at(-1)) {
    const { done, value: member } = members.next();
    nodes += 1;
    if (nodes % NODES_A_TURN === 0) yield;
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
