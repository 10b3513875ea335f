import { CLASS_IN, TYPE_NUMBERS } from './parameters.ts';
import { escaped, genericForm, quoted, readIpv4, readIpv6, readStrings } from './rdata-parts.ts';
import { readServiceBinding } from './service-binding.ts';
import type { WireReader } from './wire-reader.ts';

/**
 * RDATA in presentation form, as in a zone file; unknown types, and classes other than IN, in the
 * generic form of RFC 3597 5. The reader is bounded to the RDATA.
 */
export function readRdata(reader: WireReader, type: number, rrClass: number): string {
  const read = rrClass === CLASS_IN || type === TYPE_NUMBERS.TXT ? READERS.get(type) : undefined;
  return read === undefined ? genericForm(reader.bytes(reader.remaining)) : read(reader);
}

const READERS: ReadonlyMap<number, (reader: WireReader) => string> = new Map([
  [TYPE_NUMBERS.A, (reader) => readIpv4(reader)],
  [TYPE_NUMBERS.AAAA, (reader) => readIpv6(reader)],
  [TYPE_NUMBERS.NS, (reader) => reader.name()],
  [TYPE_NUMBERS.CNAME, (reader) => reader.name()],
  [TYPE_NUMBERS.PTR, (reader) => reader.name()],
  [TYPE_NUMBERS.DNAME, (reader) => reader.name()],
  [TYPE_NUMBERS.MX, (reader) => `${reader.u16()} ${reader.name()}`],
  [TYPE_NUMBERS.TXT, (reader) => readStrings(reader).map(quoted).join(' ')],
  [TYPE_NUMBERS.SPF, (reader) => readStrings(reader).map(quoted).join(' ')],
  [
    TYPE_NUMBERS.SRV,
    (reader) => `${reader.u16()} ${reader.u16()} ${reader.u16()} ${reader.name()}`,
  ],
  [TYPE_NUMBERS.SOA, readSoa],
  [
    TYPE_NUMBERS.CAA,
    (reader) =>
      `${reader.u8()} ${escaped(reader.string())} ${quoted(reader.bytes(reader.remaining))}`,
  ],
  [TYPE_NUMBERS.SVCB, readServiceBinding],
  [TYPE_NUMBERS.HTTPS, readServiceBinding],
]);

function readSoa(reader: WireReader): string {
  const names = [reader.name(), reader.name()];
  const numbers = Array.from({ length: 5 }, () => reader.u32());
  return [...names, ...numbers].join(' ');
}
