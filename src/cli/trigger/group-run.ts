import { z } from 'zod';
import { fileEntryOf } from '../../model/logical-id.ts';
import { RUN_RESULTS } from '../../model/result/run-result.ts';
import { VedetteError } from '../../runtime/errors.ts';
import { nearestName } from '../../runtime/text/nearest-name.ts';
import { allPages } from '../service-api/all-pages.ts';
import type { ApiClient } from '../service-api/api-client.ts';
import { readAs } from '../service-api/read-responses.ts';
import { EXPIRED, type TriggeredRun, withoutResult, withResult } from './triggered-run.ts';

const groupsSchema = z.array(
  z.looseObject({ id: z.number(), name: z.string(), logicalId: z.string().nullable() }),
);
type Group = z.output<typeof groupsSchema>[number];

const groupRunSchema = z.looseObject({
  id: z.string(),
  state: z.string(),
  checks: z.array(
    z.looseObject({
      checkId: z.string(),
      location: z.string().nullable(),
      state: z.string(),
      reason: z.string().nullable(),
      verdict: z.enum(RUN_RESULTS).nullable(),
      runId: z.string().nullable(),
      resultId: z.string().nullable(),
    }),
  ),
});
export type GroupRun = z.output<typeof groupRunSchema>;
type Member = GroupRun['checks'][number];

/** The states in which nothing more happens to a check of the run. */
const ENDED: readonly string[] = ['done', 'expired', 'cancelled', 'skipped'];

/**
 * Requests a run of a group.
 *
 * @param group its number, its id in the check file, or its name
 * @param location the slug; null: all locations of its checks
 * @throws VedetteError of kind `usage` where there is no such group, or it cannot be run; else as
 *   ApiClient.send
 */
export async function requestGroupRun(
  client: Pick<ApiClient, 'get' | 'send'>,
  group: string,
  location: string | null,
  signal: AbortSignal,
): Promise<GroupRun> {
  const groups = await allPages(
    client,
    '/v1/check-groups',
    (json) => readAs(groupsSchema, json, 'list of groups'),
    signal,
  );
  const { id } = groupNamed(group, groups);
  const reply = await client.send('POST', `/v1/check-groups/${id}/run`, {
    body: { location },
    signal,
  });
  if (!reply.ok) throw new VedetteError('usage', 'RUN_REFUSED', reply.reasons.join('; '));
  return readAs(groupRunSchema, reply.json, 'run of a group');
}

function groupNamed(name: string, groups: readonly Group[]): Group {
  const ofFile = ({ logicalId }: Group): boolean =>
    logicalId !== null && (logicalId === name || fileEntryOf(logicalId).id === name);
  const ways = [
    groups.filter(({ id }) => String(id) === name),
    groups.filter(ofFile),
    groups.filter((group) => group.name === name),
  ];
  const found = ways.find(({ length }) => length > 0) ?? [];
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  const shown = JSON.stringify(name);
  if (found.length > 1) {
    const numbers = found.map(({ id }) => id).join(', ');
    const message = `${found.length} groups are named ${shown}; choose one by its number: ${numbers}`;
    throw new VedetteError('usage', 'AMBIGUOUS_GROUP', message);
  }
  const nearest = nearestName(
    name,
    groups.map((group) => group.name),
  );
  const hint = nearest === null ? '' : `; did you mean ${JSON.stringify(nearest)}?`;
  throw new VedetteError('usage', 'UNKNOWN_GROUP', `the service has no group ${shown}${hint}`);
}

/** The checks of the run, as requested. */
export function queuedOf({ checks }: GroupRun): readonly TriggeredRun[] {
  return checks.map((member) =>
    member.state === 'skipped'
      ? withoutResult(member, 'skipped', skippedText(member))
      : withoutResult(member, 'queued'),
  );
}

/** @throws VedetteError as ApiClient.get */
export async function readGroupRun(
  client: Pick<ApiClient, 'get'>,
  id: string,
  signal: AbortSignal,
): Promise<GroupRun> {
  const json = await client.get(`/v1/check-group-runs/${encodeURIComponent(id)}`, signal);
  return readAs(groupRunSchema, json, 'run of a group');
}

/** The checks that have ended, by their positions in the run. */
export function endedMembers({ checks }: GroupRun): ReadonlyMap<number, Member> {
  return new Map([...checks.entries()].filter(([, { state }]) => ENDED.includes(state)));
}

/** The checks whose run no agent has started yet. */
export function waitingChecks({ checks }: GroupRun): readonly string[] {
  return checks.filter(({ state }) => state === 'waiting').map(({ checkId }) => checkId);
}

/** @throws VedetteError as ApiClient.find */
export async function outcomeOf(
  client: Pick<ApiClient, 'find'>,
  member: Member,
  signal: AbortSignal,
): Promise<TriggeredRun> {
  const { state, resultId } = member;
  if (resultId !== null) return withResult(client, member, resultId, signal);
  if (state === 'skipped') return withoutResult(member, 'skipped', skippedText(member));
  if (state === 'cancelled') return withoutResult(member, 'cancelled', 'it was cancelled');
  return withoutResult(member, 'expired', EXPIRED);
}

const SKIPPED: Readonly<Record<string, string>> = {
  deactivated: 'the check is not activated',
  heartbeat: 'it is a heartbeat, which is pinged',
  no_location: 'it has no private location to run in',
  no_agent: 'no agent of the location is connected',
  check_deleted: 'the check was deleted',
};

function skippedText({ reason }: Member): string {
  return SKIPPED[reason ?? ''] ?? reason ?? 'it was skipped';
}
