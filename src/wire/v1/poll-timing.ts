/** The longest that the service holds a poll while nothing changes. */
export const LONG_POLL_MS = 25_000;
/** Without a poll for this long, the agent's checks move to other agents. */
export const DEFAULT_LEASE_MS = 15_000;

/**
 * How long the service holds a poll. Only the arrival of a poll renews the lease, so three polls
 * fit into it.
 *
 * @returns milliseconds
 */
export function pollHoldMs(leaseMs: number): number {
  return Math.min(LONG_POLL_MS, Math.floor(leaseMs / 3));
}

/**
 * How long the agent waits for the answer to a poll: longer than the service holds it, and a third
 * of the lease less than the lease.
 *
 * @returns milliseconds
 */
export function pollTimeoutMs(leaseMs: number): number {
  return Math.floor((leaseMs * 2) / 3);
}
