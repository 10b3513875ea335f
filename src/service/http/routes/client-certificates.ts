import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { clientCertificateSchema } from '../../../model/client-certificate.ts';
import type { ClientCertificates, StoredCertificate } from '../../features/client-certificates.ts';
import { callerOf } from '../plugins/authentication.ts';
import { NO_CONTENT, pageQuery, uuidParam } from './parameters.ts';
import { ignored, optionalFieldsOf, TIMES } from './resource-schemas.ts';

const TAGS = ['Client certificates'];
const READ = { role: 'read' } as const;
/** Whoever may change them says as whom the checks come. */
const ADMIN = { role: 'admin' } as const;
const PATH = '/v1/client-certificates';

const params = z.object({ id: uuidParam });
const { host, cert, ca } = clientCertificateSchema.shape;
const response = z.strictObject({ id: z.string(), host, cert, ca: ca.unwrap(), ...TIMES });
const changes = z.strictObject({
  ...optionalFieldsOf(clientCertificateSchema.shape),
  ...ignored(['created_at', 'updated_at']),
  id: z.string().optional().describe('The same as in the path.'),
});

/** What checks show to hosts that ask who they are: spec 4.18. */
export function clientCertificatesRoutes({
  clientCertificates,
}: {
  readonly clientCertificates: ClientCertificates;
}): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();

    app.post(
      PATH,
      {
        config: ADMIN,
        schema: {
          tags: TAGS,
          summary: 'Add a client certificate',
          description: 'One for each host. Agents have it within moments.',
          body: clientCertificateSchema,
          response: { 201: response },
        },
      },
      async (request, reply) => {
        const { accountId } = callerOf(request);
        const created = await clientCertificates.create(accountId, request.body);
        return reply.code(201).send(presentCertificate(created));
      },
    );

    app.get(
      PATH,
      {
        config: READ,
        schema: {
          tags: TAGS,
          summary: 'List client certificates, oldest first',
          querystring: z.strictObject(pageQuery),
          response: { 200: z.array(response) },
        },
      },
      async (request) => {
        const found = await clientCertificates.list(callerOf(request).accountId, request.query);
        return found.map(presentCertificate);
      },
    );

    app.get(
      `${PATH}/:id`,
      {
        config: READ,
        schema: {
          tags: TAGS,
          summary: 'Read a client certificate',
          params,
          response: { 200: response },
        },
      },
      async (request) => {
        const { accountId } = callerOf(request);
        return presentCertificate(await clientCertificates.read(accountId, request.params.id));
      },
    );

    app.route({
      method: ['PUT', 'PATCH'],
      url: `${PATH}/:id`,
      config: ADMIN,
      schema: {
        tags: TAGS,
        summary: 'Update a client certificate',
        description:
          'Fields that are left out stay as they are, the private key too. A new key needs its own passphrase.',
        params,
        body: changes,
        response: { 200: response },
      },
      handler: async (request) => {
        const { accountId } = callerOf(request);
        const { id } = request.params;
        return presentCertificate(await clientCertificates.update(accountId, id, request.body));
      },
    });

    app.delete(
      `${PATH}/:id`,
      {
        config: ADMIN,
        schema: {
          tags: TAGS,
          summary: 'Delete a client certificate',
          params,
          response: { 204: NO_CONTENT },
        },
      },
      async (request, reply) => {
        await clientCertificates.remove(callerOf(request).accountId, request.params.id);
        return reply.code(204).send(null);
      },
    );
  };
}

function presentCertificate(stored: StoredCertificate): z.output<typeof response> {
  return {
    id: stored.id,
    host: stored.host,
    cert: stored.cert,
    ca: stored.ca,
    created_at: stored.createdAt.toISOString(),
    updated_at: stored.updatedAt?.toISOString() ?? null,
  };
}
