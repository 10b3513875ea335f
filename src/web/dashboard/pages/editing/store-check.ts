import { api } from '../../api/client.ts';
import type { Loaded } from '../../parts/forms/use-saving.ts';
import type { Check } from '../check/model.ts';
import type { Draft } from './draft.ts';

interface Creation {
  /** Empty: the service generates one. */
  readonly id: string;
  readonly notifiesAll: boolean;
  readonly key: string;
}

/** @throws ApiError, with status 412 if another check has the id */
export async function create(
  draft: Draft,
  { id, notifiesAll, key }: Creation,
): Promise<Loaded<Check>> {
  const query = { autoAssignAlerts: notifiesAll };
  const { data, response } =
    id === ''
      ? await api.POST('/v1/checks', {
          params: { query, header: { 'Idempotency-Key': key } },
          body: draft as never,
        })
      : await api.PUT('/v1/checks/{id}', {
          // An existing check is not overwritten.
          params: { path: { id }, query, header: { 'If-None-Match': '*' } },
          body: draft as never,
        });
  return { resource: data as Check, etag: response.headers.get('etag') };
}

/** @throws ApiError, with status 412 if somebody has changed it since it was read */
export async function update(
  body: Draft,
  { resource, etag }: Loaded<Check>,
): Promise<Loaded<Check>> {
  const { data, response } = await api.PATCH('/v1/checks/{id}', {
    params: {
      path: { id: resource.id },
      header: etag === null ? {} : { 'If-Match': etag },
    },
    body: body as never,
  });
  return { resource: data as Check, etag: response.headers.get('etag') };
}
