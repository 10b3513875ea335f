import type { FastifyPluginAsync } from 'fastify';
import { z } from 'zod';
import { clientCertificateSchema } from '../../model/check/client-certificate.ts';
import { crudRoutes } from '../http/resources/crud.ts';
import { pageQuery, uuidParam } from '../http/resources/parameters.ts';
import { ignored, optionalFieldsOf, TIMES } from '../http/resources/resource-schemas.ts';
import { idOf } from '../http/resources/shown-fields.ts';
import type { ClientCertificates, StoredCertificate } from './client-certificates.ts';

const { host, cert, ca } = clientCertificateSchema.shape;
const response = z.strictObject({
  id: idOf('the client certificate'),
  host,
  cert,
  ca: ca.unwrap().describe(ca.description ?? ''),
  ...TIMES,
});
const changes = z.strictObject({
  ...optionalFieldsOf(clientCertificateSchema.shape),
  ...ignored(['created_at', 'updated_at']),
  id: z.string().optional().describe('The same as in the path.'),
});

/** Certificates that checks present to hosts: src/service/README.md, "Client certificates". */
export function clientCertificatesRoutes({
  clientCertificates,
}: {
  readonly clientCertificates: ClientCertificates;
}): FastifyPluginAsync {
  return crudRoutes({
    path: '/v1/client-certificates',
    resource: 'ClientCertificate',
    tag: 'Client certificates',
    // Certificates are the identity of the checks.
    changing: { role: 'admin' },
    id: { name: 'id', schema: uuidParam },
    query: z.strictObject(pageQuery),
    body: clientCertificateSchema,
    changes,
    response,
    texts: {
      create: {
        summary: 'Add a client certificate',
        description: 'One for each host. Agents have it within moments.',
      },
      list: { summary: 'List client certificates, oldest first' },
      read: { summary: 'Read a client certificate' },
      update: {
        summary: 'Update a client certificate',
        description:
          'Omitted fields do not change, and neither does the private key. A new key needs its own passphrase.',
      },
      remove: { summary: 'Delete a client certificate' },
    },
    feature: clientCertificates,
    present: presentCertificate,
  });
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
