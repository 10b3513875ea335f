/** Early pings within this time of the first one are counted in its event. */
const EARLY_EVENT_MS = 3_600_000;

/** The entry of a heartbeat's history that counts its early pings. */
export interface EarlyEvent {
  readonly id: string;
  /** Its first ping, epoch milliseconds. */
  readonly sinceMs: number;
}

/**
 * Returns the event that counts an early ping: the event of the early pings just before it, or a new one.
 *
 * @param known the event of the last ping; null if that ping was not early
 */
export function earlyEventOf(
  known: EarlyEvent | null,
  atMs: number,
  newId: () => string,
): EarlyEvent {
  if (known !== null && atMs - known.sinceMs < EARLY_EVENT_MS) return known;
  return { id: newId(), sinceMs: atMs };
}
