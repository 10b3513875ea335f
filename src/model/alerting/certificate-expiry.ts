/** The most days before its end at which anybody can ask to hear of a certificate. */
export const MAX_THRESHOLD_DAYS = 30;

const DAY_MS = 86_400_000;

/** The first certificate of a check to expire, as last sent to subscribers. */
export interface RunDown {
  /** Epoch milliseconds, within a day. */
  readonly endsAtMs: number;
  /** The fewest days left that were sent. */
  readonly toldDays: number;
}

/** A certificate as a run saw it. */
export interface CertificateSight {
  readonly slotMs: number;
  /** Whole days to its end; negative once that is past. */
  readonly daysRemaining: number;
}

/**
 * Whether subscribers are to hear of a certificate: once for each day from 30 down to 0, of each.
 * A target can serve an old and a new one side by side, so a later one takes over only when the
 * one before it has ended. One that has ended is not near its end: the check itself fails by it.
 *
 * @returns the run-down after it, of which is to be told; null where there is nothing new
 */
export function afterSight(before: RunDown | null, sight: CertificateSight): RunDown | null {
  const { slotMs, daysRemaining } = sight;
  if (daysRemaining < 0 || daysRemaining > MAX_THRESHOLD_DAYS) return null;
  const endsAtMs = slotMs + daysRemaining * DAY_MS;
  const runDown = { endsAtMs, toldDays: daysRemaining };
  if (before === null) return runDown;
  // Days are counted in whole, so the same end looks up to a day apart.
  const isLater = endsAtMs > before.endsAtMs + DAY_MS;
  if (isLater) return slotMs > before.endsAtMs ? runDown : null;
  return daysRemaining < before.toldDays ? runDown : null;
}
