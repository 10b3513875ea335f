import type { ResultSink } from '../../agent/output/result-sink.ts';
import type { CheckResult, MissedSlots } from '../../model/result/result.ts';
import type { Logger } from '../../runtime/logger.ts';

/** What the agent writes to stdout: a result, or missed slots, one JSON object a line. */
type ResultLine = CheckResult | { readonly missed: MissedSlots };

/** Passes a line of the agent's stdout to the sink. */
export function resultLineReader(
  sink: Pick<ResultSink, 'result' | 'missed'>,
  log: Logger,
): (line: string) => void {
  return (line) => {
    try {
      // Our own program wrote it a moment ago.
      const parsed = JSON.parse(line) as ResultLine;
      if ('missed' in parsed) sink.missed(parsed.missed);
      else sink.result(parsed);
    } catch (error) {
      log.error({ err: error }, 'a line of the agent is no result; please report it');
    }
  };
}
