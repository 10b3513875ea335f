import { isUtf8 } from 'node:buffer';
import { SocketAddress } from 'node:net';
import type {
  DnsNumberField,
  DnsRecordFields,
  DnsTextField,
} from '../../../../model/result/details/dns-answer.ts';
import { decimalEscape } from './names.ts';
import { CLASS_IN, TYPE_NUMBERS } from './parameters.ts';
import { WireReader } from './wire-reader.ts';

/** RDATA in presentation form, as in a zone file, and its parts by name. */
interface ReadData {
  readonly data: string;
  readonly fields: DnsRecordFields;
}

const NO_FIELDS: DnsRecordFields = {};

/**
 * Reads RDATA. Unknown types, and classes other than IN, get the generic form of RFC 3597 5. The
 * reader is bounded to the RDATA.
 */
export function readRdata(reader: WireReader, type: number, rrClass: number): ReadData {
  if (rrClass === CLASS_IN || type === TYPE_NUMBERS.TXT) {
    const layout = LAYOUTS.get(type);
    if (layout !== undefined) return readLayout(reader, layout);
    const read = READERS.get(type);
    if (read !== undefined) return { data: read(reader), fields: NO_FIELDS };
    if (type === TYPE_NUMBERS.SVCB || type === TYPE_NUMBERS.HTTPS) {
      return readServiceBinding(reader);
    }
  }
  return { data: genericForm(reader.bytes(reader.remaining)), fields: NO_FIELDS };
}

/** Types whose data is one value, or a list of strings. */
const READERS: ReadonlyMap<number, (reader: WireReader) => string> = new Map([
  [TYPE_NUMBERS.A, (reader) => readIpv4(reader)],
  [TYPE_NUMBERS.AAAA, (reader) => readIpv6(reader)],
  [TYPE_NUMBERS.NS, (reader) => reader.name()],
  [TYPE_NUMBERS.CNAME, (reader) => reader.name()],
  [TYPE_NUMBERS.PTR, (reader) => reader.name()],
  [TYPE_NUMBERS.DNAME, (reader) => reader.name()],
  [TYPE_NUMBERS.TXT, (reader) => readStrings(reader).map(quoted).join(' ')],
  [TYPE_NUMBERS.SPF, (reader) => readStrings(reader).map(quoted).join(' ')],
]);

/** A part of RDATA: its value, and its text in a zone file. */
interface ReadPart<Value> {
  readonly value: Value;
  readonly text: string;
}

type Part =
  | readonly [DnsNumberField, (reader: WireReader) => ReadPart<number>]
  | readonly [DnsTextField, (reader: WireReader) => ReadPart<string>];

const u8 = (reader: WireReader): ReadPart<number> => ofNumber(reader.u8());
const u16 = (reader: WireReader): ReadPart<number> => ofNumber(reader.u16());
const u32 = (reader: WireReader): ReadPart<number> => ofNumber(reader.u32());
const domain = (reader: WireReader): ReadPart<string> => ofText(reader.name());
const tag = (reader: WireReader): ReadPart<string> => ofText(escaped(reader.string()));
const hex = (reader: WireReader): ReadPart<string> => ofText(hexOf(reader.bytes(reader.remaining)));
const base64 = (reader: WireReader): ReadPart<string> =>
  ofText(reader.bytes(reader.remaining).toString('base64'));
const rest = (reader: WireReader): ReadPart<string> => {
  const bytes = reader.bytes(reader.remaining);
  return { value: textOf(bytes), text: quoted(bytes) };
};

function ofNumber(value: number): ReadPart<number> {
  return { value, text: String(value) };
}

function ofText(value: string): ReadPart<string> {
  return { value, text: value };
}

/** Types whose data is a list of parts, named as in their RFC, in the order of the wire. */
const LAYOUTS: ReadonlyMap<number, readonly Part[]> = new Map<number, readonly Part[]>([
  [
    // RFC 1035 3.3.13
    TYPE_NUMBERS.SOA,
    [
      ['mname', domain],
      ['rname', domain],
      ['serial', u32],
      ['refresh', u32],
      ['retry', u32],
      ['expire', u32],
      ['minimum', u32],
    ],
  ],
  [
    // RFC 1035 3.3.9
    TYPE_NUMBERS.MX,
    [
      ['preference', u16],
      ['exchange', domain],
    ],
  ],
  [
    // RFC 2782
    TYPE_NUMBERS.SRV,
    [
      ['priority', u16],
      ['weight', u16],
      ['port', u16],
      ['target', domain],
    ],
  ],
  [
    // RFC 8659 4.1
    TYPE_NUMBERS.CAA,
    [
      ['flags', u8],
      ['tag', tag],
      ['value', rest],
    ],
  ],
  [
    // RFC 4034 5.1
    TYPE_NUMBERS.DS,
    [
      ['keyTag', u16],
      ['algorithm', u8],
      ['digestType', u8],
      ['digest', hex],
    ],
  ],
  [
    // RFC 4034 2.1
    TYPE_NUMBERS.DNSKEY,
    [
      ['flags', u16],
      ['protocol', u8],
      ['algorithm', u8],
      ['publicKey', base64],
    ],
  ],
  [
    // RFC 6698 2.1
    TYPE_NUMBERS.TLSA,
    [
      ['usage', u8],
      ['selector', u8],
      ['matchingType', u8],
      ['certificateData', hex],
    ],
  ],
]);

