import { ArtifactError } from './errors.ts';

/** From `first` to `last` (null: to the end), or the last bytes. */
export type ByteRange =
  | { readonly first: number; readonly last: number | null }
  | { readonly lastBytes: number };

const RANGE_HEADER = /^bytes=(\d{0,15})-(\d{0,15})$/i;

/**
 * Parses a Range header; null for the whole content. Ignores several ranges, another unit and invalid ranges,
 * as a server may (RFC 9110, 14.2).
 */
export function parseRangeHeader(header: string | undefined): ByteRange | null {
  const [, first = '', last = ''] = RANGE_HEADER.exec(header?.trim() ?? '') ?? [];
  if (first === '') return last === '' ? null : { lastBytes: Number(last) };
  if (last === '') return { first: Number(first), last: null };
  return Number(last) < Number(first) ? null : { first: Number(first), last: Number(last) };
}

/**
 * Resolves a range to its first and last byte, both inclusive, in content of `bytes`. Limits the end to the
 * content (RFC 9110, 14.1.2). Throws ARTIFACT_RANGE if the content has no byte of the range.
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
