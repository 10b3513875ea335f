import type { ResultSink } from '../output/result-sink.ts';
import type { CheckSource } from '../source/check-source.ts';
import type { Backend } from './backend.ts';

/** Stand-alone: checks from a file, results to a sink. */
export function createFileBackend({
  source,
  sink,
}: {
  readonly source: CheckSource;
  readonly sink: ResultSink;
}): Backend {
  return {
    source,
    sink,
    handover: null,
    artifacts: null,
    slots: { began() {}, ended() {} },
    outlivesProcess: false,
    status: () => ({ spool: null, lastContactMs: null, clockAheadMs: null }),
    leftBefore: () => [],
    ledgerIsOurs() {},
    pollForAssignments: () => null,
    runEnded() {},
    trialEnded() {},
    work: async () => {},
    release: async () => {},
    close: (signal) => sink.flush(signal),
  };
}
