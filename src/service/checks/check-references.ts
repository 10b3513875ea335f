import type { AnyCheck } from '../../model/check/heartbeat.ts';
import { requireChannels } from '../alerts/channels/check-subscriptions.ts';
import { lockGroupShared } from '../check-groups/shared.sql.ts';
import type { Sql } from '../database/store.ts';
import { invalid, type RequestProblem } from '../errors.ts';
import { bodyProblem } from '../http/resources/input-problems.ts';
import { countLocationChange, missingLocations } from '../private-locations/require-locations.ts';
import { findLocationsOfSlugs } from '../private-locations/shared.sql.ts';
import { requireSnippets } from '../snippets/require-snippets.ts';
import { lockServicesShared } from '../status-pages/shared.sql.ts';
import { requireParents } from './dependencies/require-parents.ts';

interface ReferenceChange {
  readonly accountId: string;
  /** The stored check; null for a new one. */
  readonly before: AnyCheck | null;
  /** The changed check; null if it is deleted. */
  readonly after: AnyCheck | null;
}

/**
 * Locks the resources that a check refers to until the transaction ends, and records a change for its private
 * locations.
 *
 * @throws ServiceError 400 where `after` refers to a group, a private location, an alert channel, a
 *   service of status pages or a check that the account does not have, or depends on itself
 */
export async function lockReferences(
  tx: Sql,
  { accountId, before, after }: ReferenceChange,
): Promise<void> {
  const { problems, groupLocations } = await lockNamed(tx, { accountId, before, after });
  const affected = [...locationsNamedBy(before), ...groupLocations];
  const named = locationsNamedBy(after);
  problems.push(...(await countLocationChange(tx, { accountId, named, affected })));
  if (problems.length > 0) throw invalid(problems);
}

/**
 * Like `lockReferences`, for a check that will not be stored: records no change for its locations.
 *
 * @throws ServiceError 400
 */
export async function requireReferences(
  tx: Sql,
  change: ReferenceChange & { readonly after: AnyCheck },
): Promise<void> {
  const { accountId, after } = change;
  const { problems } = await lockNamed(tx, change);
  const named = locationsNamedBy(after);
  const existing = await findLocationsOfSlugs(tx, { accountId, slugs: named });
  problems.push(...missingLocations(named, new Set(existing.map(({ slug }) => slug))));
  if (problems.length > 0) throw invalid(problems);
}

/** Locks the referenced resources, except private locations, in share mode. */
async function lockNamed(
  tx: Sql,
  { accountId, before, after }: ReferenceChange,
): Promise<{ readonly problems: RequestProblem[]; readonly groupLocations: readonly string[] }> {
  const problems: RequestProblem[] = [];
  const { groupId } = after ?? { groupId: null };
  const groupLocations: string[] = [];
  if (groupId !== null) {
    // PostgreSQL would refuse a fraction or a number over 2^53.
    const group = Number.isSafeInteger(groupId)
      ? await lockGroupShared(tx, { accountId, id: groupId })
      : null;
    if (group === null) {
      problems.push(bodyProblem(['groupId'], `must be the id of a group: there is no ${groupId}`));
    }
    groupLocations.push(...(group?.fields.privateLocations ?? []));
  }
  if (before !== null && before.groupId !== null && before.groupId !== groupId) {
    // Locked, too: if the group gets another location at the same time, that location must get this change.
    const left = await lockGroupShared(tx, { accountId, id: before.groupId });
    groupLocations.push(...(left?.fields.privateLocations ?? []));
  }
  const subscribed = after?.alertChannelSubscriptions ?? [];
  problems.push(...(await requireChannels(tx, accountId, subscribed)));
  problems.push(...(await requireTriggeredService(tx, accountId, before, after)));
  if (after !== null && after.checkType !== 'HEARTBEAT') {
    const stored = before?.checkType === 'HEARTBEAT' ? null : before;
    problems.push(...(await requireParents(tx, accountId, after, stored)));
  }
  if (after?.checkType === 'API') {
    const stored = before?.checkType === 'API' ? before : null;
    problems.push(...(await requireSnippets(tx, accountId, after, stored)));
  }
  return { problems, groupLocations };
}

/**
 * Requires a newly named service to exist. The stored one may have been deleted, and users must still be able
 * to change or deactivate the check.
 */
async function requireTriggeredService(
  tx: Sql,
  accountId: string,
  before: AnyCheck | null,
  after: AnyCheck | null,
): Promise<readonly RequestProblem[]> {
  const serviceId = after?.triggerIncident?.serviceId;
  if (serviceId === undefined || serviceId === before?.triggerIncident?.serviceId) return [];
  const locked = await lockServicesShared(tx, { accountId, ids: [serviceId] });
  if (locked.has(serviceId)) return [];
  const message = 'must be the id of a service of status pages';
  return [bodyProblem(['triggerIncident', 'serviceId'], message)];
}

/** A heartbeat does not run, so it names none. */
function locationsNamedBy(check: AnyCheck | null): readonly string[] {
  if (check === null || check.checkType === 'HEARTBEAT') return [];
  return check.privateLocations ?? [];
}
