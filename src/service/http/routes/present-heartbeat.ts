import type { FastifyRequest } from 'fastify';
import { ServiceError } from '../../errors.ts';
import type { CheckView } from '../../features/checks.ts';
import { presentShared } from './present-check.ts';

/** A heartbeat check as the API tells it; it is pinged where the caller has reached the service. */
export function presentHeartbeat(
  stored: CheckView,
  { protocol, host }: Pick<FastifyRequest, 'protocol' | 'host'>,
): Record<string, unknown> {
  const { check, pingToken } = stored;
  if (check.checkType !== 'HEARTBEAT' || pingToken === null) {
    throw new ServiceError(500, 'The check is no heartbeat that can be pinged');
  }
  const { triggerIncident: _, heartbeat, ...fields } = check;
  return {
    ...fields,
    ...presentShared(stored),
    heartbeat: { ...heartbeat, pingToken, pingUrl: `${protocol}://${host}/heartbeat/${pingToken}` },
  };
}
