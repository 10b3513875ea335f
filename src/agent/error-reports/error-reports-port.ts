import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { ServiceClient } from '../service-client/service-client.ts';

/**
 * Reports of the agent's own errors: external observability (src/agent/README.md, "Error
 * reports").
 */
export interface ErrorReports {
  /** Reports any thrown value, within about a minute. Takes little time and never throws. */
  note(error: unknown): void;
  /**
   * Reports an error that ends the process. It is on disk when this returns: the next process
   * reports it if this one cannot.
   */
  recordCrash(error: unknown): void;
  /** Reports the crashes of earlier processes and all new errors until the signal aborts. */
  run(parts: ReportingParts, signal: AbortSignal): Promise<void>;
  /** To be called after `run`: sends the waiting reports, for at most 2 s. Never rejects. */
  flush(signal: AbortSignal): Promise<void>;
}

export interface ReportingParts {
  readonly client: Pick<ServiceClient, 'post'>;
  readonly agentId: string;
}

export interface ErrorReportsOptions {
  readonly clock: Clock;
  /** null: crashes are in memory only. */
  readonly dataDir: string | null;
  readonly version: string;
  readonly log: Logger;
}
