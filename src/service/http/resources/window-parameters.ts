import { z } from 'zod';
import { pageQuery } from './parameters.ts';

/** Larger numbers are milliseconds: as seconds they would be after the year 5138. */
const MAX_SECONDS = 1e11;

const unixTime = z.preprocess(
  (value) => (typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value),
  z
    .int()
    .min(0)
    .max(Date.UTC(9999, 11, 31)),
);

/** `from`, `to`, `limit` and `page` of a list over time: src/service/README.md, "The API". */
export const windowQuery = {
  ...pageQuery,
  from: unixTime
    .optional()
    .describe('UNIX timestamp in seconds (or milliseconds), inclusive; left out, 6 hours ago.'),
  to: unixTime
    .optional()
    .describe('UNIX timestamp in seconds (or milliseconds), exclusive; left out, 6 h after from.'),
};

/** What of it the feature asks for. */
export function askedWindow({
  from,
  to,
}: {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}): { readonly fromMs: number | null; readonly toMs: number | null } {
  return { fromMs: epochMs(from), toMs: epochMs(to) };
}

function epochMs(unix: number | undefined): number | null {
  if (unix === undefined) return null;
  return unix > MAX_SECONDS ? unix : unix * 1000;
}
