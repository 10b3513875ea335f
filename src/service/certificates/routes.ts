import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { clientCertificateSchema } from '../../model/check/client-certificate.ts';
import { STORED_CHECK_TYPES } from '../../model/enums.ts';
import { certificateFacts } from '../../wire/v1/details/common-detail.ts';
import { callerOf } from '../http/access/authentication.ts';
import { READ } from '../http/access/route-roles.ts';
import { pageOf } from '../http/resources/cursor-paging.ts';
import { pageQuery } from '../http/resources/parameters.ts';
import {
  asShown,
  checkTypeOf,
  idOf,
  namedCheck,
  SHOWN_CHECK,
} from '../http/resources/shown-fields.ts';
import { type Certificates, MAX_CHECKS, type ShownFacts } from './certificates.ts';

const TAGS = ['Certificates'];

const facts = z
  .strictObject({
    subject: asShown(certificateFacts.shape.subject),
    issuer: asShown(certificateFacts.shape.issuer),
    validFrom: asShown(certificateFacts.shape.validFrom),
    validTo: asShown(certificateFacts.shape.validTo),
    serialNumber: asShown(certificateFacts.shape.serialNumber),
    fingerprint256: z.string().describe('The same for all checks that see this certificate.'),
    names: z.array(z.string()).describe('The first 50 of its alternative names.'),
    nameCount: z.int().describe('How many alternative names it has.'),
  })
  .meta({ title: 'CertificateFacts' });
const daysRemaining = z
  .int()
  .describe('Whole days until it expires, as of now; negative once it has expired.');

const seen = z
  .strictObject({
    checkId: SHOWN_CHECK.checkId,
    name: SHOWN_CHECK.name,
    checkType: checkTypeOf(STORED_CHECK_TYPES),
    activated: SHOWN_CHECK.activated,
    daysRemaining,
    seenAt: z.iso.datetime().describe('The slot of the run that saw it last.'),
    location: z.string().nullable().describe('Of that run; null if its result is gone.'),
    authorized: z.boolean().nullable().describe('Whether the agent trusts it for the host.'),
    protocol: z.string().nullable().describe('For example TLSv1.3.'),
    certificate: facts.nullable().describe('null if the result of that run is gone.'),
  })
  .meta({ title: 'SeenCertificate' });

const ofClient = z.strictObject({
  id: idOf('the client certificate'),
  host: asShown(clientCertificateSchema.shape.host),
  daysRemaining: daysRemaining
    .nullable()
    .describe(`${daysRemaining.description} null if it cannot be read.`),
  certificate: facts.nullable().describe('null if it cannot be read.'),
  checkCount: z
    .int()
    .describe(
      'Checks that use TLS with a host it matches: URL and API checks with https, TCP checks with `tls`, and DNS checks over TLS or HTTPS. Hosts with variables do not count.',
    ),
  checks: z.array(namedCheck).describe(`The first ${MAX_CHECKS} of them by name.`),
});

/** The certificates that checks see and send: src/service/README.md, "Certificates". */
export function certificatesRoutes({
  certificates,
}: {
  readonly certificates: Certificates;
}): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();

    app.get(
      '/v1/certificates',
      {
        config: READ,
        schema: {
          tags: TAGS,
          operationId: 'listCertificates',
          summary: 'List the certificates that checks saw, the first to expire first',
          description: 'Returns the certificate that each check saw last, in any of its locations.',
          querystring: z.strictObject(pageQuery),
          response: { 200: z.array(seen) },
        },
      },
      async (request, reply) => {
        const { accountId } = callerOf(request);
        const found = await certificates.seen(accountId, pageOf(request, reply));
        return found.map(({ facts: read, certificate: _, daysThen: __, seenAt, ...shown }) => ({
          ...shown,
          seenAt: seenAt.toISOString(),
          certificate: presentFacts(read),
        }));
      },
    );

    app.get(
      '/v1/client-certificate-uses',
      {
        config: READ,
        schema: {
          tags: TAGS,
          operationId: 'listClientCertificateUses',
          summary: 'List when client certificates expire and which checks use them, oldest first',
          querystring: z.strictObject(pageQuery),
          response: { 200: z.array(ofClient) },
        },
      },
      async (request, reply) => {
        const { accountId } = callerOf(request);
        const found = await certificates.ofClients(accountId, pageOf(request, reply));
        return found.map(({ facts: read, checks, ...shown }) => ({
          ...shown,
          checks: [...checks],
          certificate: presentFacts(read),
        }));
      },
    );
  };
}

function presentFacts(read: ShownFacts | null): z.output<typeof facts> | null {
  return read === null ? null : { ...read, names: [...read.names] };
}
