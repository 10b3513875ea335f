import { randomInt } from 'node:crypto';
import packet, { type RecordType } from 'dns-packet';
import { RCODE } from '../../../../model/check/assertions/response-codes.ts';
import { type DnsHeader, type DnsMessage, decodeHeader, decodeMessage } from './message.ts';
import { sameName } from './names.ts';
import { CLASS_IN } from './parameters.ts';

export interface Question {
  /** An absolute name, see names.ts. */
  readonly name: string;
  readonly type: number;
}

export interface Query {
  readonly id: number;
  readonly question: Question;
  readonly bytes: Buffer;
}

/**
 * Largest UDP answer that a server may send: with the headers it fits the smallest IPv6 MTU, so
 * that it is not fragmented on the way (RFC 9715, DNS flag day 2020).
 */
const UDP_PAYLOAD_BYTES = 1232;

export interface QueryOptions {
  /** Offer EDNS (RFC 6891). */
  readonly edns: boolean;
  /** Request the AD bit; otherwise its value in the answer is undefined (RFC 6840 5.7). */
  readonly authenticData: boolean;
  /** Default: random, so that nobody can guess it. */
  readonly id?: number;
}

export function makeQuery(
  question: Question,
  { edns, authenticData, id = randomInt(0x10000) }: QueryOptions,
): Query {
  const bytes = packet.encode({
    type: 'query',
    id,
    flags: packet.RECURSION_DESIRED | (authenticData ? packet.AUTHENTIC_DATA : 0),
    questions: [{ name: question.name, type: libraryType(question.type) }],
    additionals: edns
      ? [
          {
            type: 'OPT',
            name: '.',
            udpPayloadSize: UDP_PAYLOAD_BYTES,
            extendedRcode: 0,
            ednsVersion: 0,
            flags: 0,
            flag_do: false,
            options: [],
          },
        ]
      : [],
  });
  return { id, question, bytes };
}

/** The library accepts any type as a number in this form; its list of names lacks HTTPS. */
function libraryType(type: number): RecordType {
  return `UNKNOWN_${type}` as RecordType;
}

/**
 * The meaning of bytes from the server's own address:
 * - `answer`: the complete answer to the query
 * - `truncated`: an answer that did not fit
 * - `unrelated`: a message with another id or about another question, or not a response
 * - `malformed`: has the query's id, but is not a DNS message
 */
export type MatchedResponse =
  | { readonly kind: 'answer'; readonly message: DnsMessage }
  | { readonly kind: 'truncated' }
  | { readonly kind: 'unrelated' }
  | { readonly kind: 'malformed'; readonly problem: string };

/**
 * Matches bytes with the query. To forge an answer, an attacker must guess the id and the port.
 * Bytes with the right id are therefore from the server: if they are malformed, waiting for others
 * does not help.
 */
export function matchResponse(bytes: Buffer, query: Query): MatchedResponse {
  if (bytes.length < 2 || bytes.readUInt16BE(0) !== query.id) return { kind: 'unrelated' };
  const head = decodeHeader(bytes);
  if (!head.ok) return { kind: 'malformed', problem: head.problem };
  if (!answersQuestion(head.value, query.question)) return { kind: 'unrelated' };
  if (head.value.truncated) return { kind: 'truncated' };
  return readWholeResponse(bytes);
}

/** The same over TCP, which ignores TC: there is no other transport for a longer answer. */
export function matchStreamedResponse(bytes: Buffer, query: Query): MatchedResponse {
  const matched = matchResponse(bytes, query);
  return matched.kind === 'truncated' ? readWholeResponse(bytes) : matched;
}

function readWholeResponse(bytes: Buffer): MatchedResponse {
  const whole = decodeMessage(bytes);
  return whole.ok
    ? { kind: 'answer', message: whole.value }
    : { kind: 'malformed', problem: whole.problem };
}

/** Codes that servers may send without the question: they could not read it, or refused to. */
const CODES_WITHOUT_QUESTION: ReadonlySet<number> = new Set([
  RCODE.FORMERR,
  RCODE.SERVFAIL,
  RCODE.NOTIMP,
  RCODE.REFUSED,
]);

function answersQuestion(header: DnsHeader, asked: Question): boolean {
  if (!header.isResponse || header.opcode !== 0) return false;
  const [question, ...more] = header.questions;
  if (question === undefined) return CODES_WITHOUT_QUESTION.has(header.headerRcode);
  return (
    more.length === 0 &&
    question.type === asked.type &&
    question.class === CLASS_IN &&
    sameName(question.name, asked.name)
  );
}
