import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { escalationStepSchema } from '../../model/alerting/alert-settings.ts';
import type { FileEscalation } from '../../model/check-file/sections.ts';
import type { ApiClient, ApiResponse } from '../service-api/api-client.ts';
import { readAs, readTolerantly } from '../service-api/read-responses.ts';
import { type FieldChange, fieldChanges } from './field-changes.ts';
import type { ResourceIds, ServiceId } from './resources/references.ts';
import { notCreated } from './resources/write-resources.ts';

/** The change of the escalation of the account's alerts. */
export interface EscalationChange {
  readonly accountId: string;
  /** The escalation with ids of the file. */
  readonly after: FileEscalation | null;
  readonly changes: readonly FieldChange[];
}

const accounts = z.array(z.looseObject({ id: z.string() })).min(1);
const settings = z.looseObject({
  // An earlier release has no such field.
  escalationStep: escalationStepSchema.nullable().default(null),
});

/**
 * @param given the escalation of the file; undefined if the service decides
 * @returns null if there is nothing to change
 * @throws VedetteError like ApiClient.get
 */
export async function planEscalation(
  given: FileEscalation | null | undefined,
  ids: ResourceIds,
  client: Pick<ApiClient, 'get'>,
  signal: AbortSignal,
): Promise<EscalationChange | null> {
  if (given === undefined) return null;
  const listed = await client.get('/v1/accounts', signal);
  const [account] = readAs(accounts, listed, 'list of accounts');
  const accountId = account?.id ?? '';
  const known = await client.get(pathOf(accountId), signal);
  const { escalationStep } = readTolerantly(settings, known, 'alert settings');
  const before = escalationStep === null ? null : withEntries(escalationStep, ids);
  const after = given === null ? null : withEntries(given, ids);
  if (isDeepStrictEqual(before, after)) return null;
  const changes = fieldChanges({ escalationStep: before }, { escalationStep: after });
  return { accountId, after, changes };
}

/** Replaces channels by their ids in the file and removes duplicates, since a file may also name a channel by number. */
function withEntries(step: FileEscalation, ids: ResourceIds): FileEscalation {
  const named = step.alertChannelIds.map((id) =>
    typeof id === 'number' ? ids.entryOf('alertChannels', id) : id,
  );
  return { ...step, alertChannelIds: [...new Set(named)] };
}

/** Call it after the channels of the file were written: it is refused if one of its channels was not. */
export async function writeEscalation(
  { accountId, after }: EscalationChange,
  {
    client,
    ids,
    signal,
  }: {
    readonly client: Pick<ApiClient, 'send'>;
    readonly ids: ResourceIds;
    readonly signal: AbortSignal;
  },
): Promise<ApiResponse> {
  const alertChannelIds: ServiceId[] = [];
  for (const id of after?.alertChannelIds ?? []) {
    const known = typeof id === 'number' ? id : ids.idOf('alertChannels', id);
    if (known === null) return notCreated('alertChannels', String(id));
    alertChannelIds.push(known);
  }
  const escalationStep = after === null ? null : { ...after, alertChannelIds };
  return client.send('PUT', pathOf(accountId), {
    body: { escalationStep },
    signal,
    role: 'admin',
    roleReason: 'which the escalation needs',
    isRepeatable: true,
  });
}

function pathOf(accountId: string): string {
  return `/v1/accounts/${encodeURIComponent(accountId)}/alert-settings`;
}
