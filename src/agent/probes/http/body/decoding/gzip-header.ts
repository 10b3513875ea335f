const FIXED_BYTES = 10;
const FLAG_CRC = 0x02;
const FLAG_EXTRA = 0x04;
const FLAG_NAME = 0x08;
const FLAG_COMMENT = 0x10;
const RESERVED_FLAGS = 0xe0;

/** Web servers send the ten fixed bytes; the limit keeps an endless file name out of memory. */
const MAX_BYTES = 8 * 1024;

/**
 * The length of the gzip member header (RFC 1952 2.3) that the bytes start with; `incomplete`
 * where more bytes are needed to tell.
 */
export function gzipHeaderBytes(bytes: Buffer): number | 'incomplete' | 'invalid' {
  if (!startsWith(bytes, [0x1f, 0x8b, 0x08])) return 'invalid';
  if (bytes.length < FIXED_BYTES) return 'incomplete';
  const flags = bytes.readUInt8(3);
  if ((flags & RESERVED_FLAGS) !== 0) return 'invalid';

  let at: number | null = FIXED_BYTES;
  if ((flags & FLAG_EXTRA) !== 0) {
    at = at + 2 <= bytes.length ? at + 2 + bytes.readUInt16LE(at) : null;
  }
  if ((flags & FLAG_NAME) !== 0) at = afterZero(bytes, at);
  if ((flags & FLAG_COMMENT) !== 0) at = afterZero(bytes, at);
  if ((flags & FLAG_CRC) !== 0 && at !== null) at += 2;

  if (at !== null && at <= bytes.length && at <= MAX_BYTES) return at;
  return bytes.length > MAX_BYTES ? 'invalid' : 'incomplete';
}

function afterZero(bytes: Buffer, from: number | null): number | null {
  if (from === null) return null;
  const zero = bytes.indexOf(0, from);
  return zero === -1 ? null : zero + 1;
}

function startsWith(bytes: Buffer, magic: readonly number[]): boolean {
  return magic.every((expected, at) => at >= bytes.length || bytes[at] === expected);
}
