import { resultIdOf } from '../../model/ids.ts';
import type { CheckResult } from '../../model/result/result.ts';
import { DETAIL_FIELDS } from '../../wire/v1/check-result.ts';

/**
 * The smallest bound in the protocol's schema of all fields of a kind. Checking against the schema
 * takes fifty times as long.
 */
const MAX_CHARS = 1_024;
/** The bound of SHORT_TEXTS, which is smaller. */
const MAX_SHORT_CHARS = 32;
const MAX_ITEMS = 20;
const MAX_KEYS = 100;
const MAX_NUMBER = 100_000_000;
const MAX_LOCATION_CHARS = 255;
/** `2026-01-31T12:00:00.000Z`: years of more digits are written with a sign. */
const ISO_CHARS = 24;

/** Texts that are often longer, with the bound of their schema. */
const LONG_TEXTS: ReadonlyMap<string, number> = new Map([
  ['body', 70_000],
  ['msg', 8_192],
  ['requestError', 8_192],
  ['text', 8_192],
]);
const SHORT_TEXTS: ReadonlySet<string> = new Set([
  'alpnProtocol',
  'cipher',
  'fingerprint256',
  'method',
  'protocol',
  'recordType',
  'requestErrorCode',
  'responseCode',
  'type',
]);
/** The values of the protocol; a newer library could return others. */
const HTTP_VERSIONS: ReadonlySet<string> = new Set(['1.0', '1.1', '2']);
/** Fields with instants, counts of bytes, and numbers of 32 bits. */
const LARGE_NUMBERS: ReadonlySet<string> = new Set(['bodyBytes', 'serial', 'time', 'TTL']);
/** A digest has 64 digits, in pairs with colons between them. */
const FINGERPRINT_CHARS = 95;

/** Whether the service's schema certainly accepts the result. False: check it by the schema. */
export function passesQuickValidation(result: CheckResult): boolean {
  const { name, runLocation, startedAt, stoppedAt, responseTime, sequenceId, attempts } = result;
  return (
    result.id === resultIdOf(sequenceId, attempts + 1) &&
    name.length <= MAX_CHARS &&
    runLocation.length > 0 &&
    runLocation.length <= MAX_LOCATION_CHARS &&
    startedAt.length === ISO_CHARS &&
    stoppedAt.length === ISO_CHARS &&
    stoppedAt >= startedAt &&
    isOrdinaryNumber(responseTime, 'responseTime') &&
    isOrdinary(result[DETAIL_FIELDS[result.checkType]], '')
  );
}

function isOrdinary(value: unknown, key: string): boolean {
  if (typeof value === 'string') {
    return value.length <= charsOf(key) && (key !== 'httpVersion' || HTTP_VERSIONS.has(value));
  }
  if (typeof value === 'number') return isOrdinaryNumber(value, key);
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) {
    if (value.length > MAX_ITEMS) return false;
    for (const item of value) if (!isOrdinary(item, key)) return false;
    return true;
  }
  let keys = 0;
  for (const own in value) {
    keys += 1;
    if (keys > MAX_KEYS || own.length > MAX_CHARS) return false;
    if (!isOrdinary((value as Readonly<Record<string, unknown>>)[own], own)) return false;
  }
  return true;
}

function charsOf(key: string): number {
  if (key === 'fingerprint256') return FINGERPRINT_CHARS;
  return LONG_TEXTS.get(key) ?? (SHORT_TEXTS.has(key) ? MAX_SHORT_CHARS : MAX_CHARS);
}

function isOrdinaryNumber(value: number, key: string): boolean {
  if (!Number.isFinite(value)) return false;
  return (value <= MAX_NUMBER && value >= -MAX_NUMBER) || LARGE_NUMBERS.has(key);
}
