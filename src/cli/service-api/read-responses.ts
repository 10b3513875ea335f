import type { z } from 'zod';
import { CHECK_ID, isReservedCheckId } from '../../model/ids.ts';
import { VedetteError } from '../../runtime/errors.ts';
import { parseTolerantly } from '../../wire/v1/tolerant-parse.ts';
import type { ApiClient } from './api-client.ts';

/** The maximum that the API returns at once. */
const PAGE_ENTRIES = 100;

/** @throws VedetteError SERVICE_FAILED where the response has another form */
export function readAs<Value>(schema: z.ZodType<Value>, json: unknown, what: string): Value {
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  throw notValid(what);
}

/** Like `readAs` for strict schemas of the model; ignores further fields, which a newer service may return. */
export function readTolerantly<Value>(
  schema: z.ZodType<Value>,
  json: unknown,
  what: string,
): Value {
  const parsed = parseTolerantly(schema, json);
  if (parsed.ok) return parsed.value;
  throw notValid(what);
}

function notValid(what: string): VedetteError {
  const message = `the ${what} in the response of the service is not valid: either the service has another version than this program, or SERVICE_URL names another program`;
  return new VedetteError('environment', 'SERVICE_FAILED', message);
}

/**
 * Reads a resource of a check from the API.
 *
 * @param pathOf the path for the encoded id
 * @throws VedetteError of kind `usage` where there is no such check; else as ApiClient.get
 */
export async function getOfCheck(
  client: Pick<ApiClient, 'send'>,
  checkId: string,
  pathOf: (id: string) => string,
  signal: AbortSignal,
): Promise<unknown> {
  // `..` would be another path.
  if (!CHECK_ID.test(checkId)) throw unknownCheck(checkId);
  const path = pathOf(encodeURIComponent(checkId));
  const reply = await client.send('GET', path, { signal });
  // Services of earlier releases accepted names of types as ids; such a path returns the list of the type.
  const isOtherPath = reply.ok ? Array.isArray(reply.json) : reply.status === 400;
  if (isReservedCheckId(checkId) && path === `/v1/checks/${checkId}` && isOtherPath) {
    const message = `no check can be read by the id ${JSON.stringify(checkId)}, which is a path of the API: create the check again under another id`;
    throw new VedetteError('usage', 'UNKNOWN_CHECK', message);
  }
  if (reply.ok) return reply.json;
  if (reply.missing === 'check') throw unknownCheck(checkId);
  const [bare = path] = path.split('?', 1);
  throw new VedetteError('environment', 'SERVICE_FAILED', `${reply.message} (GET ${bare})`);
}

function unknownCheck(checkId: string): VedetteError {
  const message = `the service has no check with the id ${JSON.stringify(checkId)}`;
  return new VedetteError('usage', 'UNKNOWN_CHECK', message);
}

export interface Entries<Entry> {
  readonly entries: readonly Entry[];
  /** Whether there are more than `maxPages` pages. */
  readonly isCut: boolean;
}

/**
 * Reads the first pages of a list.
 *
 * @param path with its query, which has neither `limit` nor `page`
 */
export async function firstPages<Entry>(
  client: Pick<ApiClient, 'get'>,
  path: string,
  read: (json: unknown) => readonly Entry[],
  { maxPages, signal }: { readonly maxPages: number; readonly signal: AbortSignal },
): Promise<Entries<Entry>> {
  const entries: Entry[] = [];
  const separator = path.includes('?') ? '&' : '?';
  for (let page = 1; page <= maxPages; page += 1) {
    const query = `limit=${PAGE_ENTRIES}&page=${page}`;
    const found = read(await client.get(`${path}${separator}${query}`, signal));
    entries.push(...found);
    if (found.length < PAGE_ENTRIES) return { entries, isCut: false };
  }
  return { entries, isCut: true };
}
