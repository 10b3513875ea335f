import type { FastifyRequest } from 'fastify';
import { ServiceError } from '../../errors.ts';
import type { CheckView } from '../../features/checks.ts';
import { presentShared } from './present-check.ts';

const HOST = /^[\w.:[\]-]+$/;

/**
 * Where the caller has reached the service, as far as it says so itself: whoever else can set the
 * Host header of its requests says where it will have its jobs ping. PUBLIC_URL leaves no doubt.
 * Empty, for a path alone, where it named no host.
 */
export function originOf({ protocol, host }: Pick<FastifyRequest, 'protocol' | 'host'>): string {
  return HOST.test(host) ? `${protocol}://${host}` : '';
}

/**
 * A heartbeat check as the API tells it.
 *
 * @param baseUrl where it is pinged, without a slash at its end
 */
export function presentHeartbeat(stored: CheckView, baseUrl: string): Record<string, unknown> {
  const { check, pingToken } = stored;
  if (check.checkType !== 'HEARTBEAT' || pingToken === null) {
    throw new ServiceError(500, 'The check is no heartbeat that can be pinged');
  }
  const { triggerIncident: _, heartbeat, ...fields } = check;
  return {
    ...fields,
    ...presentShared(stored),
    heartbeat: { ...heartbeat, pingToken, pingUrl: `${baseUrl}/heartbeat/${pingToken}` },
  };
}
