import { MASK } from '../../model/credentials/mask.ts';
import type { CheckWithChannels } from '../checks/checks.ts';
import { presentShared } from '../checks/present-check.ts';
import { ServiceError } from '../errors.ts';
import type { Viewer } from '../http/access/viewer.ts';

/**
 * Presents a heartbeat check for the API. Hides the token from keys that may not write: they could use it to
 * ping in place of the job.
 *
 * @param baseUrl base of the ping URL, without a trailing slash
 */
export function presentHeartbeat(
  stored: CheckWithChannels,
  baseUrl: string,
  viewer: Viewer,
): Record<string, unknown> {
  const { check, heartbeat: row } = stored;
  if (check.checkType !== 'HEARTBEAT' || row === null) {
    throw new ServiceError(500, 'The check is not a heartbeat that can be pinged');
  }
  const token = viewer.mayWrite ? row.pingToken : MASK;
  const { triggerIncident: _, heartbeat, ...fields } = check;
  return {
    ...fields,
    ...presentShared(stored, viewer),
    lastPingAt: row.lastPingMs === null ? null : new Date(row.lastPingMs).toISOString(),
    heartbeat: { ...heartbeat, pingToken: token, pingUrl: `${baseUrl}/heartbeat/${token}` },
  };
}
