import { charsetOf, decodeText, markedEncoding } from './decode-text.ts';

/** How much of a body is checked. */
const SAMPLE_BYTES = 4096;
/** A text may have a stray byte; more than this share of them is no text, whatever its type. */
const MAX_ODD_SHARE = 0.1;

const TEXT_TYPES =
  /^text\/|[/+](json5?|xml|yaml|csv)$|^application\/(javascript|ecmascript|x-javascript|x-www-form-urlencoded|graphql|x-yaml|x-ndjson|ndjson|jsonl|json-seq|jwt|jose|sql|toml|rtf|x-sh|x-pem-file|openmetrics-text)$/;
const BINARY_TYPES =
  /^(image|audio|video|font)\/|^application\/(zip|gzip|x-gzip|pdf|wasm|x-tar|x-7z-compressed|java-archive|x-protobuf|protobuf|grpc|msgpack|x-msgpack|cbor|vnd\.ms-|vnd\.openxmlformats)/;

export interface Content {
  readonly kind: 'text' | 'binary';
  /** All of it, where it was short enough to be decoded for that; else null. */
  readonly text: string | null;
}

/**
 * Whether a body is text, by its content type and its bytes: a body declared as text must
 * look like text, and an undeclared one is text only if every byte is.
 */
export function sniffContent(bytes: Buffer, contentType: string | null): Content {
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
