import type { RouteOptions } from 'fastify';
import { ROLES, type Role } from './authenticator.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The least role that may use the route. */
    role?: Role;
    /** Nobody is asked for a key here. */
    public?: true;
    /** For agents alone: they say their protocol version and have the key of their location. */
    agent?: true;
  }
}

export type RouteAccess =
  | { readonly kind: 'public' }
  | { readonly kind: 'role'; readonly role: Role }
  | { readonly kind: 'agent' }
  | { readonly kind: 'undeclared' };

/** Who may use a route, as its `config` says. */
export function accessOf(
  config: { role?: unknown; public?: unknown; agent?: unknown } | undefined,
): RouteAccess {
  const said = [config?.role, config?.public, config?.agent].filter((each) => each !== undefined);
  // Whoever says more than one thing has made a slip, and the guess could be the open door.
  if (said.length !== 1) return { kind: 'undeclared' };
  const role = ROLES.find((each) => each === config?.role);
  if (role !== undefined) return { kind: 'role', role };
  if (config?.agent === true) return { kind: 'agent' };
  return config?.public === true ? { kind: 'public' } : { kind: 'undeclared' };
}

/**
 * Stops the start where a route does not say who may use it.
 *
 * @throws Error naming the route: a fault of our own
 */
export function requireAccess({ method, url, config }: RouteOptions): void {
  if (accessOf(config).kind !== 'undeclared') return;
  throw new Error(
    `${String(method)} ${url} does not say who may use it: give it config { role } with one of ${ROLES.join(', ')}, { agent: true } or { public: true }, and one of these alone`,
  );
}
