import type { Check } from '../../model/check/check.ts';
import type { ResultSink } from '../output/result-sink.ts';
import type { BodyUse } from '../probes/http/body/body-memory.ts';
import type { Permit } from '../scheduler/permits/permits.ts';
import type { ArtifactTaker } from './artifacts/failed-body.ts';
import type { ConnectivityCheck } from './connectivity.ts';
import type { EvidenceParts } from './gather-evidence.ts';
import type { Handover } from './handover.ts';
import type { AttemptParts } from './observe.ts';
import type { LoadShedding, Sheddable } from './starvation/load-shedding.ts';

export interface RunnerParts extends AttemptParts {
  /** The `runLocation` of results; called once per run. */
  readonly location: () => string;
  /** See `traceKeyOf`. */
  readonly traceSalt: string | null;
  readonly sink: Pick<ResultSink, 'result' | 'missed'>;
  readonly connectivity: ConnectivityCheck;
  /** null if no other location can take retries. */
  readonly handover: Handover | null;
  /** null if artifacts cannot be stored. */
  readonly artifacts: ArtifactTaker | null;
  /** null: no diagnostic passes. */
  readonly evidence: EvidenceParts['evidence'];
  /** Called for each attempt that did not count because the agent was short of CPU. */
  readonly onStarved: () => void;
  readonly loadShedding: Pick<LoadShedding, 'sheds' | 'shedsRunOf' | 'hadNoVerdict' | 'starved'>;
  /** Called for each thing skipped because the agent is short of CPU. */
  readonly onShed: (what: Sheddable) => void;
  /** Called for each body that did not fit in memory: it is read again later, or cut. */
  readonly onBodyWithoutRoom: (use: BodyUse) => void;
}

export interface Run {
  readonly check: Check;
  /** Epoch milliseconds; names the run. */
  readonly slotMs: number;
  /** Set for a one-off run; null: derived from check, location and slot. */
  readonly sequenceId: string | null;
  /** Retries of this run that another location made. */
  readonly retriesMade: number;
  /** Epoch milliseconds of the run's first attempt in another location; null if there was none. */
  readonly firstStartedAtMs: number | null;
  /**
   * Ends the run at once: with the reason RUN_CANCELLED as cancelled, else as missed, because a
   * stopping agent is not an outage of the target.
   */
  readonly signal: AbortSignal;
  readonly permit: Permit;
}
