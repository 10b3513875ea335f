/**
 * - `starting`: before the first checks are known
 * - `running`: runs checks when they are due
 * - `draining`: starts no runs, and lets active ones finish
 */
export type AgentState = 'starting' | 'running' | 'draining';

/** The agent at the moment of a request. */
export interface HealthStatus {
  readonly state: AgentState;
  readonly checks: number;
  readonly running: number;
  /** Runs that only wait for their targets. */
  readonly waiting: number;
  readonly queued: number;
  readonly missedSlots: number;
  /** Result lines that were lost. */
  readonly droppedLines: number;
  /** Records in the spool; null without a spool. */
  readonly spoolDepth: number | null;
  /** Age of the oldest of them in whole seconds; null if there is none. */
  readonly spoolOldestSeconds: number | null;
  /** ISO 8601; see `BackendStatus.lastContactMs`. */
  readonly lastContact: string | null;
  /** Whether the last read of the check file succeeded; null without a check file. */
  readonly checkFileUsable: boolean | null;
  /** Monotonic instant of the scheduler's last tick; null before its first. */
  readonly lastTickMs: number | null;
}

export const HEALTH_OF_START: HealthStatus = {
  state: 'starting',
  checks: 0,
  running: 0,
  waiting: 0,
  queued: 0,
  missedSlots: 0,
  droppedLines: 0,
  spoolDepth: null,
  spoolOldestSeconds: null,
  lastContact: null,
  checkFileUsable: null,
  lastTickMs: null,
};

export interface HealthResponse {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/**
 * After this long without a tick of the scheduler, the agent counts as dead (src/agent/README.md,
 * "Health").
 */
const MAX_TICK_AGE_MS = 30_000;

const NOT_READY: Readonly<Record<AgentState, string | null>> = {
  starting: 'starting: the first checks are not in yet',
  running: null,
  draining: 'draining: the agent is stopping and starts no new runs',
};

export function textResponse(status: number, line: string): HealthResponse {
  return { status, contentType: 'text/plain; charset=utf-8', body: `${line}\n` };
}

/** 200 when the agent runs checks, else 503 with the reason. */
export function readiness({ state }: HealthStatus): HealthResponse {
  const reason = NOT_READY[state];
  return reason === null ? textResponse(200, 'ready') : textResponse(503, `not ready: ${reason}`);
}

/**
 * 200, or 503 if the scheduler of a running agent has not ticked for 30 s. It need not tick while
 * the agent starts or drains, and an agent that is killed while it drains loses results.
 */
export function liveness({ state, lastTickMs }: HealthStatus, nowMs: number): HealthResponse {
  const ageMs = state === 'running' && lastTickMs !== null ? nowMs - lastTickMs : 0;
  if (ageMs <= MAX_TICK_AGE_MS) return textResponse(200, 'live');
  return textResponse(
    503,
    `not live: the scheduler has not ticked for ${Math.floor(ageMs / 1000)} s (allowed: ${MAX_TICK_AGE_MS / 1000} s)`,
  );
}

/** Always 200: for people and dashboards, not for probes. */
export function health(status: HealthStatus, version: string): HealthResponse {
  const { lastTickMs: _, ...shown } = status;
  return {
    status: 200,
    contentType: 'application/json; charset=utf-8',
    body: `${JSON.stringify({ version, ...shown })}\n`,
  };
}
