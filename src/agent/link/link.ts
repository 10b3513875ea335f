import type { MissedSlots } from '../../model/result/result.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { Moment } from '../../runtime/up-time.ts';
import type { AgentMetrics } from '../health/metrics.ts';
import type { FaultReports } from '../observability/fault-reports.ts';
import type { ResultSink } from '../output/result-sink.ts';
import type { Handover } from '../run/handover.ts';
import type { OneOffOutcome } from '../scheduler/one-offs.ts';
import type { SecretsVault } from '../secrets/vault.ts';
import type { SlotObserver } from '../slots/slot-observer.ts';
import type { CheckSource } from '../source/check-source.ts';
import type { ArtifactOutbox } from '../upload/artifact-outbox.ts';
import type { LinkStatus } from './link-status.ts';

/** What an agent works for: where its checks come from, and where its results go. */
export interface Link {
  readonly source: CheckSource;
  readonly sink: ResultSink;
  /** null: every retry is made here. */
  readonly handover: Handover | null;
  /** null: no artifacts are saved, only results. */
  readonly artifacts: Pick<ArtifactOutbox, 'add'> | null;
  readonly account: SlotObserver;
  /** What is not delivered when the process ends waits on disk for the next one. */
  readonly outlivesProcess: boolean;
  readonly status: () => LinkStatus;
  /**
   * What the process before this one left without an answer, up to the instant (epoch milliseconds)
   * from which the plan is run here. Called once, after the first set.
   */
  leftBefore(startMs: number): readonly MissedSlots[];
  /** All of that is reported to the sink: from now on the ledger has only this process's slots. */
  ledgerIsOurs(): void;
  /**
   * The process did not run from this moment to now: polls for its assignments where other agents may
   * have the checks by now. null where there is nothing to ask.
   *
   * @returns resolves when the source has answered, or the service has refused to; may never resolve
   */
  askAnew(since: Moment): Promise<void> | null;
  /** The outcome of a run that the source passed on with `onRun`. */
  runEnded(runId: string, outcome: OneOffOutcome): void;
  /** Works beside the runs, until the signal aborts. */
  work(signal: AbortSignal): Promise<void>;
  /** No new run begins here from now on: other agents may have the checks. Never rejects. */
  release(signal: AbortSignal): Promise<void>;
  /** The last run has ended, and `work` too: delivers what can be by the signal, and lets go. */
  close(signal: AbortSignal): Promise<void>;
}

/** The runs, as a link needs to know of them. */
export interface LinkedRuns {
  readonly running: number;
  readonly queued: number;
  /** Epoch milliseconds up to which every slot was taken up or reported. */
  readonly reachedMs: number;
}

export interface LinkParts {
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<
    AgentMetrics,
    'dropped' | 'missed' | 'spoolDropped' | 'uploaded' | 'rejected'
  >;
  readonly runs: LinkedRuns;
  /** Whether packets can be captured here. */
  readonly captures: Promise<boolean>;
  readonly reports: Pick<FaultReports, 'run' | 'flush'>;
  readonly secrets: Pick<SecretsVault, 'scrubber'>;
}

export type OpenLink = (parts: LinkParts) => Promise<Link>;
