import type { StoredBody } from '../../../../model/result/result.ts';
import {
  cutScrubbed,
  MARGIN_CHARS,
  NOT_SCRUBBED,
  type Scrub,
} from '../../../secrets/cut-scrubbed.ts';
import { sniffContent } from './content-kind.ts';
import { decodeText } from './decode-text.ts';

export { decodeText } from './decode-text.ts';

/** src/model/README.md, "API: `request`": what of a body stands in the result itself. */
const MAX_TEXT_BYTES = 10 * 1024;
const MAX_BINARY_BYTES = 50 * 1024;

/**
 * The body as a result stores it: the first 10 KB of text (`bodyCut` says that there was more),
 * binary as base64 up to 50 KB, else only its size. Text that is cut is scrubbed before.
 */
export function storedBodyOf(
  body: { readonly bytes: Buffer; readonly totalBytes: number; readonly truncated: boolean },
  contentType: string | null,
  scrub: Scrub = NOT_SCRUBBED,
): StoredBody {
  const facts = { bodyBytes: body.totalBytes, bodyTruncated: body.truncated };
  const content = sniffContent(body.bytes, contentType);
  if (content.kind === 'text') {
    // Two bytes a character is the most that the encodings in use spend on ASCII.
    const start = body.bytes.subarray(0, 2 * MAX_TEXT_BYTES + MARGIN_CHARS);
    const isWhole = start.length === body.totalBytes;
    const known = isWhole ? content.text : null;
    const text = known ?? decodeText(start, contentType, isWhole ? 'whole' : 'start');
    const stored = cutScrubbed(text, MAX_TEXT_BYTES, { scrub, isWhole });
    const isCut = !isWhole || stored !== text;
    return { body: stored, bodyEncoding: 'text', ...facts, ...(isCut ? { bodyCut: true } : {}) };
  }
  if (body.totalBytes <= MAX_BINARY_BYTES && body.bytes.length === body.totalBytes) {
    return { body: body.bytes.toString('base64'), bodyEncoding: 'base64', ...facts };
  }
  return { body: null, bodyEncoding: 'omitted', ...facts };
}
