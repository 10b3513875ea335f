import { isIPv6 } from 'node:net';
import { RCODE, rcodeName } from '../../../model/check/assertions/response-codes.ts';
import type { DnsRequest } from '../../../model/check/request/dns.ts';
import type { DnsResponse } from '../../../model/result/details/dns-detail.ts';
import type { Failure } from '../../../model/result/error-codes.ts';
import { withoutBrackets } from '../../../runtime/net/endpoint-text.ts';
import { isNear } from '../../net/address-family.ts';
import { errorCodeOf, type ServerAddress, serverText } from '../../net/dns/exchange-failures.ts';
import { type Exchanged, exchange } from '../../net/dns/exchange-with-fallback.ts';
import type { DnsMessage } from '../../net/dns/message/message.ts';
import { displayName, sameName } from '../../net/dns/message/names.ts';
import { TYPE_NUMBERS } from '../../net/dns/message/parameters.ts';
import type { Question } from '../../net/dns/message/query.ts';
import type { ProbeContext } from '../probe.ts';
import { addressesOfServer, askServer } from './server-addresses.ts';

/** Maximum number of the zone's own name servers to query, the same as of `compareServers`. */
const MAX_SERVERS = 16;
/** All name servers are queried at once: a silent one must not take the whole attempt. */
const SERVER_LIMIT_MS = 5000;

type Serial = NonNullable<DnsResponse['serials']>[number];

export interface SerialComparison {
  readonly serials: readonly Serial[];
  readonly failure: Failure | null;
}

interface Asked {
  readonly serial: Serial;
  /** Continues a sentence that starts with the name server. */
  readonly found: string;
}

/**
 * Queries the SOA record of several name servers, which must all answer with the same serial
 * (RFC 1035 3.3.13): those of the request, or those that the zone's NS records name. Leaves out
 * those of the zone that have only IPv6 addresses if this machine has none.
 *
 * @param answered the server that answered the check's own question; it is asked for the NS records
 */
export async function compareSerials(
  question: Question,
  answered: { readonly request: DnsRequest; readonly server: ServerAddress },
  context: ProbeContext,
  hasIpv6: () => boolean,
): Promise<SerialComparison> {
  const { request, server } = answered;
  const { port } = request;
  const deadlineMs = Math.min(context.deadlineMs, context.clock.monotonicMs() + SERVER_LIMIT_MS);
  const limited = { ...context, deadlineMs };
  const how = { ...limited, protocol: plainProtocol(request), authenticData: false } as const;
  const zone = displayName(question.name);
  let names: readonly string[] = request.compareServers;
  const areOfZone = names.length === 0;
  if (areOfZone) {
    const asked = await exchange({ ...question, type: TYPE_NUMBERS.NS }, server, how);
    if (asked.kind === 'failed') return { serials: [], failure: asked.failure };
    const { rcode } = asked.message;
    if (rcode !== RCODE.NOERROR) {
      const message = `${serverText(server)} answered ${rcodeName(rcode)} to the question which name servers ${zone} has`;
      return { serials: [], failure: { code: errorCodeOf(rcode), message } };
    }
    names = nameServersIn(asked.message, question);
    if (names.length === 0) {
      return differing([], `${zone} has no NS records that say which name servers to compare`);
    }
  }
  const ends = await Promise.all(
    names.map(async (name): Promise<Asked | null> => {
      const found = await addressesOfServer(withoutBrackets(name), limited);
      const needsIpv6 = found.ok && found.addresses.every((one) => isIPv6(one) && !isNear(one));
      if (areOfZone && needsIpv6 && !hasIpv6()) {
        const why = 'it has only IPv6 addresses, and this machine has no IPv6';
        context.log.warn(`The name server ${name} is left out of the comparison: ${why}`);
        return null;
      }
      const end: Exchanged = found.ok
        ? await askServer(question, found.addresses, port, how)
        : { kind: 'failed', failure: found.failure };
      return askedOf(name, question, end);
    }),
  );
  const asked = ends.filter((one) => one !== null);
  const serials = asked.map(({ serial }) => serial);
  if (context.signal.aborted) {
    const message = `The comparison of the serials of ${zone} was cancelled because the agent stops`;
    return { serials, failure: { code: 'CANCELLED', message } };
  }
  if (asked.length === 0) {
    const message = `None of the name servers of ${zone} can be asked: all have only IPv6 addresses, and this machine has no IPv6`;
    return { serials, failure: { code: 'DNS_UNREACHABLE', message } };
  }
  const list = asked.map(({ serial, found }) => `${serial.nameServer} ${found}`).join(', ');
  const [first] = serials;
  const agree = serials.every(({ serial }) => serial !== null && serial === first?.serial);
  if (!agree) return differing(serials, `The name servers of ${zone} do not agree: ${list}`);
  context.log.info(`The name servers of ${zone} agree: ${list}`);
  return { serials, failure: null };
}

function differing(serials: readonly Serial[], message: string): SerialComparison {
  return { serials, failure: { code: 'DNS_SERIALS_DIFFER', message } };
}

function plainProtocol({ protocol }: DnsRequest): 'UDP' | 'TCP' {
  return protocol === 'TCP' ? protocol : 'UDP';
}

function nameServersIn({ answers }: DnsMessage, { name }: Question): readonly string[] {
  const names = answers
    .filter((record) => record.type === TYPE_NUMBERS.NS && sameName(record.name, name))
    .map(({ data }) => displayName(data));
  return [...new Set(names)].sort((one, other) => (one < other ? -1 : 1)).slice(0, MAX_SERVERS);
}

function askedOf(nameServer: string, { name }: Question, end: Exchanged): Asked {
  const none = { nameServer, serial: null };
  if (end.kind === 'failed') return { serial: none, found: `(${end.failure.message})` };
  const record = end.message.answers.find(
    (each) => each.type === TYPE_NUMBERS.SOA && sameName(each.name, name),
  );
  const serial = record?.fields.serial;
  if (serial === undefined) return { serial: none, found: 'answered without the SOA record' };
  return { serial: { nameServer, serial }, found: `has ${serial}` };
}
