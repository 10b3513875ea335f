import type { MissedSlots } from '../../model/result/missed-slots.ts';
import type { CheckResult } from '../../model/result/result.ts';

/** Receives results: stdout, a terminal, or the spool for a service. */
export interface ResultSink {
  /** Passes a result to the sink, which is responsible for it from then on. Never throws. */
  result(result: CheckResult): void;
  missed(missed: MissedSlots): void;
  /** Resolves when all results so far are delivered, or the signal aborts. */
  flush(signal: AbortSignal): Promise<void>;
}
