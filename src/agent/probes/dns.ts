import type { Failure } from '../../model/error-codes.ts';
import type { DnsRequest } from '../../model/request.ts';
import type { DnsDetail, DnsResponse, DnsTimingPhases } from '../../model/result.ts';
import type { Answered, Exchanged } from '../net/dns/exchange.ts';
import { askNameServers, type NameServers } from '../net/dns/name-servers.ts';
import { rcodeName } from '../net/dns/parameters.ts';
import { withoutBrackets } from '../net/words.ts';
import { addressesOfServer, askServer } from './dns/chosen-server.ts';
import { digText } from './dns/dig-text.ts';
import { jsonAnswerOf } from './dns/json-answer.ts';
import { questionOf } from './dns/question.ts';
import { shownPartOf } from './dns/shown-records.ts';
import type { JobLog } from './job-log.ts';
import { type ProbeContext, type ProbeOutcome, roundMs } from './probe.ts';

export type DnsOutcome = ProbeOutcome<
  DnsDetail['request'],
  DnsResponse,
  DnsTimingPhases,
  DnsTimingPhases
>;

export interface DnsProbeOptions {
  /** Who is asked where the request names no server; see SystemResolver.nameServers. */
  readonly nameServers: () => NameServers;
}

/**
 * Asks one question (SEMANTICS 1, DNS request) of the request's name server alone, or of the
 * system's in their order. Every complete answer is a response, whatever its code. The response
 * time runs from the first question to that answer and includes repeats for lost datagrams, the
 * second question over TCP, and system servers that had to be given up; it does not include
 * looking up the name server's own host name, which the log tells.
 */
export async function probeDns(
  request: DnsRequest,
  context: ProbeContext,
  options: DnsProbeOptions,
): Promise<DnsOutcome> {
  const { clock } = context;
  let startMs = clock.monotonicMs();
  let address: string | null = null;
  const finish = (response: DnsResponse | null, failure: Failure | null): DnsOutcome => {
    const total = roundMs(clock.monotonicMs() - startMs);
    const { query, recordType, nameServer, port, protocol } = request;
    return {
      request: { query, recordType, nameServer, port, protocol },
      endpoint: {
        hostname: nameServer === null ? query : withoutBrackets(nameServer),
        address,
        port,
        transport: protocol === 'UDP' ? 'udp' : 'tcp',
      },
      response,
      failure,
      timings: { total },
      timingPhases: { total },
      responseTimeMs: total,
    };
  };

  const question = questionOf(request);
  if (question === null) {
    const message = `${request.query} cannot be asked for: a label or the whole name is too long or has characters that no name has`;
    return finish(null, { code: 'DNS_ERROR', message });
  }
  const how = { ...context, protocol: request.protocol, authenticData: true };
  let exchanged: Exchanged;
  if (request.nameServer === null) {
    exchanged = await askNameServers(question, options.nameServers(), how);
  } else {
    const server = await addressesOfServer(withoutBrackets(request.nameServer), context);
    if (!server.ok) return finish(null, server.failure);
    [address] = server.addresses;
    startMs = clock.monotonicMs();
    exchanged = await askServer(question, server.addresses, request.port, how);
  }
  return exchanged.kind === 'failed'
    ? finish(null, exchanged.failure)
    : finish(responseOf(exchanged, request, context.log), null);
}

function responseOf(answered: Answered, request: DnsRequest, log: JobLog): DnsResponse {
  const { server, protocol, durationMs } = answered;
  const host = request.nameServer ?? server.address;
  const { message, leftOut } = shownPartOf(answered.message);
  if (leftOut > 0) {
    log.warn(`The answer is too long to be shown whole: ${leftOut} records are left out`);
  }
  return {
    responseCode: rcodeName(message.rcode),
    answer: jsonAnswerOf(message),
    text: digText(message, { server: { ...server, host }, protocol, durationMs, leftOut }),
    nameServer: { host, port: server.port, protocol },
  };
}
