import type { FastifyInstance, FastifyPluginAsync, RouteOptions } from 'fastify';
import type { z } from 'zod';
import { type RouteAccess, routeAccess } from '../../../src/service/http/access/route-access.ts';
import type { RouteAudit } from '../../../src/service/http/plugins/audit.ts';

/** A route of the service with one method. */
export interface Route {
  readonly method: string;
  /** With `:name` for each parameter. */
  readonly url: string;
  readonly access: RouteAccess;
  readonly params: readonly string[];
  readonly body: z.ZodType | null;
  readonly query: z.ZodType | null;
  /** Whether it parses JSON bodies, even without a schema. */
  readonly takesJson: boolean;
  readonly takesGzip: boolean;
  /** How the audit log records it; undefined for the default. */
  readonly audit: RouteAudit | undefined;
  /** The handler, which PUT and PATCH may share. */
  readonly handler: unknown;
}

/**
 * A plugin that records the routes of all plugins after it: register it first, so that the table
 * contains every route.
 */
export function collectRoutes(): {
  readonly plugin: FastifyPluginAsync;
  readonly routes: readonly Route[];
} {
  const routes: Route[] = [];
  const plugin = async (app: FastifyInstance): Promise<void> => {
    app.addHook('onRoute', (options) => {
      for (const method of [options.method].flat()) routes.push(routeOf(method, options));
    });
  };
  // Not encapsulated: the hook also covers sibling plugins.
  return { plugin: Object.assign(plugin, { [Symbol.for('skip-override')]: true }), routes };
}

function routeOf(method: string, { url, config, schema, handler }: RouteOptions): Route {
  const part = (of: unknown): z.ZodType | null => (of === undefined ? null : (of as z.ZodType));
  return {
    method,
    url,
    access: routeAccess(config),
    params: url.match(/:\w+/g) ?? [],
    body: part(schema?.body),
    query: part(schema?.querystring),
    takesJson: !['GET', 'HEAD'].includes(method) && config?.bodyType === undefined,
    takesGzip: config?.gzip === true,
    audit: config?.audit,
    handler,
  };
}

/** The path with the values in place of its parameters. */
export function pathOf({ url, params }: Route, values: readonly string[]): string {
  return params.reduce(
    (path, name, index) => path.replace(name, encodeURIComponent(values[index] ?? '')),
    url,
  );
}
