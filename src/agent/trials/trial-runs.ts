import type { MissedReason } from '../../model/result/missed-slots.ts';
import type { CheckResult } from '../../model/result/result.ts';
import type { Run, RunnerParts } from '../run/run.ts';
import { runCheck } from '../run/run-check.ts';
import type { OneOffOutcome } from '../scheduler/one-offs.ts';

/** How a trial of a check that is not saved ended. */
export type TrialOutcome =
  | { readonly kind: 'result'; readonly result: CheckResult }
  | { readonly kind: 'missed'; readonly reason: MissedReason }
  /** This agent cannot read the check. */
  | { readonly kind: 'refused'; readonly problem: string };

/** Why a trial without a result was not run, by the outcome of its run. */
const MISSED: Readonly<Record<OneOffOutcome, MissedReason>> = {
  ended: 'agent_fault',
  too_late: 'agent_busy',
  stopped: 'agent_stopped',
  refused: 'agent_busy',
};

/**
 * Runs checks that are not saved, each once. Their results go neither into the spool nor into the
 * metrics; they have no artifacts and no evidence, and no other location gets their retries.
 */
export class TrialRuns {
  readonly #parts: RunnerParts;
  /** Outcomes by sequence id; null until the run has ended. */
  readonly #outcomes = new Map<string, TrialOutcome | null>();

  constructor(parts: RunnerParts) {
    this.#parts = { ...parts, handover: null, artifacts: null, evidence: null };
  }

  /** The next run with this sequence id is a trial. */
  begin(sequenceId: string): void {
    this.#outcomes.set(sequenceId, null);
  }

  /** @returns false if the run is not a trial, and was not run here */
  async run(run: Run): Promise<boolean> {
    const { sequenceId } = run;
    if (sequenceId === null || !this.#outcomes.has(sequenceId)) return false;
    const result = (one: CheckResult): void => {
      this.#outcomes.set(sequenceId, { kind: 'result', result: one });
    };
    // Without retries, whatever the service sends: it accepts only one result.
    const check = { ...run.check, retryStrategy: null, doubleCheck: false };
    const reason = await runCheck(
      { ...run, check },
      { ...this.#parts, sink: { result, missed() {} } },
    );
    if (reason !== null) this.#outcomes.set(sequenceId, { kind: 'missed', reason });
    return true;
  }

  /** Removes and returns the outcome of a trial. */
  end(sequenceId: string, outcome: OneOffOutcome): TrialOutcome {
    const known = this.#outcomes.get(sequenceId) ?? null;
    this.#outcomes.delete(sequenceId);
    return known ?? { kind: 'missed', reason: MISSED[outcome] };
  }
}
