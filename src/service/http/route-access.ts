import type { RouteOptions } from 'fastify';
import { ROLES, type Role } from '../auth/authenticator.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The least role that may use the route. */
    role?: Role;
    /** Nobody is asked for a key here. */
    public?: true;
  }
}

export type RouteAccess =
  | { readonly kind: 'public' }
  | { readonly kind: 'role'; readonly role: Role }
  | { readonly kind: 'undeclared' };

/** Who may use a route, as its `config` says. */
export function accessOf(config: { role?: unknown; public?: unknown } | undefined): RouteAccess {
  const role = ROLES.find((each) => each === config?.role);
  // Whoever says both has made a slip, and the guess could be the open door.
  if (role !== undefined && config?.public === undefined) return { kind: 'role', role };
  return config?.public === true && config.role === undefined
    ? { kind: 'public' }
    : { kind: 'undeclared' };
}

/**
 * Stops the start where a route does not say who may use it.
 *
 * @throws Error naming the route: a fault of our own
 */
export function requireAccess({ method, url, config }: RouteOptions): void {
  if (accessOf(config).kind !== 'undeclared') return;
  throw new Error(
    `${String(method)} ${url} does not say who may use it: give it config { role } with one of ${ROLES.join(', ')}, or { public: true }, and not both`,
  );
}
