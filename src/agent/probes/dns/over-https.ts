import type { DnsRequest } from '../../../model/check/request/dns.ts';
import type { ErrorCode } from '../../../model/result/error-codes.ts';
import { endpointText, withoutBrackets } from '../../../runtime/net/endpoint-text.ts';
import { VERSION } from '../../../runtime/version.ts';
import { exchangeFailed } from '../../net/dns/exchange-failures.ts';
import {
  makeQuery,
  matchStreamedResponse,
  type Query,
  type Question,
} from '../../net/dns/message/query.ts';
import { shortenedText } from '../../secrets/cut-scrubbed.ts';
import type { BodyPlan } from '../http/exchange.ts';
import { type Hop, type HopOptions, runHop } from '../http/hop.ts';
import type { HopRequest } from '../http/transport.ts';
import type { ProbeContext } from '../probe.ts';
import {
  certificateHost,
  type EncryptedExchange,
  failedBeforeQuestion,
  inEitherFamily,
} from './encrypted-exchange.ts';
import type { EncryptedServer } from './over-tls.ts';

const MEDIA_TYPE = 'application/dns-message';
/** The longest DNS message, and one byte to detect a longer body. */
const MAX_MESSAGE_BYTES = 65_535;
const BODY_PLAN: BodyPlan = {
  kind: 'read',
  maxBytes: MAX_MESSAGE_BYTES + 1,
  keepBytes: MAX_MESSAGE_BYTES + 1,
};
const MAX_SHOWN_CHARS = 100;

export type HttpsServer = EncryptedServer & Pick<DnsRequest, 'dohPath' | 'dohMethod'>;

/**
 * DNS over HTTPS (RFC 8484), over HTTP/2 if the server offers it. Does not follow redirects: the
 * check is about this server.
 *
 * @param route the proxy of the location, null for a direct connection, and client certificates
 */
export async function askOverHttps(
  question: Question,
  server: HttpsServer,
  context: ProbeContext,
  route: Pick<HopOptions, 'proxy' | 'clientCertificates'>,
): Promise<EncryptedExchange> {
  // RFC 8484 4.1: the same id for all, so that caches can answer.
  const query = makeQuery(question, { edns: true, authenticData: true, id: 0 });
  const request = requestOf(query, server);
  const send = (http1Only: boolean): Promise<Hop> =>
    inEitherFamily((ipFamily) =>
      runHop(
        request,
        {
          ipFamily,
          skipSSL: server.skipSSL,
          http1Only,
          planOf: () => BODY_PLAN,
          ...route,
          connectTo: withoutBrackets(server.nameServer),
        },
        context,
      ),
    );
  let hop = await send(false);
  if (hop.exchange?.ending?.http1Required) {
    context.log.info('The server requires this request over HTTP/1.1: sending it again');
    hop = await send(true);
  }
  return exchangeOf(hop, query, server, context);
}

function requestOf(query: Query, server: HttpsServer): HopRequest {
  const { port, dohPath, dohMethod } = server;
  const host = endpointText(withoutBrackets(certificateHost(server)), port);
  const url = new URL(`https://${host}${dohPath}`);
  const headers = [
    ['accept', MEDIA_TYPE],
    ['user-agent', `vedette/${VERSION}`],
  ] as const;
  if (dohMethod === 'GET') {
    url.search = `dns=${query.bytes.toString('base64url')}`;
    return { method: 'GET', url, headers, body: null };
  }
  const length = ['content-length', String(query.bytes.length)] as const;
  const withBody = [...headers, ['content-type', MEDIA_TYPE] as const, length];
  return { method: 'POST', url, headers: withBody, body: query.bytes };
}

function exchangeOf(
  hop: Hop,
  query: Query,
  server: HttpsServer,
  context: ProbeContext,
): EncryptedExchange {
  const { tcpMs, tlsMs, dnsMs, tls, isTimedByKernel } = hop;
  const hostname = withoutBrackets(server.nameServer);
  const { port } = server;
  const lookUpMs = hop.reached === 'nothing' ? 0 : dnsMs;
  const queryMs = Math.max(0, hop.endMs - hop.startMs - lookUpMs - tcpMs - tlsMs);
  return {
    end: endOf(hop, query, server, context),
    endpoint: hop.endpoint ?? { hostname, address: null, port, transport: 'tcp' },
    tls,
    phases: { tcpMs, tlsMs, queryMs },
    isTimedByKernel,
  };
}

function endOf(
  hop: Hop,
  query: Query,
  { nameServer, port }: HttpsServer,
  { scrub }: ProbeContext,
): EncryptedExchange['end'] {
  if (hop.failure !== null) return failedBeforeQuestion(nameServer, hop.failure);
  const who = endpointText(withoutBrackets(nameServer), port);
  const failed = (code: ErrorCode, what: string) => exchangeFailed(code, `${who} ${what}`);
  const head = hop.exchange?.head ?? null;
  const body = hop.exchange?.body ?? null;
  if (head === null || body === null) return failed('DNS_MALFORMED', 'sent no whole response');
  const { status, headers } = head;
  if (status < 200 || status > 299) {
    const what = `answered with the HTTP status ${status}, where 200 to 299 is needed`;
    return failed('DNS_HTTP_STATUS', what);
  }
  const given = headers['content-type'];
  const type = typeof given === 'string' ? given.split(';')[0]?.trim().toLowerCase() : undefined;
  if (type !== MEDIA_TYPE) {
    const shown =
      type === undefined ? 'no content type' : shortenedText(type, MAX_SHOWN_CHARS, scrub);
    return failed('DNS_MALFORMED', `answered with ${shown}, not with ${MEDIA_TYPE}`);
  }
  if (body.bytes.length > MAX_MESSAGE_BYTES) {
    return failed('DNS_MALFORMED', `answered with more than ${MAX_MESSAGE_BYTES} bytes`);
  }
  const what = `answered with ${body.bytes.length} bytes that are not a DNS answer`;
  const matched = matchStreamedResponse(body.bytes, query);
  switch (matched.kind) {
    case 'answer':
      return matched;
    case 'malformed':
      return failed('DNS_MALFORMED', `${what}: ${matched.problem}`);
    default:
      return failed('DNS_MALFORMED', `${what} to the question: id, name or type is another`);
  }
}
