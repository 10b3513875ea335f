import { ArtifactError } from './errors.ts';

/** From `first` to `last` (null: to the end), or the last bytes. */
export type ByteRange =
  | { readonly first: number; readonly last: number | null }
  | { readonly lastBytes: number };

const RANGE_HEADER = /^bytes=(\d{0,15})-(\d{0,15})$/i;

/**
 * The range of a Range header, or null for the whole content: no header, several ranges, another unit,
 * or an invalid one, all of which a server may ignore (RFC 9110, 14.2).
 */
export function parseRangeHeader(header: string | undefined): ByteRange | null {
  const [, first = '', last = ''] = RANGE_HEADER.exec(header?.trim() ?? '') ?? [];
  if (first === '') return last === '' ? null : { lastBytes: Number(last) };
  if (last === '') return { first: Number(first), last: null };
  return Number(last) < Number(first) ? null : { first: Number(first), last: Number(last) };
}

/**
 * Both ends, inclusive, of a range in content of `bytes`; the end is cut to the content (RFC 9110,
 * 14.1.2). Throws ARTIFACT_RANGE where no byte of it exists.
 */
export function resolveRange(
  range: ByteRange | null,
  bytes: number,
): { readonly first: number; readonly last: number } {
  if (range === null) return { first: 0, last: bytes - 1 };
  const ends =
    'lastBytes' in range
      ? { first: Math.max(0, bytes - range.lastBytes), last: bytes - 1 }
      : { first: range.first, last: Math.min(range.last ?? bytes - 1, bytes - 1) };
  const sound = Number.isSafeInteger(ends.first) && Number.isSafeInteger(ends.last);
  if (!sound || ends.first < 0 || ends.first >= bytes || ends.last < ends.first) {
    const message = `The range lies outside of the artifact's ${bytes} bytes`;
    throw new ArtifactError('ARTIFACT_RANGE', message, { bytes });
  }
  return ends;
}
