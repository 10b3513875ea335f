import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { ServiceClient } from '../upload/service-client.ts';

/**
 * Reports of the agent's own errors: external observability (src/agent/README.md, "Error
 * reports").
 */
export interface FaultReports {
  /** Whatever was thrown: it is reported within a minute or so. Cheap, and never throws. */
  note(error: unknown): void;
  /**
   * The same for what ends the process. It is on disk when this returns, so that the next process
   * reports it where this one does not come to it.
   */
  recordCrash(error: unknown): void;
  /** Reports what the process before left, and what comes, until the signal aborts. */
  run(parts: ReportingParts, signal: AbortSignal): Promise<void>;
  /** After `run`: reports what waits, in the little time that it is worth. Never rejects. */
  flush(signal: AbortSignal): Promise<void>;
}

export interface ReportingParts {
  readonly client: Pick<ServiceClient, 'post'>;
  readonly agentId: string;
}

export interface FaultReportsOptions {
  readonly clock: Clock;
  /** null: nothing outlives the process. */
  readonly dataDir: string | null;
  /** The agent's own. */
  readonly version: string;
  readonly log: Logger;
}
