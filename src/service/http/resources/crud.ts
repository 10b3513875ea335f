import type { FastifyPluginAsync, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { AccountKey } from '../../database/account-key.ts';
import { callerOf } from '../access/authentication.ts';
import { type Viewer, viewerOf } from '../access/viewer.ts';
import { sendSlices } from '../json/list-in-slices.ts';
import { pageOf } from './cursor-paging.ts';
import { type Precondition, preconditionOf } from './etag.ts';
import { withUniqueLogicalId } from './logical-id.ts';
import { NO_CONTENT } from './parameters.ts';

type Input = Readonly<Record<string, unknown>>;

/** The texts of a route in the OpenAPI document. */
interface Text {
  readonly summary: string;
  readonly description?: string;
}

/** The operations of a feature on one kind of resource. */
interface CrudFeature<Id extends string | number, Stored, Query, ReadQuery> {
  create(accountId: string, input: Input): Promise<Stored>;
  /** Returns slices where the list may be long. */
  list(
    accountId: string,
    query: Query,
  ): Promise<readonly Stored[]> | AsyncIterable<readonly Stored[]>;
  read(key: AccountKey<Id>, query: ReadQuery): Promise<Stored>;
  update(key: AccountKey<Id>, input: Input, precondition?: Precondition<Stored>): Promise<Stored>;
  remove(key: AccountKey<Id>, precondition?: Precondition<Stored>): Promise<void>;
}

export interface Crud<Id extends string | number, Stored, Query, Shown extends object, ReadQuery> {
  /** The path of the list; a resource is one segment below. */
  readonly path: string;
  /** The name in operation ids and schemas, in the singular: `Snippet`. */
  readonly resource: string;
  readonly tag: string;
  readonly changing: { readonly role: 'write' | 'admin' };
  /** The path parameter. */
  readonly id: { readonly name: string; readonly schema: z.ZodType<Id> };
  readonly query: z.ZodType<Query>;
  /** The query of the route that reads one resource. Default: none. */
  readonly readQuery?: z.ZodType<ReadQuery>;
  /** The query with which the audit log reads one resource. */
  readonly auditQuery?: Readonly<Record<string, unknown>>;
  readonly body: z.ZodType<Input>;
  /** The body of an update. */
  readonly changes: z.ZodType<Input>;
  readonly response: z.ZodType<Shown>;
  readonly texts: Readonly<Record<'create' | 'list' | 'read' | 'update' | 'remove', Text>>;
  readonly feature: CrudFeature<Id, Stored, Query, ReadQuery>;
  readonly present: (stored: Stored, viewer: Viewer) => Shown;
}

const READ = { role: 'read' } as const;

/**
 * The five standard routes of a resource (src/service/README.md, "The API").
 */
export function crudRoutes<
  Id extends string | number,
  Stored,
  Query,
  Shown extends object,
  ReadQuery = unknown,
>({
  path,
  resource,
  tag,
  changing,
  id: { name, schema: id },
  query,
  readQuery,
  auditQuery,
  body,
  changes,
  response,
  texts,
  feature,
  present,
}: Crud<Id, Stored, Query, Shown, ReadQuery>): FastifyPluginAsync {
  const tags = [tag];
  const one = `${path}/:${name}`;
  const params = z.object({ [name]: id });
  const creating = { ...changing, creates: true } as const;
  const writing = { ...changing, conditional: true } as const;
  interface OfOne {
    readonly Params: Readonly<Record<string, Id>>;
    readonly Body: Input;
  }
  // The schema requires it.
  const keyOf = (request: FastifyRequest<OfOne>): AccountKey<Id> => ({
    accountId: callerOf(request).accountId,
    id: request.params[name] as Id,
  });
  const requiredBy = (request: FastifyRequest<OfOne>) =>
    preconditionOf<Stored>(request, (stored) => present(stored, viewerOf(request)));

  return async (app) => {
    app.post<{ readonly Body: Input }>(
      path,
      {
        config: creating,
        schema: {
          tags,
          operationId: `create${resource}`,
          ...texts.create,
          body,
          response: { 201: response },
        },
      },
      async (request, reply) => {
        const created = await withUniqueLogicalId(path, request.body, () =>
          feature.create(callerOf(request).accountId, request.body),
        );
        const shown = present(created, viewerOf(request));
        const createdId = String(Reflect.get(shown, name in shown ? name : 'id'));
        return reply.code(201).header('location', `${path}/${createdId}`).send(shown);
      },
    );

    app.get(
      path,
      {
        config: READ,
        schema: {
          tags,
          operationId: `list${resource}s`,
          ...texts.list,
          querystring: query,
          response: { 200: z.array(response) },
        },
      },
      async (request, reply) => {
        const viewer = viewerOf(request);
        const asked = { ...(request.query as Query), ...pageOf(request, reply) };
        const found = feature.list(callerOf(request).accountId, asked);
        if (Symbol.asyncIterator in found) {
          return sendSlices(reply, found, (each) => present(each, viewer));
        }
        return (await found).map((each) => present(each, viewer));
      },
    );

    app.get<OfOne>(
      one,
      {
        config: auditQuery === undefined ? READ : { ...READ, auditQuery },
        schema: {
          tags,
          operationId: `get${resource}`,
          ...texts.read,
          params,
          ...(readQuery === undefined ? {} : { querystring: readQuery }),
          response: { 200: response },
        },
      },
      async (request) => {
        const found = await feature.read(keyOf(request), request.query as ReadQuery);
        return present(found, viewerOf(request));
      },
    );

    app.route<OfOne>({
      method: ['PUT', 'PATCH'],
      url: one,
      config: writing,
      schema: {
        tags,
        operationId: `update${resource}`,
        ...texts.update,
        params,
        body: changes,
        response: { 200: response },
      },
      handler: async (request) => {
        const updated = await withUniqueLogicalId(path, request.body, () =>
          feature.update(keyOf(request), request.body, requiredBy(request)),
        );
        return present(updated, viewerOf(request));
      },
    });

    app.delete<OfOne>(
      one,
      {
        config: writing,
        schema: {
          tags,
          operationId: `delete${resource}`,
          ...texts.remove,
          params,
          response: { 204: NO_CONTENT },
        },
      },
      async (request, reply) => {
        await feature.remove(keyOf(request), requiredBy(request));
        return reply.code(204).send(null);
      },
    );
  };
}
