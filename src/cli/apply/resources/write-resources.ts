import { isDeepStrictEqual } from 'node:util';
import { ENTRY_NOUNS, type Section } from '../../../model/check-file/sections.ts';
import type { ApiClient, ApiRefusal, ApiResponse } from '../../service-api/api-client.ts';
import { assignmentQuery, type Resolved } from '../write-steps.ts';
import { type ResourceIds, type ServiceId, withServiceIds } from './references.ts';
import type { Fields } from './resource-fields.ts';
import { RESOURCE_PATHS } from './resource-fields.ts';
import { comparedFields, type ResourceStep } from './resource-plan.ts';

type Client = Pick<ApiClient, 'send'>;

/** The context for writing a plan. */
export interface WriteContext {
  readonly client: Client;
  readonly signal: AbortSignal;
  /** Receives the ids of what is created. */
  readonly ids: ResourceIds;
  readonly isEntry: (section: Section, id: string) => boolean;
}

const CHANGED =
  'changed at the service after the plan was made: check with --dry-run, then apply again';

export async function writeResource(
  step: ResourceStep,
  context: WriteContext,
): Promise<ApiResponse> {
  const { client, signal, ids } = context;
  const { section, id } = step;
  if (step.kind === 'delete') {
    const reply = await client.send('DELETE', pathOf(section, step.serviceId), { signal });
    return !reply.ok && reply.status === 404 ? { ok: true, json: undefined } : reply;
  }
  const translated = resolved(step.body, context);
  if (!translated.ok) return translated.refusal;
  const { body } = translated;
  if (step.kind === 'update') return update(step, body, context);
  const reply =
    section === 'heartbeats'
      ? await client.send('PUT', pathOf(section, id) + assignmentQuery(body), { body, signal })
      : await client.send('POST', RESOURCE_PATHS[section], { body, signal });
  const made = reply.ok && isObject(reply.json) ? reply.json.id : null;
  if (typeof made === 'string' || typeof made === 'number') ids.set(section, id, made);
  return reply;
}

/** Sends an update, unless the resource was changed after the plan was made. */
async function update(
  step: ResourceStep & { readonly kind: 'update' },
  body: Fields,
  { client, signal, ids }: WriteContext,
): Promise<ApiResponse> {
  const { section, serviceId, before } = step;
  const path = pathOf(section, serviceId);
  const read = await client.send('GET', path, { signal });
  if (!read.ok) return read;
  const now = isObject(read.json) ? comparedFields(section, read.json, ids) : null;
  if (before !== null && !isDeepStrictEqual(now, before)) return refusal(412, CHANGED);
  const ifMatch = read.etag ?? undefined;
  const reply = await client.send('PUT', path, { body, signal, ifMatch });
  if (reply.ok || reply.status !== 412) return reply;
  // The response to an earlier attempt of this write may have been lost.
  const again = await client.send('GET', path, { signal });
  const after = again.ok && isObject(again.json) ? comparedFields(section, again.json, ids) : null;
  const isWritten =
    after !== null &&
    Object.entries(step.body).every(([field, value]) => isDeepStrictEqual(after[field], value));
  return isWritten ? again : refusal(412, CHANGED);
}

/** Returns the body with ids of the service, or why it cannot be sent. */
export function resolved(
  fields: Fields,
  { ids, isEntry }: Pick<WriteContext, 'ids' | 'isEntry'>,
): Resolved {
  const { fields: body, missing } = withServiceIds(fields, ids, isEntry);
  const [first] = missing;
  if (first === undefined) return { ok: true, body };
  return { ok: false, refusal: notCreated(first.section, first.id) };
}

/** The refusal of a request that needs an entry of the file which was itself refused. */
export function notCreated(section: Section, id: string): ApiRefusal {
  const what = `${ENTRY_NOUNS[section]} ${JSON.stringify(id)}`;
  return refusal(409, `needs the ${what}, which was not created`);
}

function refusal(status: number, message: string): ApiRefusal {
  return { ok: false, status, message, reasons: [message] };
}

function pathOf(section: Section, id: ServiceId): string {
  return `${RESOURCE_PATHS[section]}/${encodeURIComponent(id)}`;
}

function isObject(json: unknown): json is Fields {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}
