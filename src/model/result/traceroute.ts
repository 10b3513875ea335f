/**
 * One hop of the route to a target (src/agent/README.md, "Evidence: traceroute and packet
 * capture"). Times in milliseconds, with microseconds.
 */
export interface TracerouteHop {
  /** 1 for the first router. */
  readonly hop: number;
  /** The address that replied; null if none did. */
  readonly address: string | null;
  /** Its name; null if it has none, or none was found in time. */
  readonly host: string | null;
  readonly sent: number;
  readonly received: number;
  readonly lossPercent: number;
  /** null without replies, like the following fields. */
  readonly lastMs: number | null;
  readonly avgMs: number | null;
  readonly bestMs: number | null;
  readonly worstMs: number | null;
  /** Standard deviation of the population. */
  readonly stdDevMs: number | null;
}

/** The route to a target, as far as it was found. */
export interface Traceroute {
  readonly hostname: string;
  readonly resolvedIp: string;
  readonly hops: readonly TracerouteHop[];
  readonly destinationReached: boolean;
  /** Why it ends before the target; null if it does not. */
  readonly truncationReason: string | null;
}

/** No route on the internet has more hops. */
export const MAX_HOPS = 64;
