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

/** How a route that writes gets into the audit log. */
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
    /** By default the resource as its GET route shows it, before and after. */
    audit?: RouteAudit;
    /** The query by which a GET route shows the audit log the whole resource. */
    auditQuery?: Readonly<Record<string, unknown>>;
  }
}

const WRITING = ['POST', 'PUT', 'PATCH', 'DELETE'];

/**
 * Writes an entry of the audit log for each request that changes something, in the transaction that
 * changes it: src/service/audit-log/README.md. A route that writes and has no kind in kinds.ts must say
 * why it has no entries, or the start fails.
 */
export function addAudit(app: FastifyInstance, auditLog: Pick<AuditLog, 'recording'>): void {
  const reads = new Map<string, RouteOptions>();
  app.addHook('onRoute', (route) => {
    const methods = [route.method].flat();
    if (methods.includes('GET')) reads.set(route.url, route);
    if (!methods.some((method) => WRITING.includes(method))) return;
    const { audit } = route.config ?? {};
    // Agents report what they ran: that is no change by a user.
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

  /** The GET route of the resource that a route makes or changes. */
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

/** The parameter with which a path ends, or the last before its end. */
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
