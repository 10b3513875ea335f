import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { escalationStepSchema } from '../../model/alerting/alert-settings.ts';
import type { FileEscalation } from '../../model/check-file/sections.ts';
import { VedetteError } from '../../runtime/errors.ts';
import type { ApiClient, ApiResponse } from '../service-api/api-client.ts';
import { type FieldChange, fieldChanges } from './field-changes.ts';
import type { ResourceIds, ServiceId } from './resources/references.ts';

/** The change of the escalation of the account's alerts. */
export interface EscalationChange {
  readonly accountId: string;
  /** With the ids of the file. */
  readonly after: FileEscalation | null;
  readonly changes: readonly FieldChange[];
}

const accounts = z.array(z.looseObject({ id: z.string() })).min(1);
const settings = z.looseObject({
  // A release before this one has none.
  escalationStep: escalationStepSchema.nullable().default(null),
});

/**
 * @param given of the file; undefined if it leaves the escalation to the service
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
  const [account] = read(accounts, await client.get('/v1/accounts', signal));
  const accountId = account?.id ?? '';
  const { escalationStep } = read(settings, await client.get(pathOf(accountId), signal));
  const before = escalationStep === null ? null : withEntries(escalationStep, ids);
  const after = given === null ? null : withEntries(given, ids);
  if (isDeepStrictEqual(before, after)) return null;
  const changes = fieldChanges({ escalationStep: before }, { escalationStep: after });
  return { accountId, after, changes };
}

/** With each channel once, by its id in the file if it is one of the file: that may have its number, too. */
function withEntries(step: FileEscalation, ids: ResourceIds): FileEscalation {
  const named = step.alertChannelIds.map((id) =>
    typeof id === 'number' ? ids.entryOf('alertChannels', id) : id,
  );
  return { ...step, alertChannelIds: [...new Set(named)] };
}

function read<Schema extends z.ZodType>(schema: Schema, json: unknown): z.output<Schema> {
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const message = 'SERVICE_URL names no Vedette service: its alert settings are not valid';
  throw new VedetteError('environment', 'SERVICE_FAILED', message);
}

/** Call it once the channels of the file are written. */
export function writeEscalation(
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
  const idOf = (id: ServiceId): ServiceId =>
    typeof id === 'number' ? id : (ids.idOf('alertChannels', id) ?? id);
  const escalationStep =
    after === null ? null : { ...after, alertChannelIds: after.alertChannelIds.map(idOf) };
  return client.send('PUT', pathOf(accountId), {
    body: { escalationStep },
    signal,
    role: 'admin',
    isRepeatable: true,
  });
}

function pathOf(accountId: string): string {
  return `/v1/accounts/${encodeURIComponent(accountId)}/alert-settings`;
}
