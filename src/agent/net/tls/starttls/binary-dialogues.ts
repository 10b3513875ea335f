import { type Dialogue, INCOMPLETE, inSequence, type Reading, refusedBecause } from './dialogue.ts';

/** The protocols that answer in packets. */

const FOREIGN = 'speaks another protocol';

/** SSLRequest of PostgreSQL ("Message Formats" in its documentation): length 8, code 80877103. */
const POSTGRESQL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

export function postgresql(): Dialogue {
  return inSequence(POSTGRESQL_REQUEST, (bytes) => {
    switch (bytes.toString('latin1', 0, 1)) {
      case '':
        return INCOMPLETE;
      case 'S':
        return { kind: 'agreed', used: 1, send: null };
      case 'N':
        return refusedBecause('does not offer TLS: it answered N to SSLRequest');
      case 'E':
        return refusedBecause('refused SSLRequest with an error');
      default:
        return refusedBecause(FOREIGN);
    }
  });
}

/** Flags of MySQL's protocol ("Capabilities Flags" in its documentation). */
const CLIENT_PROTOCOL_41 = 0x0200;
const CLIENT_SSL = 0x0800;
const CLIENT_SECURE_CONNECTION = 0x8000;
const MAX_PACKET_BYTES = 0x0100_0000;
const UTF8MB4 = 45;
const MYSQL_REQUEST_BYTES = 32;
/** Bytes after the version: the connection id, the first part of the scramble and a filler. */
const MYSQL_AFTER_VERSION_BYTES = 13;

/** The server greets with what it offers; it does not answer the SSLRequest. */
export function mysql(): Dialogue {
  return inSequence(null, (bytes) => {
    if (bytes.length < 5) return INCOMPLETE;
    const length = bytes.readUIntLE(0, 3);
    const [sequence, version] = [bytes[3], bytes[4]];
    if (sequence !== 0 || (version !== 10 && version !== 255)) return refusedBecause(FOREIGN);
    if (bytes.length < 4 + length) return INCOMPLETE;
    const packet = bytes.subarray(4, 4 + length);
    // A packet of an error: its number, and a text.
    if (version === 255) {
      return refusedBecause('did not greet', packet.toString('latin1', 3));
    }
    const flagsAt = packet.indexOf(0, 1) + 1 + MYSQL_AFTER_VERSION_BYTES;
    if (packet.indexOf(0, 1) === -1 || flagsAt + 2 > length) return refusedBecause(FOREIGN);
    if ((packet.readUInt16LE(flagsAt) & CLIENT_SSL) === 0) {
      return refusedBecause('does not offer TLS');
    }
    return { kind: 'agreed', used: 4 + length, send: mysqlRequest() };
  });
}

function mysqlRequest(): Buffer {
  const request = Buffer.alloc(4 + MYSQL_REQUEST_BYTES);
  request.writeUIntLE(MYSQL_REQUEST_BYTES, 0, 3);
  request.writeUInt8(1, 3);
  request.writeUInt32LE(CLIENT_PROTOCOL_41 | CLIENT_SSL | CLIENT_SECURE_CONNECTION, 4);
  request.writeUInt32LE(MAX_PACKET_BYTES, 8);
  request.writeUInt8(UTF8MB4, 12);
  return request;
}

/** An ExtendedRequest with the OID of StartTLS (RFC 4511 4.14.1), in BER. */
const LDAP_REQUEST = Buffer.concat([
  Buffer.from([0x30, 0x1d, 0x02, 0x01, 0x01, 0x77, 0x18, 0x80, 0x16]),
  Buffer.from('1.3.6.1.4.1.1466.20037'),
]);
const SEQUENCE = 0x30;
const INTEGER = 0x02;
const OCTET_STRING = 0x04;
const ENUMERATED = 0x0a;
const EXTENDED_RESPONSE = 0x78;

export function ldap(): Dialogue {
  return inSequence(LDAP_REQUEST, (bytes) => {
    if (bytes.length > 0 && bytes[0] !== SEQUENCE) return refusedBecause(FOREIGN);
    const message = valueAt(bytes, 0);
    if (message === null) return INCOMPLETE;
    if (message === 'invalid') return refusedBecause(FOREIGN);
    return readExtendedResponse(message.value, message.end);
  });
}

function readExtendedResponse(message: Buffer, used: number): Reading {
  const id = valueAt(message, 0, INTEGER);
  const response =
    id === null || id === 'invalid' ? id : valueAt(message, id.end, EXTENDED_RESPONSE);
  if (response === null || response === 'invalid') return refusedBecause(FOREIGN);
  const { value } = response;
  const code = valueAt(value, 0, ENUMERATED);
  if (code === null || code === 'invalid' || code.value.length !== 1)
    return refusedBecause(FOREIGN);
  if (code.value[0] === 0) return { kind: 'agreed', used, send: null };
  const matched = valueAt(value, code.end, OCTET_STRING);
  const text =
    matched === null || matched === 'invalid' ? null : valueAt(value, matched.end, OCTET_STRING);
  const why = text === null || text === 'invalid' ? null : text.value.toString('latin1');
  return refusedBecause(`refused StartTLS with result code ${code.value[0]}`, why);
}

interface BerValue {
  readonly value: Buffer;
  readonly end: number;
}

/** A value of BER (X.690 8.1) with a length of at most four octets; null if it is not complete. */
function valueAt(bytes: Buffer, at: number, tag?: number): BerValue | null | 'invalid' {
  const [found, first] = [bytes[at], bytes[at + 1]];
  if (tag !== undefined && found !== undefined && found !== tag) return 'invalid';
  if (first === undefined) return null;
  const octets = first < 0x80 ? 0 : first & 0x7f;
  if (octets > 4 || first === 0x80) return 'invalid';
  const start = at + 2 + octets;
  if (bytes.length < start) return null;
  const length = octets === 0 ? first : bytes.readUIntBE(at + 2, octets);
  const end = start + length;
  return bytes.length < end ? null : { value: bytes.subarray(start, end), end };
}
