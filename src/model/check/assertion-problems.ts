import { isIP, SocketAddress } from 'node:net';
import { type JSONPathQuery, jsonpath } from 'json-p3';
import { MIN_FINAL_STATUS } from '../result/criterion.ts';
import type { DnsAnswer } from '../result/dns-answer.ts';
import type { IcmpResponse } from '../result/result.ts';
import {
  type Assertion,
  type CertificateProperty,
  type Comparison,
  isNumber,
  JSON_SOURCES,
  numberNeeded,
  patternFieldOf,
} from './assertion.ts';
import { comparisonWith } from './compare.ts';
import { parseJsonPath, parsePattern } from './expressions.ts';
import { parseJsonSchema } from './json-schema.ts';
import { parseNumber } from './numeric.ts';
import { HEADER_NAME } from './request/http.ts';
import { MAX_RCODE, RCODE_NAMES, rcodeName } from './response-codes.ts';
import { compileTemplate } from './template.ts';

/** An assertion that no response can meet. */
export interface AssertionProblem {
  /** Inside the list of assertions. */
  readonly path: readonly [number, Field];
  /** Continues a sentence that starts with the path. Repeats no text of the check but names of ours. */
  readonly message: string;
}

type Field = 'source' | 'property' | 'comparison' | 'target' | 'regex';
type FieldProblem = { readonly field: Field; readonly message: string };

/**
 * The assertions that fail for every response (src/model/README.md, "Assertions that are refused").
 * Schemas do not contain this rule: stored checks remain valid. Skips null.
 *
 * @param request of the check, which may be invalid; null if it is not known
 */
export function assertionProblems(
  assertions: readonly (Assertion | null)[],
  request: unknown = null,
): readonly AssertionProblem[] {
  return assertions.flatMap((assertion, index) => {
    const found = assertion === null ? null : problemWith(assertion, request);
    return found === null ? [] : [{ path: [index, found.field], message: found.message }];
  });
}

function problemWith(assertion: Assertion, request: unknown): FieldProblem | null {
  return (
    withoutTls(assertion, request) ??
    patternProblem(assertion) ??
    jsonPathProblem(assertion) ??
    (assertion.source === 'JSON_SCHEMA' ? schemaProblem(assertion) : comparisonProblem(assertion))
  );
}

/** There is no certificate where the check never uses TLS. */
function withoutTls({ source }: Assertion, request: unknown): FieldProblem | null {
  if (source !== 'CERTIFICATE' || typeof request !== 'object' || request === null) return null;
  const {
    url,
    followRedirects,
    hostname,
    port,
    protocol,
    tls = 'OFF',
  } = request as Readonly<Record<string, unknown>>;
  const isPlainUrl = typeof url === 'string' && /^http:/i.test(url) && followRedirects === false;
  const isPlainTcp = hostname !== undefined && port !== undefined && tls === 'OFF';
  const isPlainDns = protocol === 'UDP' || protocol === 'TCP';
  const why = isPlainUrl
    ? 'the URL is for http and redirects are not followed'
    : isPlainTcp
      ? 'tls is OFF'
      : isPlainDns
        ? `the protocol is ${protocol}, without TLS as in DOT and DOH`
        : null;
  if (why === null) return null;
  return { field: 'source', message: `needs TLS, but ${why}: it fails for every response` };
}

function schemaProblem({ comparison, target }: Assertion): FieldProblem | null {
  const parsed = parseJsonSchema(target);
  if (typeof parsed === 'string') return invalidExpression('target', 'JSON Schema', parsed);
  if (parsed.schema !== (comparison === 'NOT_EQUALS')) return null;
  const message = `must be another one: ${comparison} fails with it for every response`;
  return { field: 'target', message };
}

const MAX_REASON_CHARS = 200;

function patternProblem(assertion: Assertion): FieldProblem | null {
  const field = patternFieldOf(assertion);
  const parsed = field === null ? null : parsePattern(assertion[field] ?? '');
  return field === null || typeof parsed !== 'string'
    ? null
    : invalidExpression(field, 'regular expression', parsed);
}

function jsonPathProblem({ source, property }: Assertion): FieldProblem | null {
  const parsed = JSON_SOURCES.includes(source) && property !== '' ? parseJsonPath(property) : null;
  return typeof parsed === 'string' ? invalidExpression('property', 'JSONPath', parsed) : null;
}

function invalidExpression(field: Field, kind: string, reason: string): FieldProblem {
  const message = `is not a valid ${kind} (${reason.slice(0, MAX_REASON_CHARS)}); correct it`;
  return { field, message };
}

/** These fail or pass whatever the target is. */
const WITHOUT_TARGET: ReadonlySet<Comparison> = new Set(['IS_NULL', 'IS_EMPTY', 'HAS_KEY']);

function comparisonProblem(assertion: Assertion): FieldProblem | null {
  const { comparison, target } = assertion;
  const hasTarget = !WITHOUT_TARGET.has(comparison);
  // The value of a variable is unknown.
  if (hasTarget && compileTemplate(target) !== null) return null;
  const isNumeric = isNumber(assertion) && patternFieldOf(assertion) === null;
  const needsNumber = isNumeric && hasTarget && parseNumber(target) === null;
  // As text, 9 is greater than 800ms.
  const isOrder = comparison === 'GREATER_THAN' || comparison === 'LESS_THAN';
  const values = possibleValues(assertion);
  if (values.canMeet(comparison, target) && !(needsNumber && isOrder)) return null;
  if (needsNumber && comparison !== 'CONTAINS') {
    return { field: 'target', message: numberNeeded(assertion) };
  }
  const fails = `${comparison} fails for every response`;
  if (values.instead !== undefined) {
    return { field: 'property', message: `${values.instead}: ${values.what}, so ${fails}` };
  }
  if (comparison === 'LESS_THAN' && target === '') {
    const message = `is needed: nothing is less than an empty text, so ${fails}`;
    return { field: 'target', message };
  }
  return hasTarget
    ? { field: 'target', message: `must be another one: ${fails} with it, as ${values.what}` }
    : { field: 'comparison', message: `must be another one: ${fails}, as ${values.what}` };
}

