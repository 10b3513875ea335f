import type { ResultSink } from '../output/result-sink.ts';

/** Everything to both; the second one's flush does not wait for the first one's. */
export function teeSink(first: ResultSink, second: ResultSink): ResultSink {
  return {
    result(result) {
      first.result(result);
      second.result(result);
    },
    missed(missed) {
      first.missed(missed);
      second.missed(missed);
    },
    async flush(signal) {
      await Promise.all([first.flush(signal), second.flush(signal)]);
    },
  };
}
