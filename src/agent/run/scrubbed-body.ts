import { setImmediate as nextTurn } from 'node:timers/promises';
import { TextDecoder } from 'node:util';
import type { Scrubber } from '../../model/scrub/scrubber.ts';
import { charsetOf, markedEncoding } from '../probes/http/decode-text.ts';

export interface Body {
  readonly bytes: Uint8Array;
  /** As the target said it. */
  readonly contentType: string | null;
}

/** Decoded in one go, while checks are running beside it. */
const PIECE_BYTES = 256 * 1024;

/**
 * A body and its content type without secrets. Where a secret shows only in the text that the body
 * says it is (UTF-16, say), that text comes back, in UTF-8.
 */
export async function scrubBody(body: Body, scrubber: Scrubber): Promise<Body> {
  if (scrubber.isIdle) return body;
  const contentType = body.contentType === null ? null : scrubber.text(body.contentType);
  const bytes = await scrubber.bytes(body.bytes);
  const decoder = decoderOf(body);
  if (decoder === null) return { bytes, contentType };
  const text = await inUtf8(bytes, decoder);
  const scrubbed = await scrubber.bytes(text);
  if (scrubbed === text) return { bytes, contentType };
  const [essence = ''] = (contentType ?? '').split(';');
  return { bytes: scrubbed, contentType: `${essence.trim()}; charset=utf-8` };
}

/** null where the text is UTF-8, or in an encoding that nobody knows. */
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
    await nextTurn();
  }
  return Buffer.concat(pieces);
}
