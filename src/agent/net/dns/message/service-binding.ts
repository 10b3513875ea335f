import { quoted, readIpv4, readIpv6 } from './rdata-parts.ts';
import type { WireReader } from './wire-reader.ts';

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
export function readServiceBinding(reader: WireReader): string {
  const parts = [String(reader.u16()), reader.name()];
  let lastKey = -1;
  while (reader.remaining > 0) {
    const key = reader.u16();
    const length = reader.u16();
    if (key <= lastKey) reader.fail('the keys of a service binding are not in order');
    lastKey = key;
    const value = reader.within(length, 'a service parameter', () => readValue(reader, key));
    parts.push(value === null ? parameterName(key) : `${parameterName(key)}=${value}`);
  }
  return parts.join(' ');
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
