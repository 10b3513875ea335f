import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  RouteHandlerMethod,
  RouteOptions,
} from 'fastify';
import type { AuditLog } from '../../audit-log/audit-log.ts';
import { type AuditAction, kindOfPath } from '../../audit-log/kinds.ts';
import { ServiceError } from '../../errors.ts';
import { callerOf } from '../access/authentication.ts';
import type { Caller } from '../access/caller.ts';
import { routeAccess } from '../access/route-access.ts';

/** How the audit log records a route that writes. */
export type RouteAudit =
  /** Its feature writes the entries. */
  | 'by its feature'
  /** It has no entries, for this reason. */
  | { readonly none: string }
  /** Its entries have another action than create, update or delete. */
  | { readonly action?: AuditAction; readonly of?: AuditedResource };

/** A resource that has no GET route of its own. */
export interface AuditedResource {
  /** The parameter of the path with its id. */
  readonly idName: string;
  /** @returns null if there is none */
  show(accountId: string, ids: Ids): Promise<object | null>;
}
type Ids = Readonly<Record<string, string | number>>;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Default: records the resource before and after the request, as its GET route shows it. */
    audit?: RouteAudit;
    /** The query with which a GET route returns the whole resource to the audit log. */
    auditQuery?: Readonly<Record<string, unknown>>;
  }
}

const WRITING = ['POST', 'PUT', 'PATCH', 'DELETE'];

/**
 * Writes an entry of the audit log for each request that changes a resource, in the same transaction:
 * src/service/audit-log/README.md. A route that writes and has no kind in kinds.ts must declare why it has no
 * entries; otherwise the start fails.
 */
export function addAudit(app: FastifyInstance, auditLog: Pick<AuditLog, 'recording'>): void {
  const reads = new Map<string, RouteOptions>();
  app.addHook('onRoute', (route) => {
    const methods = [route.method].flat();
    if (methods.includes('GET')) reads.set(route.url, route);
    if (!methods.some((method) => WRITING.includes(method))) return;
    const { audit } = route.config ?? {};
    // Requests of agents are reports, not changes by a user.
    if (routeAccess(route.config).kind === 'agent') return;
    if (audit === 'by its feature' || (audit !== undefined && 'none' in audit)) return;
    route.handler = recordedHandler(route, audit ?? {});
  });

  function recordedHandler(
    { url, method, handler, config }: RouteOptions,
    { action, of }: Exclude<RouteAudit, string | { readonly none: string }>,
  ): RouteHandlerMethod {
    const kind = kindOfPath(url);
    if (kind === null || routeAccess(config).kind !== 'role') {
      throw new Error(
        `${String(method)} ${url} does not say how the audit log records it: add its kind to src/service/audit-log/kinds.ts, or give it config { audit: { none } } with the reason`,
      );
    }
    return function (this: FastifyInstance, request: FastifyRequest, reply: FastifyReply) {
      const ids = request.params as Ids;
      const read = of === undefined ? readOf(url) : null;
      const idName = of?.idName ?? lastParam(read?.url ?? url) ?? 'id';
      const { accountId, by } = callerOf(request);
      const show = async (id: string | number) => {
        const all = { ...ids, [idName]: id };
        if (of !== undefined) return await of.show(accountId, all);
        return read === null ? null : await shownBy(read, request, all);
      };
      const actor = { kind: by.kind, id: by.id, address: request.ip };
      return auditLog.recording(
        { accountId, actor, kind, action: action ?? null, id: ids[idName] ?? null, idName, show },
        async () => handler.call(this, request, reply),
      );
    };
  }

  /** Finds the GET route of the resource that a route creates or changes. */
  function readOf(url: string): RouteOptions | null {
    for (let path = url; path !== ''; path = path.slice(0, path.lastIndexOf('/'))) {
      const found = reads.get(path);
      const isOne = found !== undefined && (lastParam(path) !== null || path.split(':').length > 1);
      if (isOne) return found;
      const [below] = [...reads.keys()].filter(
        (one) => one.startsWith(`${path}/:`) && !one.slice(path.length + 2).includes('/'),
      );
      if (below !== undefined) return reads.get(below) ?? null;
    }
    return null;
  }
}

/** The last parameter of a path. */
function lastParam(url: string): string | null {
  return (
    url
      .match(/:(\w+)/g)
      ?.at(-1)
      ?.slice(1) ?? null
  );
}

/** The resource as the GET route shows it to the role `read`. */
async function shownBy(
  { handler, config }: RouteOptions,
  request: FastifyRequest,
  params: Ids,
): Promise<object | null> {
  const caller: Caller = { ...callerOf(request), role: 'read' };
  const asReader = Object.create(request, {
    params: { value: params },
    query: { value: config?.auditQuery ?? {} },
    caller: { value: caller },
  });
  try {
    return (await (handler as (request: FastifyRequest) => unknown)(asReader)) as object;
  } catch (error) {
    if (error instanceof ServiceError && error.status === 404) return null;
    throw error;
  }
}
