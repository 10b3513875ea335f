import type { FastifyRequest } from 'fastify';
import { callerOf } from './authentication.ts';
import { roleCovers } from './caller.ts';

/** The user that a resource is shown to. */
export interface Viewer {
  /** Users without it do not see the addresses that are secrets themselves: of pings and webhooks. */
  readonly mayWrite: boolean;
}

export function viewerOf(request: Pick<FastifyRequest, 'caller'>): Viewer {
  return { mayWrite: roleCovers(callerOf(request).role, 'write') };
}