/** The values that an assertion may have to compare. */
interface Values {
  /** A main clause. */
  readonly what: string;
  /** Whether a value can meet the comparison. */
  readonly canMeet: (comparison: Comparison, target: string) => boolean;
  /** Advice on `property`, if another one has other values. */
  readonly instead?: string;
}

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
const NUMBER_PARTS: Values = {
  what: 'it is a part of a number, or null',
  canMeet: numberPartMeets,
};
const HTTP_VERSIONS = listOf('the HTTP version is 1.0, 1.1 or 2', ['1.0', '1.1', '2']);
const ADDRESSES: Values = {
  what: 'it is an IP address, an IPv6 address in its shortest form (RFC 5952)',
  canMeet(comparison, target) {
    switch (comparison) {
      case 'EQUALS':
      case 'HAS_VALUE':
        return isShortestAddress(target);
      case 'CONTAINS':
        return /^[\da-f.:]*$/.test(target);
      case 'LESS_THAN':
        return target !== '';
      case 'GREATER_THAN':
      case 'NOT_EMPTY':
      case 'NOT_NULL':
        return true;
      default:
        return comparison.startsWith('NOT_');
    }
  },
};
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
  // Older versions are only those of servers that speak no later one.
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

/** A document of which all fields are known. */
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

function possibleValues(assertion: Assertion): Values {
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

/** The name that a JSONPath begins with; null if it begins otherwise. */
function firstNameOf({ segments: [first] }: JSONPathQuery): string | null {
  if (first === undefined || first.toString().startsWith('..')) return null;
  const [selector, ...others] = first.selectors;
  const isName = selector instanceof jsonpath.selectors.NameSelector && others.length === 0;
  return isName ? selector.name : null;
}

function listOf(what: string, values: readonly unknown[]): Values {
  return {
    what,
    canMeet: (comparison, target) => values.some(comparisonWith(comparison, target)),
  };
}

/** The system writes addresses so, and they compare as text. */
function isShortestAddress(text: string): boolean {
  const family = isIP(text);
  if (family !== 6) return family === 4;
  return new SocketAddress({ family: 'ipv6', address: text }).address === text;
}

/** The characters of numbers as text. */
const PART_OF_NUMBER = /^[\d.e+-]*$/;

function millisecondsOf(what: string, isNullable: boolean): Values {
  return {
    what,
    canMeet(comparison, target) {
      const number = parseNumber(target);
      switch (comparison) {
        case 'EQUALS':
          return (number !== null && number >= 0) || (isNullable && target === 'null');
        case 'HAS_VALUE':
          return number !== null && number >= 0;
        case 'GREATER_THAN':
          return number !== null;
        case 'LESS_THAN':
          return number !== null && number > 0;
        case 'CONTAINS':
          return PART_OF_NUMBER.test(target);
        case 'IS_NULL':
        case 'IS_EMPTY':
          return isNullable;
        default:
          return comparison !== 'HAS_KEY';
      }
    },
  };
}

/** Whole numbers from `min`, or also null. */
function wholeNumbersOf(what: string, min: number, isNullable: boolean): Values {
  return {
    what,
    canMeet(comparison, target) {
      const number = parseNumber(target);
      switch (comparison) {
        case 'EQUALS':
        case 'HAS_VALUE':
          if (number === null) return isNullable && comparison === 'EQUALS' && target === 'null';
          return Number.isInteger(number) && number >= min;
        case 'GREATER_THAN':
          return number !== null;
        case 'LESS_THAN':
          return number !== null && number > min;
        case 'CONTAINS':
          return PART_OF_NUMBER.test(target);
        case 'IS_NULL':
        case 'IS_EMPTY':
          return isNullable;
        default:
          return comparison !== 'HAS_KEY';
      }
    },
  };
}

function numberPartMeets(comparison: Comparison, target: string): boolean {
  const isPart = PART_OF_NUMBER.test(target);
  switch (comparison) {
    case 'EQUALS':
      return isPart || parseNumber(target) !== null || target === 'null';
    case 'HAS_VALUE':
      return isPart || parseNumber(target) !== null;
    case 'CONTAINS':
      return isPart;
    case 'LESS_THAN':
      return target !== '';
    default:
      return comparison !== 'HAS_KEY';
  }
}

function textsOf(what: string, isNullable: boolean): Values {
  return {
    what,
    canMeet(comparison, target) {
      if (comparison === 'IS_NULL') return isNullable;
      if (comparison === 'LESS_THAN') return target !== '';
      return comparison !== 'HAS_KEY';
    },
  };
}

function objectMeets(comparison: Comparison, target: string): boolean {
  switch (comparison) {
    case 'EQUALS':
      return isJsonObject(target);
    case 'GREATER_THAN':
    case 'LESS_THAN':
    case 'IS_NULL':
    case 'IS_EMPTY':
      return false;
    default:
      return true;
  }
}

function listMeets(comparison: Comparison, target: string): boolean {
  switch (comparison) {
    case 'EQUALS':
      return Array.isArray(jsonOf(target));
    case 'GREATER_THAN':
    case 'LESS_THAN':
    case 'IS_NULL':
      return false;
    default:
      return true;
  }
}

function isJsonObject(text: string): boolean {
  const value = jsonOf(text);
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** undefined if the text is not JSON. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
