import { ArtifactError } from './errors.ts';

/** What part of an artifact is asked for: from `first` to `last` (null: to the end), or a tail. */
export type ByteRange =
  | { readonly first: number; readonly last: number | null }
  | { readonly lastBytes: number };

const RANGE_HEADER = /^bytes=(\d{0,15})-(\d{0,15})$/i;

/**
 * The range of a Range header, or null where the whole is to be sent: no header, several ranges,
 * another unit, or one that makes no sense, all of which a server may ignore (RFC 9110, 14.2).
 */
export function parseRangeHeader(header: string | undefined): ByteRange | null {
  const [, first = '', last = ''] = RANGE_HEADER.exec(header?.trim() ?? '') ?? [];
  if (first === '') return last === '' ? null : { lastBytes: Number(last) };
  if (last === '') return { first: Number(first), last: null };
  return Number(last) < Number(first) ? null : { first: Number(first), last: Number(last) };
}

/**
 * Both ends, inclusive, of a range in a content of `bytes` (RFC 9110, 14.1.2: a range that runs
 * over the end is cut to it). Throws ARTIFACT_RANGE where not a single byte of it exists.
 */
export function resolveRange(
  range: ByteRange | null,
  bytes: number,
): { readonly first: number; readonly last: number } {
  if (range === null) return { first: 0, last: bytes - 1 };
  const asked =
    'lastBytes' in range
      ? { first: Math.max(0, bytes - range.lastBytes), last: bytes - 1 }
      : { first: range.first, last: Math.min(range.last ?? bytes - 1, bytes - 1) };
  const sound = Number.isSafeInteger(asked.first) && Number.isSafeInteger(asked.last);
  if (!sound || asked.first < 0 || asked.first >= bytes || asked.last < asked.first) {
    const message = `The range lies outside of the artifact's ${bytes} bytes`;
    throw new ArtifactError('ARTIFACT_RANGE', message, { bytes });
  }
  return asked;
}
