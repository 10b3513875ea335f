import { RCODE, rcodeName } from '../../../model/check/assertions/response-codes.ts';
import type { PlainDnsProtocol } from '../../../model/check/request/dns.ts';
import { countText } from '../../../runtime/text/count-text.ts';
import type { JobLog } from '../../probes/job-log.ts';
import type { Limits } from '../limited-wait.ts';
import { Stopwatch, type TimedInstant, unseenMsOf } from '../stopwatch.ts';
import {
  type ExchangeFailed,
  questionText,
  type ServerAddress,
  serverText,
} from './exchange-failures.ts';
import type { DnsMessage } from './message/message.ts';
import { makeQuery, type Query, type Question } from './message/query.ts';
import { exchangeOverTcp } from './tcp-exchange.ts';
import { exchangeOverUdp, type UdpExchange } from './udp-exchange.ts';

export interface DnsExchangeOptions extends Limits {
  readonly log: JobLog;
  readonly protocol: PlainDnsProtocol;
  readonly authenticData: boolean;
}

export interface Answered {
  readonly kind: 'answer';
  readonly message: DnsMessage;
  readonly server: ServerAddress;
  readonly protocol: PlainDnsProtocol;
  /** Milliseconds from the first question to the answer, including repeats. */
  readonly durationMs: number;
  /** When the agent had the answer. */
  readonly end: TimedInstant;
  readonly isTimedByKernel: boolean;
}

export type Exchanged = Answered | ExchangeFailed;

/**
 * Sends one question to one server until there is a complete answer, whatever its code. Repeats the
 * question over TCP after a truncated answer (RFC 2181 9), and without EDNS after a FORMERR to an
 * EDNS question (RFC 6891 7), all within one deadline. The kernel times an answer to the first
 * datagram, from the sending of the question to the arrival. Failures: DNS_TIMEOUT,
 * DNS_UNREACHABLE, DNS_MALFORMED, CANCELLED, and INTERNAL_ERROR if this machine is out of sockets.
 */
export async function exchange(
  question: Question,
  server: ServerAddress,
  options: DnsExchangeOptions,
): Promise<Exchanged> {
  const { clock, log, authenticData, starvation } = options;
  const stopwatch = new Stopwatch(options);
  const since = starvation?.mark();
  const what = `${questionText(question)} to ${serverText(server)}`;
  let { protocol } = options;
  let edns = true;
  for (let questions = 1; ; questions += 1) {
    const query = makeQuery(question, { edns, authenticData });
    const exchanged =
      protocol === 'UDP'
        ? await overUdp(query, server, options)
        : { end: await exchangeOverTcp(query, server, options), kernelTime: null };
    const { end, kernelTime } = exchanged;
    if (end.kind === 'failed') {
      log.warn(`Question ${what}: ${end.failure.message}`);
      return end;
    }
    if (end.kind === 'truncated') {
      log.info(`Question ${what}: the answer over UDP was truncated; asking again over TCP`);
      protocol = 'TCP';
      continue;
    }
    const { message } = end;
    if (edns && message.rcode === RCODE.FORMERR && message.edns === null) {
      log.info(`Question ${what}: the server does not know EDNS; asking again without it`);
      edns = false;
      continue;
    }
    const until = starvation?.mark();
    const endMs = clock.monotonicMs();
    const isTimedByKernel =
      kernelTime !== null && since !== undefined && until !== undefined && questions === 1;
    if (isTimedByKernel) {
      const { durationMs, uncertainMs } = kernelTime;
      const unseenMs = stopwatch.elapsedMs(endMs) - durationMs;
      starvation?.timedByKernel({ since, until, unseenMs, uncertainMs });
    }
    const seen = { atMs: endMs, unseenMs: unseenMsOf(options) };
    const durationMs = stopwatch.elapsedUntilMs(seen);
    const count = message.answers.length;
    log.info(
      `Question ${what} over ${protocol}: ${rcodeName(message.rcode)}, ${countText(count, 'record')}, ${durationMs.toFixed(3)} ms`,
    );
    return { kind: 'answer', message, server, protocol, end: seen, durationMs, isTimedByKernel };
  }
}

async function overUdp(
  query: Query,
  server: ServerAddress,
  options: DnsExchangeOptions,
): Promise<Pick<UdpExchange, 'end' | 'kernelTime'>> {
  const { end, sent, ignored, kernelTime } = await exchangeOverUdp(query, server, options);
  const who = serverText(server);
  if (sent > 1) {
    options.log.warn(`The question to ${who} was sent ${sent} times because no answer came`);
  }
  if (ignored > 0) {
    const what = countText(ignored, `datagram from ${who} was`, `datagrams from ${who} were`);
    options.log.warn(`${what} ignored: not an answer to the question`);
  }
  return { end, kernelTime };
}
