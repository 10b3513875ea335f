import type { StoredBody } from '../../../model/result.ts';
import { cutText } from '../../../runtime/cut-text.ts';
import { lookAtContent } from './content-kind.ts';
import { decodeText } from './decode-text.ts';

export { decodeText } from './decode-text.ts';

/** SEMANTICS 1: what of a body stands in the result itself. */
const MAX_TEXT_BYTES = 10 * 1024;
const MAX_BINARY_BYTES = 50 * 1024;

/**
 * The body as a result stores it: the first 10 KB of text (`bodyCut` says that there was more),
 * binary as base64 up to 50 KB, else only its size.
 */
export function storedBodyOf(
  body: { readonly bytes: Buffer; readonly totalBytes: number; readonly truncated: boolean },
  contentType: string | null,
): StoredBody {
  const facts = { bodyBytes: body.totalBytes, bodyTruncated: body.truncated };
  const content = lookAtContent(body.bytes, contentType);
  if (content.kind === 'text') {
    // Two bytes a character is the most that the encodings in use spend on ASCII.
    const start = body.bytes.subarray(0, 2 * MAX_TEXT_BYTES);
    const isWhole = start.length === body.totalBytes;
    const known = isWhole ? content.text : null;
    const text = known ?? decodeText(start, contentType, isWhole ? 'whole' : 'start');
    const stored = cutText(text, MAX_TEXT_BYTES);
    const isCut = !isWhole || stored.length < text.length;
    return { body: stored, bodyEncoding: 'text', ...facts, ...(isCut ? { bodyCut: true } : {}) };
  }
  if (body.totalBytes <= MAX_BINARY_BYTES && body.bytes.length === body.totalBytes) {
    return { body: body.bytes.toString('base64'), bodyEncoding: 'base64', ...facts };
  }
  return { body: null, bodyEncoding: 'omitted', ...facts };
}
