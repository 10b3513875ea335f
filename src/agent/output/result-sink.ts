import type { CheckResult, MissedSlots } from '../../model/result/result.ts';

/** Where results go: a line on stdout, a terminal, or a spool on its way to a service. */
export interface ResultSink {
  /** Takes one result over; the sink alone is answerable for it from then on. Never throws. */
  result(result: CheckResult): void;
  missed(missed: MissedSlots): void;
  /** Resolves when all that was taken over is delivered, or as far as it can be by the signal. */
  flush(signal: AbortSignal): Promise<void>;
}
