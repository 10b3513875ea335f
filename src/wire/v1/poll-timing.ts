/** The longest that the service holds a poll where nothing changes. */
export const LONG_POLL_MS = 25_000;
/** Without a poll for this long, the agent's checks move to other agents. */
export const DEFAULT_LEASE_MS = 15_000;

/** How long the service holds a poll. Only the arrival of a poll renews the lease: three fit into it. */
export function pollHoldMs(leaseMs: number): number {
  return Math.min(LONG_POLL_MS, Math.floor(leaseMs / 3));
}

/** When the agent gives up a poll: after a held one is answered, a third of the lease before its end. */
export function pollTimeoutMs(leaseMs: number): number {
  return Math.floor((leaseMs * 2) / 3);
}
