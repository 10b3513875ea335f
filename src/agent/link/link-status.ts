/** How the agent stands with those it works for, at the moment of a request. */
export interface LinkStatus {
  /** What waits for the service; null where there is none. */
  readonly spool: {
    readonly records: number;
    readonly bytes: number;
    /** Milliseconds; null where none waits. */
    readonly oldestAgeMs: number | null;
  } | null;
  /** Epoch milliseconds of the service's last answer; null where there is none. */
  readonly lastContactMs: number | null;
}
