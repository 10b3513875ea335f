import type { RouteOptions } from 'fastify';
import { ROLES, type Role } from '../../../model/enums.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The lowest role that may use the route. */
    role?: Role;
    /** Needs no key. */
    public?: true;
    /** Only for users who are signed in, with any role: it is about themselves. */
    user?: true;
    /** Only for agents, which send their protocol version and the key of their location. */
    agent?: true;
  }
}

export type RouteAccess =
  | { readonly kind: 'public' }
  | { readonly kind: 'role'; readonly role: Role }
  | { readonly kind: 'user' }
  | { readonly kind: 'agent' }
  | { readonly kind: 'undeclared' };

/** Who may use a route, by its `config`. */
export function routeAccess(
  config: { role?: unknown; public?: unknown; user?: unknown; agent?: unknown } | undefined,
): RouteAccess {
  const declared = [config?.role, config?.public, config?.user, config?.agent].filter(
    (each) => each !== undefined,
  );
  // More than one declaration is a mistake; a guess could make the route public.
  if (declared.length !== 1) return { kind: 'undeclared' };
  const role = ROLES.find((each) => each === config?.role);
  if (role !== undefined) return { kind: 'role', role };
  if (config?.agent === true) return { kind: 'agent' };
  if (config?.user === true) return { kind: 'user' };
  return config?.public === true ? { kind: 'public' } : { kind: 'undeclared' };
}

/**
 * Stops the start where a route does not declare who may use it.
 *
 * @throws Error naming the route: a programming error
 */
export function requireAccess({ method, url, config }: RouteOptions): void {
  if (routeAccess(config).kind !== 'undeclared') return;
  throw new Error(
    `${String(method)} ${url} does not say who may use it: give it config { role } with one of ${ROLES.join(', ')}, { user: true }, { agent: true } or { public: true }, and one of these alone`,
  );
}
