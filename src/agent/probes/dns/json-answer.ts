import type { DnsAnswer } from '../../../model/result/result.ts';
import type { DnsMessage, DnsRecord } from '../../net/dns/message/message.ts';
import { TYPE_NUMBERS, typeName } from '../../net/dns/message/parameters.ts';
import { textOfStrings } from '../../net/dns/message/rdata.ts';

/**
 * JSON_ANSWER (src/model/README.md, "DNS: `request`"). Names have their trailing dot, as in the
 * text form; data is what a zone file has, but for TXT: there it is the text itself, its strings
 * joined, without quotes and escapes, since that is what somebody compares with.
 */
export function jsonAnswerOf(message: DnsMessage): DnsAnswer {
  return {
    Status: message.rcode,
    TC: message.truncated,
    RD: message.recursionDesired,
    RA: message.recursionAvailable,
    AD: message.authenticData,
    CD: message.checkingDisabled,
    Question: message.questions.map(({ name, type }) => ({ name, type: typeName(type) })),
    Answer: message.answers.map((record) => ({
      name: record.name,
      type: typeName(record.type),
      TTL: record.ttlSeconds,
      data: dataOf(record),
    })),
  };
}

function dataOf({ type, data, rdata }: DnsRecord): string {
  return type === TYPE_NUMBERS.TXT || type === TYPE_NUMBERS.SPF ? textOfStrings(rdata) : data;
}
