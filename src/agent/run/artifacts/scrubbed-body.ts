import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { TextDecoder } from 'node:util';
import type { Scrubber } from '../../../scrub/scrubber.ts';
import { charsetOf, markedEncoding } from '../../probes/http/body/decode-text.ts';
import { MARGIN_CHARS } from '../../secrets/cut-scrubbed.ts';

export interface Body {
  readonly bytes: Uint8Array;
  /** As the target sent it. */
  readonly contentType: string | null;
}

export interface ScrubbedBody extends Body {
  /** How many bytes at the end are left out, as the agent cut the body. */
  readonly droppedBytes: number;
}

/** In other encodings than UTF-8, for MARGIN_CHARS. */
const MAX_CHAR_BYTES = 2;

/** Decoded in one go, while checks are running beside it. */
const PIECE_BYTES = 256 * 1024;

/**
 * A body and its content type without secrets. Where a secret shows only in the decoded text (of
 * UTF-16, for example), the text is returned in UTF-8. The end of a body that the agent cut is left
 * out: it may contain part of a secret, which is not masked.
 *
 * @param isWhole whether `body` has all bytes that the agent read
 */
export async function scrubBody(
  body: Body,
  isWhole: boolean,
  scrubber: Scrubber,
): Promise<ScrubbedBody> {
  if (scrubber.isIdle) return { ...body, droppedBytes: 0 };
  const contentType = body.contentType === null ? null : scrubber.text(body.contentType);
  const bytes = await scrubber.bytes(body.bytes);
  const decoder = decoderOf(body);
  const marginChars = isWhole ? 0 : MARGIN_CHARS;
  const droppedBytes = marginChars * (decoder === null ? 1 : MAX_CHAR_BYTES);
  const start = { bytes: withoutEnd(bytes, droppedBytes), contentType, droppedBytes };
  if (decoder === null) return start;
  const text = await inUtf8(bytes, decoder);
  const scrubbed = await scrubber.bytes(text);
  if (scrubbed === text) return start;
  const [essence = ''] = (contentType ?? '').split(';');
  return {
    bytes: withoutEnd(scrubbed, marginChars),
    contentType: `${essence.trim()}; charset=utf-8`,
    droppedBytes,
  };
}

function withoutEnd(bytes: Uint8Array, endBytes: number): Uint8Array {
  return bytes.subarray(0, Math.max(0, bytes.length - endBytes));
}

/** null where the text is UTF-8 or in an unknown encoding. */
function decoderOf({ bytes, contentType }: Body): TextDecoder | null {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 3));
  const label = markedEncoding(start) ?? charsetOf(contentType) ?? 'utf-8';
  try {
    const decoder = new TextDecoder(label);
    return decoder.encoding === 'utf-8' ? null : decoder;
  } catch {
    return null;
  }
}

async function inUtf8(bytes: Uint8Array, decoder: TextDecoder): Promise<Uint8Array> {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    const piece = bytes.subarray(at, at + PIECE_BYTES);
    const isLast = at + PIECE_BYTES >= bytes.length;
    pieces.push(Buffer.from(decoder.decode(piece, { stream: !isLast })));
    await yieldToEventLoop();
  }
  return Buffer.concat(pieces);
}
