export const PICTURE_FORMATS = ['png', 'jpeg', 'gif', 'webp', 'ico'] as const;
export type PictureFormat = (typeof PICTURE_FORMATS)[number];

const ACCEPTED = 'a PNG, JPEG, GIF, WebP or ICO file';
/** How much of a text is searched for its root element. */
const MAX_TEXT_BYTES = 1_024;

/**
 * Detects the format by the first bytes: the content type of a response and the name of a file are often wrong,
 * and decoders ignore them.
 *
 * @returns the format, or a reason for refusing the bytes that completes "the logo could not be fetched: "
 */
export function formatOf(
  bytes: Buffer,
):
  | { readonly ok: true; readonly format: PictureFormat }
  | { readonly ok: false; readonly problem: string } {
  const format = knownFormat(bytes);
  return format === null ? { ok: false, problem: problemOf(bytes) } : { ok: true, format };
}

function knownFormat(bytes: Buffer): PictureFormat | null {
  const starts = (hex: string, at = 0): boolean =>
    bytes.subarray(at, at + hex.length / 2).toString('hex') === hex;
  // PNG 5.2, JPEG (T.81) B.1.1.3, GIF 89a 17, RFC 9649 2.4, and the header of icons (type 1).
  if (starts('89504e470d0a1a0a')) return 'png';
  if (starts('ffd8ff')) return 'jpeg';
  if (starts('474946383761') || starts('474946383961')) return 'gif';
  if (starts('52494646') && starts('57454250', 8)) return 'webp';
  if (starts('00000100')) return 'ico';
  return null;
}

function problemOf(bytes: Buffer): string {
  if (bytes.length === 0) return `the response was empty: it must be ${ACCEPTED}`;
  const text = bytes.subarray(0, MAX_TEXT_BYTES).toString('latin1').toLowerCase();
  // Rendering an SVG file would process untrusted references, filters, entities and fonts.
  if (text.includes('<svg')) return `SVG files are not accepted: use ${ACCEPTED}`;
  if (text.includes('<html') || text.includes('<!doctype html')) {
    return `the response was a web page: it must be ${ACCEPTED}`;
  }
  return `the response was not ${ACCEPTED}`;
}
