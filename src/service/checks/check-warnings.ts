import type { CheckWithChannels } from '../alerts/channels/check-with-channels.ts';
import { findGroup } from '../check-groups/shared.sql.ts';
import type { Sql } from '../database/store.ts';
import type { Warning } from '../http/resources/warnings.ts';
import {
  privateLocationWarnings,
  publicLocationWarnings,
} from '../private-locations/location-warnings.ts';

/** Adds warnings about what keeps the check from running although it is valid. */
export async function withWarnings(
  sql: Sql,
  accountId: string,
  view: CheckWithChannels,
): Promise<CheckWithChannels> {
  return { ...view, warnings: await warningsOf(sql, accountId, view) };
}

async function warningsOf(
  sql: Sql,
  accountId: string,
  { check }: CheckWithChannels,
): Promise<readonly Warning[]> {
  const { groupId } = check;
  const group = groupId === null ? null : await findGroup(sql, { accountId, id: groupId });
  const warnings: Warning[] = [];
  if (group?.fields.activated === false) {
    const message = `The group ${group.id} is not activated, so its checks do not run. Activate the group.`;
    warnings.push({ code: 'GROUP_NOT_ACTIVATED', message, path: 'groupId' });
  }
  // A heartbeat does not run anywhere.
  if (check.checkType === 'HEARTBEAT') return warnings;
  // Locations of the group replace those of the check.
  const ofGroup = group?.fields.privateLocations ?? [];
  const places =
    ofGroup.length > 0
      ? { slugs: ofGroup, pathOf: () => 'groupId' }
      : { slugs: check.privateLocations };
  return [
    ...warnings,
    ...publicLocationWarnings(check.locations),
    ...(await privateLocationWarnings(sql, { accountId, ...places })),
  ];
}
