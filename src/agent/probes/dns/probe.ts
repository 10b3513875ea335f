import type { DnsRequest } from '../../../model/check/request.ts';
import { rcodeName } from '../../../model/check/response-codes.ts';
import type { Failure } from '../../../model/result/error-codes.ts';
import type {
  DnsDetail,
  DnsResponse,
  DnsTimingPhases,
  TimingClock,
} from '../../../model/result/result.ts';
import { endpointText, withoutBrackets } from '../../../runtime/net/endpoint-text.ts';
import { countText } from '../../../runtime/text/count-text.ts';
import { EXACT_MS } from '../../net/deadline-extension.ts';
import {
  type Answered,
  type DnsExchangeOptions,
  type Exchanged,
  exchange,
} from '../../net/dns/exchange.ts';
import type { Question } from '../../net/dns/message/query.ts';
import { askNameServers, type NameServers } from '../../net/dns/system/name-servers.ts';
import { type Addresses, type Choice, chooseAddresses } from '../../net/permitted-addresses.ts';
import type { Family } from '../../net/resolver.ts';
import { Stopwatch } from '../../net/stopwatch.ts';
import type { Endpoint } from '../endpoint.ts';
import type { JobLog } from '../job-log.ts';
import { type ProbeContext, type ProbeOutcome, roundMs } from '../probe.ts';
import { digText, jsonAnswerOf, shownPartOf } from './answer-forms.ts';
import { questionOf } from './question.ts';

export interface DnsOutcome
  extends ProbeOutcome<DnsDetail['request'], DnsResponse, DnsTimingPhases, DnsTimingPhases> {
  readonly clock: TimingClock;
}

export interface DnsProbeOptions {
  /** Used if the request names no server; see SystemResolver.nameServers. */
  readonly nameServers: () => NameServers;
}

/**
 * Asks one question (src/model/README.md, "DNS: `request`") of the request's name server alone, or
 * of the system's in their order. Every complete answer is a response, whatever its code. The
 * response time runs from the first question to that answer and includes repeats for lost
 * datagrams, the second question over TCP, and system servers that had to be given up; it does not
 * include looking up the name server's own host name, which the log reports.
 */
export async function probeDns(
  request: DnsRequest,
  context: ProbeContext,
  options: DnsProbeOptions,
): Promise<DnsOutcome> {
  let stopwatch = new Stopwatch(context);
  const { query, recordType, nameServer, port, protocol } = request;
  const transport = protocol === 'UDP' ? 'dns' : 'tcp';
  // The system's name servers are several: a failure has no single endpoint.
  const hostname = nameServer === null ? query : withoutBrackets(nameServer);
  let endpoint: Endpoint | null = { hostname, address: null, port, transport };
  let clock: TimingClock = 'event-loop';
  const finish = (
    response: DnsResponse | null,
    failure: Failure | null,
    totalMs = stopwatch.elapsedMs(),
  ): DnsOutcome => {
    const total = roundMs(totalMs);
    return {
      request: { query, recordType, nameServer, port, protocol },
      endpoint,
      response,
      failure,
      timings: { total },
      timingPhases: { total },
      responseTimeMs: total,
      clock,
    };
  };

  const question = questionOf(request);
  if (question === null) {
    endpoint = null;
    const message = `${request.query} cannot be asked for: a label or the whole name is too long or has characters that no name has`;
    return finish(null, { code: 'DNS_ERROR', message });
  }
  const how = { ...context, protocol, authenticData: true };
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
  // The event loop timed servers that were given up before.
  if (isTimedByKernel) clock = totalMs - durationMs < EXACT_MS ? 'kernel' : 'mixed';
  endpoint = { hostname: nameServer === null ? server.address : hostname, ...server, transport };
  return finish(responseOf(exchanged, request, context.log), null, totalMs);
}

/** The server's IPv4 addresses that TARGET_DENY permits, or the IPv6 ones if it has no IPv4. */
async function addressesOfServer(host: string, context: ProbeContext): Promise<Choice> {
  const { clock, resolver, log } = context;
  const startMs = clock.monotonicMs();
  const families: readonly Family[] = [4, 6];
  let failure: Failure = { code: 'DNS_NO_ADDRESS', message: `${host} has no address` };
  for (const family of families) {
    const resolution = await resolver.resolve(host, family, context);
    if (resolution.ok) {
      const [first] = resolution.addresses;
      if (first !== host) {
        const durationMs = clock.monotonicMs() - startMs;
        log.info(`The name server ${host} is ${first} (looked up in ${durationMs.toFixed(3)} ms)`);
      }
      return chooseAddresses(`The name server ${host}`, resolution.addresses, context);
    }
    failure = family === 4 ? resolution.failure : failure;
    if (resolution.failure.code !== 'DNS_NO_ADDRESS') break;
  }
  const message = `The name server ${host} has no known address: ${failure.message}`;
  return { ok: false, failure: { ...failure, message } };
}

/** Queries the server's first address, and the next one only if an address cannot be reached. */
async function askServer(
  question: Question,
  addresses: Addresses,
  port: number,
  options: DnsExchangeOptions,
): Promise<Exchanged> {
  const [first, ...others] = addresses;
  let exchanged = await exchange(question, { address: first, port }, options);
  for (const address of others) {
    if (exchanged.kind === 'answer' || exchanged.failure.code !== 'DNS_UNREACHABLE') break;
    options.log.info(`Asking at the name server's next address, ${endpointText(address, port)}`);
    exchanged = await exchange(question, { address, port }, options);
  }
  return exchanged;
}

function responseOf(answered: Answered, request: DnsRequest, log: JobLog): DnsResponse {
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
