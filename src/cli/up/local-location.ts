import { z } from 'zod';
import { VedetteError } from '../../runtime/errors.ts';
import { knownLocations } from '../apply/locations.ts';
import { allPages } from '../service-api/all-pages.ts';
import type { ApiClient, ApiResponse, Method } from '../service-api/api-client.ts';
import type { UpState } from './up-state.ts';

/** The slug of the private location of the agent on this machine. */
export const LOCAL_SLUG = 'local';
const LOCAL_NAME = 'This machine';

type LocalLocation = NonNullable<UpState['location']>;

const madeSchema = z.looseObject({ id: z.string() });
const newKeySchema = z.looseObject({ id: z.string(), key: z.string() });
const keysSchema = z.array(z.looseObject({ id: z.string(), revokedAt: z.string().nullable() }));

/**
 * The location of this machine and a valid key of it: the saved ones if they still exist, otherwise
 * new ones.
 *
 * @throws VedetteError like ApiClient.send, or of code SERVICE_FAILED where it refuses
 */
export async function localLocation(
  known: UpState['location'],
  client: Pick<ApiClient, 'get' | 'send'>,
  signal: AbortSignal,
): Promise<LocalLocation> {
  const locations = await knownLocations(client, signal);
  const found = locations.find(({ slug }) => slug === LOCAL_SLUG);
  const id = found?.id ?? (await madeLocation(client, signal));
  const path = `/v1/private-locations/${encodeURIComponent(id)}/keys`;
  if (known !== null && known.id === id) {
    const keys = await allPages(client, path, readKeys, signal);
    const isActive = keys.some((key) => key.id === known.keyId && key.revokedAt === null);
    if (isActive) return known;
  }
  const { id: keyId, key } = await ask(client, 'POST', path, undefined, newKeySchema, signal);
  return { id, keyId, key };
}

async function madeLocation(client: Pick<ApiClient, 'send'>, signal: AbortSignal): Promise<string> {
  const body = { slug: LOCAL_SLUG, name: LOCAL_NAME };
  return (await ask(client, 'POST', '/v1/private-locations', body, madeSchema, signal)).id;
}

function readKeys(json: unknown): z.output<typeof keysSchema> {
  const parsed = keysSchema.safeParse(json);
  if (!parsed.success) throw failed('its list of keys is not valid');
  return parsed.data;
}

async function ask<T>(
  client: Pick<ApiClient, 'send'>,
  method: Method,
  path: string,
  body: unknown,
  schema: z.ZodType<T>,
  signal: AbortSignal,
): Promise<T> {
  const reply: ApiResponse = await client.send(method, path, { body, signal });
  if (!reply.ok) throw failed(reply.message);
  const parsed = schema.safeParse(reply.json);
  if (!parsed.success) throw failed(`its answer to ${method} ${path} is not valid`);
  return parsed.data;
}

function failed(why: string): VedetteError {
  const message = `the service provides no private location for the agent of this machine: ${why}`;
  return new VedetteError('environment', 'SERVICE_FAILED', message);
}
