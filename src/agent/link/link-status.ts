/** How the agent stands with those it works for, at the moment of a request. */
export interface LinkStatus {
  /** What waits for the service; null where there is none. */
  readonly spool: {
    readonly records: number;
    readonly bytes: number;
    /** Milliseconds; null where none waits. */
    readonly oldestAgeMs: number | null;
  } | null;
  /** Epoch milliseconds; null where there is no service, or it has not answered. See ServiceClient. */
  readonly lastContactMs: number | null;
  /**
   * How far this machine's clock is ahead of the service's, milliseconds; below 0 it is behind. null
   * where there is no service, or it has not answered.
   */
  readonly clockAheadMs: number | null;
}
