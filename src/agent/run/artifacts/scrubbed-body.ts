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
  /** Bytes omitted at the end because the agent cut the body. */
  readonly droppedBytes: number;
}

/** Bytes per character of the margin in encodings other than UTF-8. */
const MAX_CHAR_BYTES = 2;

/** Bytes decoded between two yields. */
const PIECE_BYTES = 256 * 1024;

/**
 * A body and its content type with secrets masked. If only the decoded text contains a secret (for
 * example in UTF-16), returns the text in UTF-8. Omits the end of a body that the agent cut: it may
 * contain a part of a secret, which would not be masked.
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

/** null if the text is UTF-8 or in an unknown encoding. */
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