function readLayout(reader: WireReader, layout: readonly Part[]): ReadData {
  const texts: string[] = [];
  const fields: Record<string, number | string> = {};
  for (const [name, read] of layout) {
    const { value, text } = read(reader);
    texts.push(text);
    fields[name] = value;
  }
  return { data: texts.join(' '), fields };
}

const MANDATORY = 0;
const PARAMETER_NAMES: ReadonlyMap<number, string> = new Map([
  [MANDATORY, 'mandatory'],
  [1, 'alpn'],
  [2, 'no-default-alpn'],
  [3, 'port'],
  [4, 'ipv4hint'],
  [5, 'ech'],
  [6, 'ipv6hint'],
  [7, 'dohpath'],
]);

/**
 * SVCB and HTTPS (RFC 9460 2.1, 2.2): `priority target key=value …`. Keys must be in strictly
 * increasing order; otherwise the whole record is malformed.
 */
function readServiceBinding(reader: WireReader): ReadData {
  const priority = reader.u16();
  const target = reader.name();
  const parts = [String(priority), target];
  let lastKey = -1;
  while (reader.remaining > 0) {
    const key = reader.u16();
    const length = reader.u16();
    if (key <= lastKey) reader.fail('the keys of a service binding are not in order');
    lastKey = key;
    const value = reader.within(length, 'a service parameter', () => readValue(reader, key));
    parts.push(value === null ? parameterName(key) : `${parameterName(key)}=${value}`);
  }
  return { data: parts.join(' '), fields: { priority, target } };
}

function parameterName(key: number): string {
  return PARAMETER_NAMES.get(key) ?? `key${key}`;
}

/** The value as text; null if the key has no value. */
function readValue(reader: WireReader, key: number): string | null {
  switch (PARAMETER_NAMES.get(key)) {
    case 'mandatory':
      return listOf(reader, () => parameterName(reader.u16())).join(',');
    case 'alpn':
      return readProtocols(reader);
    case 'no-default-alpn':
      return null;
    case 'port':
      return String(reader.u16());
    case 'ipv4hint':
      return listOf(reader, () => readIpv4(reader)).join(',');
    case 'ipv6hint':
      return listOf(reader, () => readIpv6(reader)).join(',');
    case 'ech':
      return reader.bytes(reader.remaining).toString('base64');
    default:
      return reader.remaining === 0 ? null : quoted(reader.bytes(reader.remaining));
  }
}

/** A comma or backslash inside one protocol's id is escaped twice (RFC 9460 A.1, 7.1.1). */
function readProtocols(reader: WireReader): string {
  const ids = listOf(reader, () => reader.string().toString('latin1'));
  const list = ids.map((id) => id.replace(/[,\\]/g, '\\$&')).join(',');
  return quoted(Buffer.from(list, 'latin1'));
}

function listOf<T>(reader: WireReader, read: () => T): T[] {
  const list: T[] = [];
  do list.push(read());
  while (reader.remaining > 0);
  return list;
}

/** The strings of a TXT record. They may be empty, but there is at least one (RFC 1035 3.3.14). */
function readStrings(reader: WireReader): Buffer[] {
  const strings = [reader.string()];
  while (reader.remaining > 0) strings.push(reader.string());
  return strings;
}

function readIpv4(reader: WireReader): string {
  return [reader.u8(), reader.u8(), reader.u8(), reader.u8()].join('.');
}

/** In the canonical form of RFC 5952. */
function readIpv6(reader: WireReader): string {
  const groups = Array.from({ length: 8 }, () => reader.u16().toString(16));
  return new SocketAddress({ address: groups.join(':'), family: 'ipv6' }).address;
}

/** RFC 3597 5: `\# <length> <hex>`. */
function genericForm(bytes: Buffer): string {
  return bytes.length === 0 ? '\\# 0' : `\\# ${bytes.length} ${hexOf(bytes)}`;
}

function hexOf(bytes: Buffer): string {
  return bytes.toString('hex').toUpperCase();
}

/** A character-string between quotes, with `"` and `\` escaped and the unprintable as \DDD. */
function quoted(bytes: Uint8Array): string {
  return `"${escaped(bytes)}"`;
}

/** The same without the quotes. */
function escaped(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) {
    if (byte === 0x22 || byte === 0x5c) text += `\\${String.fromCharCode(byte)}`;
    else if (byte < 0x20 || byte > 0x7e) text += decimalEscape(byte);
    else text += String.fromCharCode(byte);
  }
  return text;
}

/**
 * Joins the strings of a TXT record without a separator, as the protocols that use TXT do (RFC 7208
 * 3.3, RFC 6376 3.6.2.2). Shows octets that are not UTF-8 as \DDD. `rdata` must be valid:
 * `readRdata` has read it before.
 */
export function textOfStrings(rdata: Buffer): string {
  const reader = new WireReader(rdata);
  return textOf(Buffer.concat(readStrings(reader)));
}

function textOf(bytes: Buffer): string {
  return isUtf8(bytes) ? bytes.toString('utf8') : escaped(bytes);
}
