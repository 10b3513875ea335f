import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { STORED_CHECK_TYPES } from '../../model/enums.ts';
import { callerOf } from '../http/access/authentication.ts';
import { READ } from '../http/resources/check-parameters.ts';
import { pageOf } from '../http/resources/cursor-paging.ts';
import { pageQuery } from '../http/resources/parameters.ts';
import { type Certificates, MAX_CHECKS, type ShownFacts } from './certificates.ts';

const TAGS = ['Certificates'];

const facts = z
  .strictObject({
    subject: z.string(),
    issuer: z.string(),
    validFrom: z.string(),
    validTo: z.string(),
    serialNumber: z.string(),
    fingerprint256: z.string().describe('The same for all checks that see this certificate.'),
    names: z.array(z.string()).describe('The first 50 of its alternative names.'),
    nameCount: z.int(),
  })
  .meta({ title: 'CertificateFacts' });
const daysRemaining = z
  .int()
  .describe('Whole days until it expires, as of now; negative once it has expired.');

const seen = z
  .strictObject({
    checkId: z.string(),
    name: z.string().describe('Of the check.'),
    checkType: z.enum(STORED_CHECK_TYPES),
    activated: z.boolean(),
    daysRemaining,
    seenAt: z.iso.datetime().describe('The slot of the run that saw it last.'),
    location: z.string().nullable().describe('Of that run; null if its result is gone.'),
    authorized: z.boolean().nullable().describe('Whether the agent trusts it for the host.'),
    protocol: z.string().nullable().describe('For example TLSv1.3.'),
    certificate: facts.nullable().describe('null if the result of that run is gone.'),
  })
  .meta({ title: 'SeenCertificate' });

const ofClient = z.strictObject({
  id: z.string(),
  host: z.string(),
  daysRemaining: daysRemaining.nullable(),
  certificate: facts.nullable().describe('null if it cannot be read.'),
  checkCount: z
    .int()
    .describe(
      'Checks that use TLS with a host it matches: URL and API checks with https, TCP checks with `tls`, and DNS checks over TLS or HTTPS. Hosts with variables do not count.',
    ),
  checks: z
    .array(z.strictObject({ id: z.string(), name: z.string() }))
    .describe(`The first ${MAX_CHECKS} of them by name.`),
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
          summary: 'List the certificates that checks saw, those that expire first first',
          description: 'One for each check that saw one: the last one, of all its locations.',
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
