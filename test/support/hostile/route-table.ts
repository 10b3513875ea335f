import type { FastifyInstance, FastifyPluginAsync, RouteOptions } from 'fastify';
import type { z } from 'zod';
import { accessOf, type RouteAccess } from '../../../src/service/http/access/route-access.ts';

/** A route as the service has it, with one method. */
export interface Route {
  readonly method: string;
  /** With `:name` for each parameter. */
  readonly url: string;
  readonly access: RouteAccess;
  readonly params: readonly string[];
  readonly body: z.ZodType | null;
  readonly query: z.ZodType | null;
  /** Whether it reads bodies as JSON, also where no schema says what is in them. */
  readonly takesJson: boolean;
  readonly takesGzip: boolean;
  /** What answers: the same for PUT and PATCH where these are one. */
  readonly handler: unknown;
}

/**
 * A plugin that is to be registered before all others, and the routes of those after it: whatever
 * the service comes to have is in it.
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
  // Not encapsulated: the hook is for the plugins beside it.
  return { plugin: Object.assign(plugin, { [Symbol.for('skip-override')]: true }), routes };
}

function routeOf(method: string, { url, config, schema, handler }: RouteOptions): Route {
  const part = (of: unknown): z.ZodType | null => (of === undefined ? null : (of as z.ZodType));
  return {
    method,
    url,
    access: accessOf(config),
    params: url.match(/:\w+/g) ?? [],
    body: part(schema?.body),
    query: part(schema?.querystring),
    takesJson: !['GET', 'HEAD'].includes(method) && config?.bodyType === undefined,
    takesGzip: config?.gzip === true,
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
