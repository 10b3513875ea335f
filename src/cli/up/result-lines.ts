import type { ResultSink } from '../../agent/output/result-sink.ts';
import type { CheckResult, MissedSlots } from '../../model/result/result.ts';
import type { Logger } from '../../runtime/logger.ts';

/** What the agent writes to stdout: a result, or missed slots, one JSON object a line. */
type ResultLine = CheckResult | { readonly missed: MissedSlots };

/** Gives the sink what a line of the agent's stdout tells. */
export function resultLineReader(
  sink: Pick<ResultSink, 'result' | 'missed'>,
  log: Logger,
): (line: string) => void {
  return (line) => {
    try {
      // Our own program wrote it a moment ago.
      const told = JSON.parse(line) as ResultLine;
      if ('missed' in told) sink.missed(told.missed);
      else sink.result(told);
    } catch (error) {
      log.error({ err: error }, 'a line of the agent is no result; please report it');
    }
  };
}
