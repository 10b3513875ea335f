import type { StoredBody } from '../../../../model/result/details/http-detail.ts';
import { cutScrubbed, MARGIN_CHARS, type Scrub } from '../../../secrets/cut-scrubbed.ts';
import { charsetOf, decodeText, markedEncoding } from './decode-text.ts';

/** src/model/README.md, "API: `request`": how much of a body is in the result itself. */
const MAX_TEXT_BYTES = 10 * 1024;
const MAX_BINARY_BYTES = 50 * 1024;

const SAMPLE_BYTES = 4096;
/** A text may have a few invalid bytes. With a larger share it is binary, whatever its type. */
const MAX_ODD_SHARE = 0.1;

const TEXT_TYPES =
  /^text\/|[/+](json5?|xml|yaml|csv)$|^application\/(javascript|ecmascript|x-javascript|x-www-form-urlencoded|graphql|x-yaml|x-ndjson|ndjson|jsonl|json-seq|jwt|jose|sql|toml|rtf|x-sh|x-pem-file|openmetrics-text)$/;
const BINARY_TYPES =
  /^(image|audio|video|font)\/|^application\/(zip|gzip|x-gzip|pdf|wasm|x-tar|x-7z-compressed|java-archive|x-protobuf|protobuf|grpc|msgpack|x-msgpack|cbor|vnd\.ms-|vnd\.openxmlformats)/;

interface Content {
  readonly kind: 'text' | 'binary';
  /** The whole text if it was decoded for the check; else null. */
  readonly text: string | null;
}

/**
 * The body as a result stores it: the first 10 KB of text (`bodyCut`: there was more), binary as
 * base64 up to 50 KB, else only its size. Text is scrubbed before it is cut.
 */
export function storedBodyOf(
  body: { readonly bytes: Buffer; readonly totalBytes: number; readonly truncated: boolean },
  contentType: string | null,
  scrub: Scrub,
): StoredBody {
  const facts = { bodyBytes: body.totalBytes, bodyTruncated: body.truncated };
  const content = sniffContent(body.bytes, contentType);
  if (content.kind === 'text') {
    // No encoding in use takes more than two bytes for an ASCII character.
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

/**
 * Whether a body is text, by its content type and its bytes: a body declared as text must
 * look like text, and an undeclared one is text only if every byte is.
 */
function sniffContent(bytes: Buffer, contentType: string | null): Content {
  const type = (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const isText = TEXT_TYPES.test(type);
  if (!isText && BINARY_TYPES.test(type)) return BINARY;
  const isDeclared = isText || charsetOf(contentType) !== null || markedEncoding(bytes) !== null;
  const isWhole = bytes.length <= SAMPLE_BYTES;
  const part = isWhole ? 'whole' : 'start';
  const sample = decodeText(bytes.subarray(0, SAMPLE_BYTES), contentType, part);
  if (oddShareOf(sample) > (isDeclared ? MAX_ODD_SHARE : 0)) return BINARY;
  return { kind: 'text', text: isWhole ? sample : null };
}

const BINARY: Content = { kind: 'binary', text: null };

/** The share of characters that no text has: replaced bytes and most control characters. */
function oddShareOf(text: string): number {
  if (text === '') return 0;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is counted
  const odd = text.match(/[\u0000-\u0008\u000e-\u001a\u001c-\u001f\u007f\ufffd]/g);
  return (odd?.length ?? 0) / text.length;
}
