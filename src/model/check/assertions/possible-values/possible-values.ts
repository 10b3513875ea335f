import { type JSONPathQuery, jsonpath } from 'json-p3';
import { MIN_FINAL_STATUS } from '../../../result/criterion.ts';
import type { DnsAnswer } from '../../../result/details/dns-answer.ts';
import type { IcmpResponse } from '../../../result/details/icmp-detail.ts';
import { parseJsonPath } from '../../expressions.ts';
import { HEADER_NAME } from '../../request/http.ts';
import { type Assertion, type CertificateProperty, patternFieldOf } from '../assertion.ts';
import { MAX_RCODE, RCODE_NAMES, rcodeName } from '../response-codes.ts';
import {
  ADDRESSES,
  listMeets,
  listOf,
  millisecondsOf,
  NUMBER_PARTS,
  objectMeets,
  textsOf,
  type Values,
  wholeNumbersOf,
} from './value-kinds.ts';

/** A status has three digits (RFC 9112 4). */
const MAX_STATUS = 999;
const STATUS_CODES = listOf(
  `the status code is a whole number from ${MIN_FINAL_STATUS} to ${MAX_STATUS}`,
  Array.from({ length: MAX_STATUS - MIN_FINAL_STATUS + 1 }, (_, n) => MIN_FINAL_STATUS + n),
);
const RESPONSE_CODES = listOf(
  `the response code is one of ${[...RCODE_NAMES.values()].join(', ')}, or RCODE and a number`,
  [...RCODE_NAMES.values(), ...Array.from({ length: MAX_RCODE + 1 }, (_, code) => rcodeName(code))],
);
const RESPONSE_TIMES = millisecondsOf('the response time is a number, 0 or more', false);
const LATENCIES = millisecondsOf('a latency is a number, 0 or more, or null', true);
const HTTP_VERSIONS = listOf('the HTTP version is 1.0, 1.1 or 2', ['1.0', '1.1', '2']);
const TEXTS = textsOf('it is text, which may be empty', false);
const TEXTS_OR_NULL = textsOf('it is text or null', true);
const ANY_JSON: Values = {
  what: 'it is a value of JSON',
  canMeet: (comparison, target) => comparison !== 'LESS_THAN' || target !== '',
};
const NOT_A_HEADER: Values = {
  ...listOf('no header can have this name', [null]),
  instead: 'must be the name of a header, for example content-type',
};

const CERTIFICATE_VALUES: Readonly<Record<CertificateProperty, Values>> = {
  // A result has an older version only if the handshake failed: the server supports no newer one.
  protocol: listOf(
    'the protocol is TLSv1.2 or TLSv1.3, or of a failed handshake TLSv1 or TLSv1.1',
    ['TLSv1', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3', null],
  ),
  cipher: TEXTS_OR_NULL,
  authorized: listOf('it is true or false', [true, false]),
  daysRemaining: wholeNumbersOf('daysRemaining is a whole number', -Infinity, false),
  validFrom: TEXTS,
  validTo: TEXTS,
  subject: TEXTS,
  issuer: TEXTS,
  subjectAltNames: { what: 'it is a list of names', canMeet: listMeets },
  serialNumber: TEXTS,
  fingerprint256: TEXTS,
  keyType: TEXTS,
  keyBits: wholeNumbersOf('keyBits is a whole number, 1 or more, or null', 1, true),
};

/** A JSON document whose fields are all known. */
interface KnownDocument {
  readonly fields: readonly string[];
  /** The path of a value. */
  readonly example: string;
}

const DNS_FIELDS: Readonly<Record<keyof DnsAnswer, true>> = {
  Status: true,
  AA: true,
  TC: true,
  RD: true,
  RA: true,
  AD: true,
  CD: true,
  Question: true,
  Answer: true,
  Authority: true,
};
const ICMP_FIELDS: Readonly<Record<keyof IcmpResponse, true>> = {
  hostname: true,
  resolvedIp: true,
  ipFamily: true,
  pingCount: true,
  packetsSent: true,
  packetsReceived: true,
  packetLoss: true,
  dnsResolutionTime: true,
  latency: true,
  pingResults: true,
};
const DNS_DOCUMENT: KnownDocument = {
  fields: Object.keys(DNS_FIELDS),
  example: '$.Answer[0].data',
};
const ICMP_DOCUMENT: KnownDocument = { fields: Object.keys(ICMP_FIELDS), example: '$.packetLoss' };

/** The values that the source and the property of an assertion can have. */
export function possibleValues(assertion: Assertion): Values {
  const { source, property } = assertion;
  const isPart = patternFieldOf(assertion) !== null;
  switch (source) {
    case 'STATUS_CODE':
      return isPart ? NUMBER_PARTS : STATUS_CODES;
    case 'RESPONSE_TIME':
      return isPart ? NUMBER_PARTS : RESPONSE_TIMES;
    case 'LATENCY':
      return LATENCIES;
    case 'CERTIFICATE':
      return CERTIFICATE_VALUES[property as CertificateProperty] ?? ANY_JSON;
    case 'RESPONSE_CODE':
      return isPart ? TEXTS_OR_NULL : RESPONSE_CODES;
    case 'HEADERS':
      return HEADER_NAME.test(property.trim()) ? TEXTS_OR_NULL : NOT_A_HEADER;
    case 'TEXT_BODY':
    case 'TEXT_ANSWER':
    case 'RESPONSE_DATA':
      return isPart ? TEXTS_OR_NULL : TEXTS;
    case 'IP_ADDRESS':
      return isPart ? TEXTS_OR_NULL : ADDRESSES;
    case 'HTTP_VERSION':
      return isPart ? TEXTS_OR_NULL : HTTP_VERSIONS;
    case 'JSON_BODY':
    case 'JSON_SCHEMA':
      return ANY_JSON;
    case 'JSON_ANSWER':
      return valuesIn(DNS_DOCUMENT, property);
    case 'JSON_RESPONSE':
      return valuesIn(ICMP_DOCUMENT, property);
  }
}

function valuesIn(document: KnownDocument, property: string): Values {
  const query = property === '' ? null : parseJsonPath(property);
  if (typeof query === 'string') return ANY_JSON;
  if (query === null || query.segments.length === 0) {
    return {
      what: 'the whole document is an object',
      canMeet: objectMeets,
      instead: `must be the JSONPath of a value, for example ${document.example}`,
    };
  }
  const first = firstNameOf(query);
  if (first === null || document.fields.includes(first)) return ANY_JSON;
  return {
    ...listOf('the path matches nothing', [null]),
    instead: `must begin with a field of the document, which are ${document.fields.join(', ')}`,
  };
}

/** The name that a JSONPath begins with; null if it begins with another selector. */
function firstNameOf({ segments: [first] }: JSONPathQuery): string | null {
  if (first === undefined || first.toString().startsWith('..')) return null;
  const [selector, ...others] = first.selectors;
  const isName = selector instanceof jsonpath.selectors.NameSelector && others.length === 0;
  return isName ? selector.name : null;
}
