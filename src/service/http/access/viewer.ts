import type { FastifyRequest } from 'fastify';
import { callerOf } from './authentication.ts';
import { covers } from './authenticator.ts';

/** To whom a resource is shown. */
export interface Viewer {
  /**
   * Whoever may not change a resource is not shown the addresses in it that are secrets themselves: of
   * pings and of webhooks.
   */
  readonly mayWrite: boolean;
}

export function viewerOf(request: Pick<FastifyRequest, 'caller'>): Viewer {
  return { mayWrite: covers(callerOf(request).role, 'write') };
}
