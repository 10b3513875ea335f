import { RCODE, rcodeName } from '../../../model/check/assertions/response-codes.ts';
import type { ClientCertificate } from '../../../model/check/client-certificate.ts';
import { type DnsProtocol, type DnsRequest, dnsPortOf } from '../../../model/check/request/dns.ts';
import type { TimingClock, TlsFacts } from '../../../model/result/details/check-detail.ts';
import type {
  DnsDetail,
  DnsResponse,
  DnsTimingPhases,
} from '../../../model/result/details/dns-detail.ts';
import type { Failure } from '../../../model/result/error-codes.ts';
import { endpointText, withoutBrackets } from '../../../runtime/net/endpoint-text.ts';
import { parseProxy } from '../../../runtime/net/proxy/proxy-url.ts';
import { countText } from '../../../runtime/text/count-text.ts';
import { hostHasIpv6 } from '../../net/address-family.ts';
import { EXACT_MS } from '../../net/deadline-extension.ts';
import { questionText } from '../../net/dns/exchange-failures.ts';
import type { Answered, Exchanged } from '../../net/dns/exchange-with-fallback.ts';
import type { Question } from '../../net/dns/message/query.ts';
import { askNameServers, type NameServers } from '../../net/dns/system/name-servers.ts';
import { unusableProxy } from '../../net/proxy/proxy-failures.ts';
import { Stopwatch } from '../../net/stopwatch.ts';
import type { Endpoint } from '../endpoint.ts';
import type { JobLog } from '../job-log.ts';
import { type ProbeContext, type ProbeOutcome, roundToMicroseconds } from '../probe.ts';
import { digText, jsonAnswerOf, shownPartOf } from './answer-forms.ts';
import { compareSerials } from './compare-serials.ts';
import type { EncryptedExchange } from './encrypted-exchange.ts';
import { askOverHttps } from './over-https.ts';
import { askOverTls } from './over-tls.ts';
import { questionOf } from './question.ts';
import { addressesOfServer, askServer } from './server-addresses.ts';

export interface DnsOutcome
  extends ProbeOutcome<DnsDetail['request'], DnsResponse, DnsTimingPhases, DnsTimingPhases> {
  readonly clock: TimingClock;
  /** Over DOT and DOH; null if there was no handshake. */
  readonly tls?: TlsFacts | null;
}

export interface DnsProbeOptions {
  /** Used if the request names no server; see SystemResolver.nameServers. */
  readonly nameServers: () => NameServers;
  /** The proxy of the location, for DOH; null for direct connections. */
  readonly proxyUrl: () => string | null;
  /** The certificates of the current check set, for DOT and DOH. */
  readonly clientCertificates: () => readonly ClientCertificate[];
  /** Whether this machine has IPv6; for tests. */
  readonly hasIpv6?: () => boolean;
}

/**
 * Sends one question (src/model/README.md, "DNS: `request`") to the request's name server, or to
 * the system's in their order. Every complete answer is a response, whatever its code.
 *
 * The response time starts with the first question, over DOT and DOH with the connect, and ends
 * with the answer. It includes repeats for lost datagrams, the second question over TCP, and system
 * servers that did not answer. It includes neither the look-up of the name server's own host name,
 * which the log reports, nor the comparison of serials.
 */
export async function probeDns(
  request: DnsRequest,
  context: ProbeContext,
  options: DnsProbeOptions,
): Promise<DnsOutcome> {
  const { nameServer, protocol } = request;
  const question = questionOf(request);
  const isEncrypted = protocol === 'DOT' || protocol === 'DOH';
  if (question !== null && nameServer !== null && isEncrypted) {
    return probeEncrypted(question, { ...request, nameServer }, context, options);
  }
  let stopwatch = new Stopwatch(context);
  const { query } = request;
  const port = dnsPortOf(request);
  const transport = protocol === 'UDP' ? 'dns' : 'tcp';
  // A failure of several system name servers has no single endpoint.
  const hostname = nameServer === null ? query : withoutBrackets(nameServer);
  let endpoint: Endpoint | null = { hostname, address: null, port, transport };
  let clock: TimingClock = 'event-loop';
  const finish = (
    response: DnsResponse | null,
    failure: Failure | null,
    totalMs = stopwatch.elapsedMs(),
  ): DnsOutcome => {
    const total = roundToMicroseconds(totalMs);
    return {
      request: echoOf(request),
      endpoint,
      response,
      failure,
      timings: { total },
      timingPhases: { total },
      responseTimeMs: total,
      clock,
    };
  };

  if (question === null) {
    endpoint = null;
    const message = `${request.query} cannot be asked for: a label or the whole name is too long or has characters that no name has`;
    return finish(null, { code: 'DNS_ERROR', message });
  }
  const plain = protocol === 'TCP' ? protocol : 'UDP';
  const how = { ...context, protocol: plain, authenticData: true } as const;
  let exchanged: Exchanged;
  if (nameServer === null) {
    exchanged = await askNameServers(question, options.nameServers(), how);
  } else {
    const server = await addressesOfServer(hostname, context);
    if (!server.ok) return finish(null, server.failure);
    const [address] = server.addresses;
    endpoint = { hostname, address, port, transport };
    stopwatch = new Stopwatch(context);
    exchanged = await askServer(question, server.addresses, port, how);
  }
  if (exchanged.kind === 'failed') return finish(null, exchanged.failure);
  const { server, isTimedByKernel, durationMs, end } = exchanged;
  const totalMs = stopwatch.elapsedUntilMs(end);
  // The event loop timed the servers that did not answer before.
  if (isTimedByKernel) clock = totalMs - durationMs < EXACT_MS ? 'kernel' : 'mixed';
  endpoint = { hostname: nameServer === null ? server.address : hostname, ...server, transport };
  const response = responseOf(exchanged, request, context.log);
  if (!request.compareSerials || exchanged.message.rcode !== RCODE.NOERROR) {
    return finish(response, null, totalMs);
  }
  const { hasIpv6 = hostHasIpv6 } = options;
  const compared = await compareSerials(question, { request, server }, context, hasIpv6);
  return finish({ ...response, serials: compared.serials }, compared.failure, totalMs);
}

