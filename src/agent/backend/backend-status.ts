/** The state of the backend, for metrics and health. */
export interface BackendStatus {
  /** Records for the service; null without a service. */
  readonly spool: {
    readonly records: number;
    readonly bytes: number;
    /** Milliseconds; null if there are none. */
    readonly oldestAgeMs: number | null;
  } | null;
  /** Epoch milliseconds; null if there is no service, or it has not answered. See ServiceClient. */
  readonly lastContactMs: number | null;
  /**
   * How far this machine's clock is ahead of the service's, milliseconds; below 0 it is behind.
   * null if there is no service, or it has not answered.
   */
  readonly clockAheadMs: number | null;
}
