import type { z } from 'zod';
import { assertionProblems } from '../../../model/check/assertions/assertion-problems.ts';
import { CHECK_SHAPES, type Check, checkBodySchema } from '../../../model/check/check.ts';
import { holdsMask } from '../../../model/credentials/mask.ts';
import { maskProblems } from '../../../model/credentials/retained-credentials.ts';
import type { RunnableCheckType } from '../../../model/enums.ts';
import { MAX_DEPTH } from './document-depth.ts';
import type { RawMapping } from './raw-mapping.ts';
import { isMapping } from './raw-mapping.ts';

type CheckBody = z.output<typeof checkBodySchema>;

type Fields = readonly (readonly [string, unknown])[];

/** Limits of the cache and of its keys: a file may have no similar checks. */
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
 * Parses the bodies of checks as `checkBodySchema` does, but only once what similar checks have in
 * common: all fields except the name and the request, and all fields of a request except its
 * address. This saves time, and memory, since similar checks share these values.
 */
export class SimilarCheckParser {
  /** The parsed fields, by `keyOf` the unparsed ones. */
  readonly #bodies = new Map<string, Fields>();
  readonly #requests = new Map<string, CheckBody['request']>();

  /** null if the body is invalid or nested too deep: the caller then parses it by itself. */
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
 * A check with its own name and request, and the other fields of a known one. Assigns fields one by
 * one: a spread would give each check its own hidden class of half a kilobyte.
 */
function checkOf(known: Fields, own: Pick<CheckBody, 'name' | 'request'>, id: string): Check {
  const check: Record<string, unknown> = {};
  for (const [key, value] of known) check[key] = value;
  check.name = own.name;
  check.request = own.request;
  check.id = id;
  // The key contains the type, so the request has the same type.
  return check as Check;
}

function soundOrNull(body: CheckBody | undefined): CheckBody | null {
  return body !== undefined && soundRequest(body.request) !== null ? body : null;
}

function soundRequest(request: CheckBody['request'] | undefined): CheckBody['request'] | null {
  if (request === undefined || assertionProblems(request.assertions, request).length > 0)
    return null;
  return maskProblems(request).length > 0 ? null : request;
}

function remember<Value>(known: Map<string, Value>, key: string, value: Value): void {
  if (known.size < MAX_KNOWN && key.length <= MAX_KEY_CHARS) known.set(key, value);
}

/**
 * null if it contains a number that JSON writes as null, or is nested too deeply for the stack.
 */
function keyOf(value: RawMapping): string | null {
  return isJsonSafe(value, 0) ? JSON.stringify(value) : null;
}

function isJsonSafe(value: unknown, depth: number): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  return depth < MAX_DEPTH && Object.values(value).every((each) => isJsonSafe(each, depth + 1));
}
