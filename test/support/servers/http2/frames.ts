const FRAME_HEAD_BYTES = 9;

export const FRAME = {
  data: 0x0,
  headers: 0x1,
  resetStream: 0x3,
  settings: 0x4,
  goaway: 0x7,
  continuation: 0x9,
} as const;
export const END_STREAM = 0x1;
export const SETTINGS_ACK = 0x1;
export const END_HEADERS = 0x4;

/** One frame (RFC 9113 4.1) of stream 1, the stream of a client's first request. */
export function frame(type: number, flags: number, payload: Uint8Array, stream = 1): Buffer {
  const head = Buffer.alloc(FRAME_HEAD_BYTES);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** `:status: 200` by the static table (RFC 7541 A), followed by fields without indexing. */
export function headerBlock(fields: Readonly<Record<string, string>> = {}): Buffer {
  const literals = Object.entries(fields).flatMap(([name, value]) => [
    Buffer.from([0x00]),
    hpackText(name),
    hpackText(value),
  ]);
  return Buffer.concat([Buffer.from([0x88]), ...literals]);
}

export function code32(...numbers: readonly number[]): Buffer {
  return Buffer.concat(
    numbers.map((number) => {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32BE(number);
      return bytes;
    }),
  );
}

/** A client's frames, after its preface, contain the head of a request. */
export function hasHeaders(frames: Buffer): boolean {
  for (let at = 0; at + FRAME_HEAD_BYTES <= frames.length; ) {
    if (frames.readUInt8(at + 3) === FRAME.headers) return true;
    at += FRAME_HEAD_BYTES + frames.readUIntBE(at, 3);
  }
  return false;
}

/** RFC 7541 5.2, without Huffman coding. */
function hpackText(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1');
  const prefix: number[] = [];
  if (bytes.length < 127) prefix.push(bytes.length);
  else {
    prefix.push(127);
    let rest = bytes.length - 127;
    for (; rest >= 128; rest = Math.floor(rest / 128)) prefix.push((rest % 128) + 128);
    prefix.push(rest);
  }
  return Buffer.concat([Buffer.from(prefix), bytes]);
}
