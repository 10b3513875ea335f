import { RCODE } from '../../../../model/check/assertions/response-codes.ts';
import type { Failure } from '../../../../model/result/error-codes.ts';
import {
  type ExchangeFailed,
  exchangeFailed,
  questionText,
  type ServerAddress,
} from '../exchange-failures.ts';
import { type Answered, type DnsExchangeOptions, exchange } from '../exchange-with-fallback.ts';
import type { Question } from '../message/query.ts';

export interface NameServers {
  readonly servers: readonly [ServerAddress, ...ServerAddress[]];
  /** Time limit of one server in one round, milliseconds. */
  readonly timeoutMs: number;
  /** Rounds over all servers. */
  readonly attempts: number;
}

/**
 * Queries the servers one after the other until one settles the question, as the C library does:
 * NOERROR and NXDOMAIN settle it; every other code, a referral and silence lead to the next server.
 * A further round follows only if a server was silent. Without a settling answer the first server's
 * error code is the answer; without any answer, the most informative failure is.
 */
export async function askNameServers(
  question: Question,
  { servers, timeoutMs, attempts }: NameServers,
  options: DnsExchangeOptions,
): Promise<Answered | ExchangeFailed> {
  const { clock, deadlineMs } = options;
  const startMs = clock.monotonicMs();
  let unsettled: Answered | null = null;
  const failures: ExchangeFailed[] = [];
  for (let round = 0; round < attempts; round += 1) {
    let someSilent = false;
    for (const server of servers) {
      const nowMs = clock.monotonicMs();
      if (nowMs >= deadlineMs) break;
      const windowMs = Math.min(deadlineMs, nowMs + timeoutMs);
      const result = await exchange(question, server, { ...options, deadlineMs: windowMs });
      if (result.kind === 'answer') {
        if (settles(result)) return result;
        unsettled ??= result;
      } else {
        if (isFinal(result.failure)) return result;
        failures.push(result);
        someSilent ||= result.failure.code === 'DNS_TIMEOUT';
      }
    }
    if (!someSilent) break;
  }
  const waitedMs = Math.round(clock.monotonicMs() - startMs);
  return unsettled ?? mostInformative(failures, question, waitedMs);
}

function settles({ message }: Answered): boolean {
  if (message.rcode === RCODE.NXDOMAIN) return true;
  const isReferral =
    message.answers.length === 0 && !message.authoritative && !message.recursionAvailable;
  return message.rcode === RCODE.NOERROR && !isReferral;
}

/** Failures that another server cannot fix. */
function isFinal({ code }: Failure): boolean {
  return code === 'CANCELLED' || code === 'INTERNAL_ERROR';
}

/** The most informative code first: bytes arrived, a server may exist, nothing is reachable. */
const INFORMATIVE_ORDER = ['DNS_MALFORMED', 'DNS_TIMEOUT', 'DNS_UNREACHABLE'] as const;

function mostInformative(
  failures: readonly ExchangeFailed[],
  question: Question,
  waitedMs: number,
): ExchangeFailed {
  for (const code of INFORMATIVE_ORDER) {
    const found = failures.findLast(({ failure }) => failure.code === code);
    if (found === undefined) continue;
    if (failures.length === 1) return found;
    return exchangeFailed(
      code,
      `${found.failure.message}; ${failures.length} questions in ${waitedMs} ms`,
    );
  }
  return exchangeFailed(
    'DNS_TIMEOUT',
    `There was no time left to ask for ${questionText(question)}`,
  );
}