export function echoOf(request: DnsRequest): DnsDetail['request'] {
  const { query, recordType, nameServer, protocol } = request;
  return { query, recordType, nameServer, port: dnsPortOf(request), protocol };
}

async function probeEncrypted(
  question: Question,
  request: DnsRequest & { readonly nameServer: string },
  context: ProbeContext,
  options: DnsProbeOptions,
): Promise<DnsOutcome> {
  const { nameServer, protocol } = request;
  const port = dnsPortOf(request);
  const proxyUrl = protocol === 'DOH' ? options.proxyUrl() : null;
  const proxy = proxyUrl === null ? null : parseProxy(proxyUrl);
  const proxyFailure = unusableProxy(proxyUrl, proxy);
  const server = { ...request, port };
  const clientCertificates = options.clientCertificates();
  const asked: EncryptedExchange =
    proxyFailure !== null
      ? notStarted(nameServer, port, proxyFailure)
      : protocol === 'DOH'
        ? await askOverHttps(question, server, context, { proxy, clientCertificates })
        : await askOverTls(question, server, context, clientCertificates);
  const { end, endpoint, tls, isTimedByKernel } = asked;
  const tcp = roundToMicroseconds(asked.phases.tcpMs);
  const tlsMs = roundToMicroseconds(asked.phases.tlsMs);
  const queryMs = roundToMicroseconds(asked.phases.queryMs);
  const total = roundToMicroseconds(tcp + tlsMs + queryMs);
  const outcome = {
    request: echoOf(request),
    endpoint,
    timings: { total },
    timingPhases: { tcp, tls: tlsMs, query: queryMs, total },
    responseTimeMs: total,
    clock: isTimedByKernel ? 'mixed' : 'event-loop',
    tls,
  } as const;
  const what = `Question ${questionText(question)} to ${endpointText(withoutBrackets(nameServer), port)} over ${protocol}`;
  if (end.kind === 'failed') {
    context.log.warn(`${what}: ${end.failure.message}`);
    return { ...outcome, response: null, failure: end.failure };
  }
  const count = countText(end.message.answers.length, 'record');
  context.log.info(
    `${what}: ${rcodeName(end.message.rcode)}, ${count}; tcp ${tcp} ms, tls ${tlsMs} ms, query ${queryMs} ms`,
  );
  const address = endpoint.address ?? withoutBrackets(nameServer);
  const answered = { message: end.message, server: { address, port }, protocol, durationMs: total };
  return { ...outcome, response: responseOf(answered, request, context.log), failure: null };
}

function notStarted(nameServer: string, port: number, failure: Failure): EncryptedExchange {
  const hostname = withoutBrackets(nameServer);
  return {
    end: { kind: 'failed', failure },
    endpoint: { hostname, address: null, port, transport: 'tcp' },
    tls: null,
    phases: { tcpMs: 0, tlsMs: 0, queryMs: 0 },
    isTimedByKernel: false,
  };
}

type Shown = Pick<Answered, 'message' | 'server' | 'durationMs'> & {
  readonly protocol: DnsProtocol;
};

function responseOf(answered: Shown, request: DnsRequest, log: JobLog): DnsResponse {
  const { server, protocol, durationMs } = answered;
  const host = request.nameServer ?? server.address;
  const { message, leftOut } = shownPartOf(answered.message);
  if (leftOut > 0) {
    log.warn(
      `The answer is too long to be shown whole: ${countText(leftOut, 'record is', 'records are')} left out`,
    );
  }
  return {
    responseCode: rcodeName(message.rcode),
    answer: jsonAnswerOf(message),
    text: digText(message, { server: { ...server, host }, protocol, durationMs, leftOut }),
    nameServer: { host, port: server.port, protocol },
  };
}
