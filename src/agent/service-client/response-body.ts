import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';

const unpack = promisify(gunzip);

export type ResponseBody =
  | { readonly ok: true; readonly bytes: Buffer }
  | { readonly ok: false; readonly problem: string };

/**
 * Reads the whole body and decodes gzip. A problem is a body of more than `maxBytes`, before or
 * after decoding, or an encoding that was not requested. Does not read the rest of a body that is
 * too long.
 *
 * @throws the error of the connection
 */
export async function readResponseBody(
  body: AsyncIterable<Uint8Array>,
  encoding: string | null,
  maxBytes: number,
): Promise<ResponseBody> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    // Leaving the loop ends the connection, too.
    if (bytes > maxBytes) return tooLong(maxBytes);
    chunks.push(chunk);
  }
  const packed = Buffer.concat(chunks, bytes);
  switch (encoding?.trim().toLowerCase() ?? 'identity') {
    case 'identity':
      return { ok: true, bytes: packed };
    case 'gzip':
    case 'x-gzip':
      return gunzipped(packed, maxBytes);
    default:
      return { ok: false, problem: 'it is in a content encoding that was not asked for' };
  }
}

async function gunzipped(packed: Buffer, maxBytes: number): Promise<ResponseBody> {
  try {
    return { ok: true, bytes: await unpack(packed, { maxOutputLength: maxBytes }) };
  } catch (error) {
    const isTooLong = error instanceof RangeError;
    return isTooLong ? tooLong(maxBytes) : { ok: false, problem: 'its gzip is broken' };
  }
}

function tooLong(maxBytes: number): ResponseBody {
  return { ok: false, problem: `it is longer than ${maxBytes} bytes` };
}
