import type { z } from 'zod';
import { CHECK_SHAPES, type Check, checkBodySchema } from '../../../model/check/check.ts';
import { maskProblems } from '../../../model/credentials/kept-credentials.ts';
import { holdsMask } from '../../../model/credentials/sensitive-headers.ts';
import type { RunnableCheckType } from '../../../model/vocabulary.ts';
import { patternProblems } from './assertion-patterns.ts';
import type { RawMapping } from './check-defaults.ts';
import { isMapping } from './check-defaults.ts';
import { MAX_DEPTH } from './document-depth.ts';

type CheckBody = z.output<typeof checkBodySchema>;

type Fields = readonly (readonly [string, unknown])[];

/** Of what is remembered, and of a key to remember it by: a file may have no two checks alike. */
const MAX_KNOWN = 1000;
const MAX_KEY_CHARS = 4096;

/** The field in which otherwise equal requests differ; DNS has rules between its fields. */
const ADDRESS_OF = {
  URL: 'url',
  API: 'url',
  TCP: 'hostname',
  DNS: null,
  ICMP: 'hostname',
} as const satisfies Readonly<Record<RunnableCheckType, string | null>>;

/**
 * Reads the bodies of checks as `checkBodySchema` does, but only once what many of them have in
 * common: all but the name and the request, and all of a request but its address. That takes a
 * part of the time, and of the memory, since alike checks share these values.
 */
export class SimilarCheckParser {
  /** By what was written, the fields of a check that has it. */
  readonly #bodies = new Map<string, Fields>();
  readonly #requests = new Map<string, CheckBody['request']>();

  /** null where the body is invalid or nested too deep: the caller then parses it by itself. */
  parse(id: string, body: RawMapping, type: RunnableCheckType): Check | null {
    const { name, request, ...common } = body;
    const key = keyOf(common);
    if (key === null) return null;
    const known = this.#bodies.get(key);
    if (known === undefined) {
      const parsed = soundOrNull(checkBodySchema.safeParse(body).data);
      if (parsed === null) return null;
      const fields = Object.entries(parsed);
      remember(this.#bodies, key, fields);
      return checkOf(fields, parsed, id);
    }
    const parsedName = CHECK_SHAPES[type].shape.name.safeParse(name);
    const parsedRequest = this.#request(request, type);
    if (!parsedName.success || parsedRequest === null) return null;
    return checkOf(known, { name: parsedName.data, request: parsedRequest }, id);
  }

  #request(request: unknown, type: RunnableCheckType): CheckBody['request'] | null {
    const { request: schema } = CHECK_SHAPES[type].shape;
    const field = ADDRESS_OF[type];
    if (field === null || !isMapping(request)) return soundRequest(schema.safeParse(request).data);
    const { [field]: address, ...common } = request;
    const key = keyOf({ type, common });
    if (key === null) return null;
    const known = this.#requests.get(key);
    if (known === undefined) {
      const parsed = soundRequest(schema.safeParse(request).data);
      if (parsed !== null) remember(this.#requests, key, parsed);
      return parsed;
    }
    const addressSchema: z.ZodType<string> = Reflect.get(schema.shape, field);
    const { data } = addressSchema.safeParse(address);
    return data === undefined || holdsMask(data) ? null : { ...known, [field]: data };
  }
}

/**
 * A check like the one that is known, but for what is its own. Field by field, as the spread of an
 * object that was made by a spread has a hidden class of its own each time, of half a kilobyte.
 */
function checkOf(known: Fields, own: Pick<CheckBody, 'name' | 'request'>, id: string): Check {
  const check: Record<string, unknown> = {};
  for (const [key, value] of known) check[key] = value;
  check.name = own.name;
  check.request = own.request;
  check.id = id;
  // The keys that it is known by name its type, so the request is of the same one.
  return check as Check;
}

function soundOrNull(body: CheckBody | undefined): CheckBody | null {
  return body !== undefined && soundRequest(body.request) !== null ? body : null;
}

function soundRequest(request: CheckBody['request'] | undefined): CheckBody['request'] | null {
  if (request === undefined || patternProblems(request.assertions).length > 0) return null;
  return maskProblems(request).length > 0 ? null : request;
}

function remember<Value>(known: Map<string, Value>, key: string, value: Value): void {
  if (known.size < MAX_KNOWN && key.length <= MAX_KEY_CHARS) known.set(key, value);
}

/**
 * Null where there is a number that JSON writes as null, or where it is nested so deep that
 * the stack may not be enough for it.
 */
function keyOf(value: RawMapping): string | null {
  return isJsonSafe(value, 0) ? JSON.stringify(value) : null;
}

function isJsonSafe(value: unknown, depth: number): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  return depth < MAX_DEPTH && Object.values(value).every((each) => isJsonSafe(each, depth + 1));
}
