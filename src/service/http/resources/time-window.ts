/** Epoch milliseconds; null where it was left out. */
export interface AskedWindow {
  readonly fromMs: number | null;
  readonly toMs: number | null;
}

const DEFAULT_MS = 6 * 3_600_000;

/**
 * The window of a list (src/model/README.md, "Fields of every check"): from is in it, to is not.
 */
export function windowOf(
  { fromMs, toMs }: AskedWindow,
  nowMs: number,
): { readonly fromMs: number; readonly toMs: number } {
  const beginMs = fromMs ?? nowMs - DEFAULT_MS;
  return { fromMs: beginMs, toMs: toMs ?? beginMs + DEFAULT_MS };
}
