import { isUtf8 } from 'node:buffer';
import { SocketAddress } from 'node:net';
import { decimalEscape } from './names.ts';
import { WireReader } from './wire-reader.ts';

/** The strings of a TXT record. They may be empty, but there is at least one (RFC 1035 3.3.14). */
export function readStrings(reader: WireReader): Buffer[] {
  const strings = [reader.string()];
  while (reader.remaining > 0) strings.push(reader.string());
  return strings;
}

export function readIpv4(reader: WireReader): string {
  return [reader.u8(), reader.u8(), reader.u8(), reader.u8()].join('.');
}

/** In the canonical form of RFC 5952. */
export function readIpv6(reader: WireReader): string {
  const groups = Array.from({ length: 8 }, () => reader.u16().toString(16));
  return new SocketAddress({ address: groups.join(':'), family: 'ipv6' }).address;
}

/** RFC 3597 5: `\# <length> <hex>`. */
export function genericForm(bytes: Buffer): string {
  const hex = bytes.toString('hex').toUpperCase();
  return hex === '' ? '\\# 0' : `\\# ${bytes.length} ${hex}`;
}

/** A character-string between quotes, with `"` and `\` escaped and the unprintable as \DDD. */
export function quoted(bytes: Uint8Array): string {
  return `"${escaped(bytes)}"`;
}

/** The same without the quotes. */
export function escaped(bytes: Uint8Array): string {
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
 * 3.3, RFC 6376 3.6.2.2). Shows octets that are not UTF-8 as \DDD. `rdata` has been read once
 * without a fault.
 */
export function textOfStrings(rdata: Buffer): string {
  const reader = new WireReader(rdata);
  const bytes = Buffer.concat(readStrings(reader));
  return isUtf8(bytes) ? bytes.toString('utf8') : escaped(bytes);
}
