import { z } from 'zod';
import { pageQuery, queryNumber } from './parameters.ts';

const DEFAULT_MS = 6 * 3_600_000;
/** Larger numbers are milliseconds: as seconds they would lie beyond the year 5138. */
const MAX_SECONDS = 1e11;

const LAST_MS = Date.UTC(9999, 11, 31);

/** A window that contains everything. */
export const ANY_TIME = { from: 0, to: LAST_MS } as const;

const unixTime = z.preprocess(queryNumber, z.int().min(0).max(LAST_MS));

/** `from`, `to`, `limit` and `page` of a list over time: src/service/README.md, "The API". */
export const windowQuery = {
  ...pageQuery,
  from: unixTime
    .optional()
    .describe('UNIX timestamp in seconds (or milliseconds), inclusive. Default: 6 hours ago.'),
  to: unixTime
    .optional()
    .describe(
      'UNIX timestamp in seconds (or milliseconds), exclusive. Default: 6 hours after from.',
    ),
};

/** The requested window in epoch milliseconds; null for omitted bounds. */
export interface RequestedWindow {
  readonly fromMs: number | null;
  readonly toMs: number | null;
}

/**
 * @param begunMs when a client began to follow cursors; null for pages. With cursors, the default window stays
 *   constant and has no end, so that the client gets later entries.
 */
export function parseWindow(
  {
    from,
    to,
  }: {
    readonly from?: number | undefined;
    readonly to?: number | undefined;
  },
  begunMs: number | null = null,
): RequestedWindow {
  if (begunMs === null) return { fromMs: epochMs(from), toMs: epochMs(to) };
  return { fromMs: epochMs(from) ?? begunMs - DEFAULT_MS, toMs: epochMs(to) ?? LAST_MS };
}

function epochMs(unix: number | undefined): number | null {
  if (unix === undefined) return null;
  return unix > MAX_SECONDS ? unix : unix * 1000;
}

/**
 * The window of a list (src/service/README.md, "Responses"): `from` is inclusive, `to` exclusive.
 */
export function queryWindow(
  { fromMs, toMs }: RequestedWindow,
  nowMs: number,
): { readonly fromMs: number; readonly toMs: number } {
  const beginMs = fromMs ?? nowMs - DEFAULT_MS;
  return { fromMs: beginMs, toMs: toMs ?? beginMs + DEFAULT_MS };
}
