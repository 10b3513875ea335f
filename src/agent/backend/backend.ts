import type { MissedSlots } from '../../model/result/missed-slots.ts';
import type { Moment } from '../../runtime/boot-clock.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { ErrorReports } from '../error-reports/error-reports.ts';
import type { AgentMetrics } from '../metrics/metrics.ts';
import type { ResultSink } from '../output/result-sink.ts';
import type { Handover } from '../run/handover.ts';
import type { OneOffOutcome } from '../scheduler/one-offs.ts';
import type { AgentSecrets } from '../secrets/agent-secrets.ts';
import type { SlotObserver } from '../slots/slot-observer.ts';
import type { CheckSource } from '../source/check-source.ts';
import type { TrialOutcome } from '../trials/trial-runs.ts';
import type { ArtifactOutbox } from '../upload/artifact-outbox.ts';
import type { BackendStatus } from './backend-status.ts';

/** Where the agent's checks come from, and where its results go. */
export interface Backend {
  readonly source: CheckSource;
  readonly sink: ResultSink;
  /** null if the agent runs every retry itself. */
  readonly handover: Handover | null;
  /** null: no artifacts are saved. */
  readonly artifacts: Pick<ArtifactOutbox, 'add'> | null;
  readonly slots: SlotObserver;
  /** Whether undelivered results are on disk for the next process. */
  readonly outlivesProcess: boolean;
  readonly status: () => BackendStatus;
  /**
   * The slots that the previous process left unanswered, up to the instant (epoch milliseconds)
   * from which this one runs the plan. Called once, after the first set.
   */
  leftBefore(startMs: number): readonly MissedSlots[];
  /**
   * Call it when these slots are reported: from then on the ledger has only this process's slots.
   */
  ledgerIsOurs(): void;
  /**
   * Call it after the process was suspended since this moment: polls for the assignments if other
   * agents may have the checks by now. null if no poll is needed.
   *
   * @returns resolves when the source has answered or the service has refused; may never resolve
   */
  pollForAssignments(since: Moment): Promise<void> | null;
  /** The outcome of a run that the source passed on with `onRun`. */
  runEnded(runId: string, outcome: OneOffOutcome): void;
  /** The outcome of a trial that the source passed on with `onTrial`. */
  trialEnded(trialId: string, outcome: TrialOutcome): void;
  /** Does the backend's work in parallel with the runs, until the signal aborts. */
  work(signal: AbortSignal): Promise<void>;
  /**
   * To be called when no further run starts: releases the checks to other agents. Never rejects.
   */
  release(signal: AbortSignal): Promise<void>;
  /**
   * To be called after the last run and `work`: delivers results until the signal aborts, and
   * closes everything.
   */
  close(signal: AbortSignal): Promise<void>;
}

/** The current runs. */
export interface RunProgress {
  readonly running: number;
  readonly queued: number;
  /** Epoch milliseconds up to which every slot was taken or reported. */
  readonly reachedMs: number;
}

export interface BackendParts {
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<
    AgentMetrics,
    'dropped' | 'missed' | 'spoolDropped' | 'uploaded' | 'rejected' | 'totals' | 'maxLatenessMs'
  >;
  readonly runs: RunProgress;
  /**
   * Reports whether packets can be captured on this machine, which is known only after a long
   * search.
   */
  readonly captures: Promise<() => boolean>;
  readonly reports: Pick<ErrorReports, 'run' | 'flush'>;
  readonly secrets: Pick<AgentSecrets, 'scrubber'>;
}

export type OpenBackend = (parts: BackendParts) => Promise<Backend>;
