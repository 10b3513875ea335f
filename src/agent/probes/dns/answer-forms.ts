import { rcodeName } from '../../../model/check/assertions/response-codes.ts';
import type { DnsProtocol } from '../../../model/check/request/dns.ts';
import type {
  DnsAnswer,
  DnsAnswerRecord,
  DnsRecordFields,
} from '../../../model/result/details/dns-answer.ts';
import { countText } from '../../../runtime/text/count-text.ts';
import type { DnsMessage, DnsRecord } from '../../net/dns/message/message.ts';
import { className, opcodeName, TYPE_NUMBERS, typeName } from '../../net/dns/message/parameters.ts';
import { textOfStrings } from '../../net/dns/message/rdata.ts';

/**
 * Limit for the text of the records in a result. A message of 64 KiB can unfold to megabytes of
 * text; no honest answer exceeds four times the size of the message.
 */
const MAX_SHOWN_CHARS = 262_144;

export interface ShownMessage {
  readonly message: DnsMessage;
  readonly leftOut: number;
}

/** The message with the first records that fit into a result. */
export function shownPartOf(message: DnsMessage): ShownMessage {
  let left = MAX_SHOWN_CHARS;
  let leftOut = 0;
  const shown = (records: readonly DnsRecord[]): readonly DnsRecord[] =>
    records.filter(({ name, data, fields }) => {
      left -= name.length + data.length + textLengthOf(fields);
      if (left < 0) leftOut += 1;
      return left >= 0;
    });
  const part = {
    ...message,
    answers: shown(message.answers),
    authorities: shown(message.authorities),
    additionals: shown(message.additionals),
  };
  return { message: part, leftOut };
}

/** JSON_ANSWER contains these texts twice: in the data and as fields. */
function textLengthOf(fields: DnsRecordFields): number {
  const texts = Object.values(fields).filter((value) => typeof value === 'string');
  return texts.reduce((length, text) => length + text.length, 0);
}

/**
 * JSON_ANSWER (src/model/README.md, "DNS: `request`"). Names have their trailing dot, as in the
 * text form. Data has the form of a zone file, except for TXT: its strings are joined without
 * quotes and escapes, as users write what they compare with. The parts of the data are also fields
 * of their own.
 */
export function jsonAnswerOf(message: DnsMessage): DnsAnswer {
  return {
    Status: message.rcode,
    AA: message.authoritative,
    TC: message.truncated,
    RD: message.recursionDesired,
    RA: message.recursionAvailable,
    AD: message.authenticData,
    CD: message.checkingDisabled,
    Question: message.questions.map(({ name, type }) => ({ name, type: typeName(type) })),
    Answer: message.answers.map(jsonRecord),
    Authority: message.authorities.map(jsonRecord),
  };
}

function jsonRecord(record: DnsRecord): DnsAnswerRecord {
  const { name, type, ttlSeconds, fields } = record;
  return { name, type: typeName(type), TTL: ttlSeconds, data: dataOf(record), ...fields };
}

function dataOf({ type, data, rdata }: DnsRecord): string {
  return type === TYPE_NUMBERS.TXT || type === TYPE_NUMBERS.SPF ? textOfStrings(rdata) : data;
}

export interface TextFacts {
  readonly server: { readonly host: string; readonly address: string; readonly port: number };
  readonly protocol: DnsProtocol;
  /** From the question to the answer of the server that gave it. */
  readonly durationMs: number;
  /** Records that are in the message and not in the text. */
  readonly leftOut: number;
}

const TAB = 8;

/** TEXT_ANSWER: an answer in the layout that dig prints, tabs included. */
export function digText(message: DnsMessage, facts: TextFacts): string {
  const { server, protocol, durationMs, leftOut } = facts;
  const blocks = [
    headerLines(message),
    [...ednsLines(message), ...questionLines(message)],
    section('ANSWER', message.answers),
    section('AUTHORITY', message.authorities),
    section('ADDITIONAL', message.additionals),
    [
      ...(leftOut === 0
        ? []
        : [
            `;; WARNING: ${countText(leftOut, 'more record is', 'more records are')} left out here`,
          ]),
      `;; Query time: ${Math.round(durationMs)} msec`,
      `;; SERVER: ${server.address}#${server.port}(${server.host}) (${protocol})`,
      `;; MSG SIZE  rcvd: ${message.messageBytes}`,
    ],
  ];
  const filled = blocks.filter((lines) => lines.length > 0);
  return `${filled.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

function headerLines(message: DnsMessage): string[] {
  const flags = [
    message.isResponse && 'qr',
    message.authoritative && 'aa',
    message.truncated && 'tc',
    message.recursionDesired && 'rd',
    message.recursionAvailable && 'ra',
    message.authenticData && 'ad',
    message.checkingDisabled && 'cd',
  ].filter((flag) => flag !== false);
  const additionalCount = message.additionals.length + (message.edns === null ? 0 : 1);
  const counts = [
    `QUERY: ${message.questions.length}`,
    `ANSWER: ${message.answers.length}`,
    `AUTHORITY: ${message.authorities.length}`,
    `ADDITIONAL: ${additionalCount}`,
  ].join(', ');
  const lines = [
    `;; ->>HEADER<<- opcode: ${opcodeName(message.opcode)}, status: ${rcodeName(message.rcode)}, id: ${message.id}`,
    `;; flags:${flags.map((flag) => ` ${flag}`).join('')}; ${counts}`,
  ];
  if (message.recursionDesired && !message.recursionAvailable) {
    lines.push(';; WARNING: recursion requested but not available');
  }
  if (message.extraBytes > 0) {
    lines.push(`;; WARNING: Message has ${message.extraBytes} extra bytes at end`);
  }
  return lines;
}

function ednsLines({ edns }: DnsMessage): string[] {
  if (edns === null) return [];
  const flags = edns.dnssecOk ? ' do' : '';
  return [
    ';; OPT PSEUDOSECTION:',
    `; EDNS: version: ${edns.version}, flags:${flags}; udp: ${edns.udpPayloadBytes}`,
  ];
}

function questionLines({ questions }: DnsMessage): string[] {
  if (questions.length === 0) return [];
  return [
    ';; QUESTION SECTION:',
    ...questions.map(
      (question) =>
        `${padded(`;${question.name}`, 4 * TAB)}${className(question.class)}\t${typeName(question.type)}`,
    ),
  ];
}

function section(title: string, records: readonly DnsRecord[]): string[] {
  return records.length === 0 ? [] : [`;; ${title} SECTION:`, ...records.map(recordLine)];
}

function recordLine(record: DnsRecord): string {
  const owner = padded(record.name, 3 * TAB);
  return `${owner}${record.ttlSeconds}\t${className(record.class)}\t${typeName(record.type)}\t${record.data}`;
}

/** Adds tabs up to the column, at least one. */
function padded(text: string, column: number): string {
  return text + '\t'.repeat(Math.max(1, Math.ceil((column - text.length) / TAB)));
}
