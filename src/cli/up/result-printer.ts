import type { LineKind } from '../../agent/output/line-queue.ts';
import type { NotificationAttempt } from '../../model/alerting/notification-attempt.ts';
import type { Check } from '../../model/check/check.ts';
import type { MissedSlots } from '../../model/result/missed-slots.ts';
import type { CheckResult } from '../../model/result/result.ts';
import { systemCodeOf } from '../../runtime/errors.ts';
import type { StopSignals } from '../../runtime/lifecycle.ts';
import type { Logger } from '../../runtime/logger.ts';
import { paletteFor, wantsColour } from '../print/colour.ts';
import type { Terminal } from '../terminal.ts';
import { PrettySink } from './pretty-sink.ts';
import { ResultFilter, type ResultFilterOptions } from './result-filter.ts';

export interface ResultPrinterParts extends ResultFilterOptions {
  readonly terminal: Terminal;
  readonly log: Logger;
  readonly stop: Pick<StopSignals, 'request'>;
}

/** For a slow reader of the last lines. */
const FLUSH_LIMIT_MS = 2_000;

/** The results of `up` on stdout, below its greeting. */
export interface ResultPrinter {
  /** A line of the agent's stdout. Those that come before `show` wait for it. */
  readonly line: (line: string) => void;
  /** How an attempt to send a notification ended. Those before `show` wait for it. */
  readonly attempt: (attempt: NotificationAttempt) => void;
  show(greeting: string): void;
  /** Sets the current checks of the file. */
  know(checks: readonly Check[]): void;
  end(): Promise<void>;
}

export function openResultPrinter(
  { terminal, log, stop, all }: ResultPrinterParts,
  first: readonly Check[],
): ResultPrinter {
  const { stdout, env, clock } = terminal;
  const filter = new ResultFilter({ all });
  let checks: ReadonlyMap<string, Check> = new Map();
  const know = (known: readonly Check[]): void => {
    checks = new Map(known.map((check) => [check.id, check]));
    filter.know(known);
  };
  know(first);
  const sink = new PrettySink(terminal, {
    palette: paletteFor(wantsColour(stdout, env)),
    checkOf: (id) => checks.get(id),
    onDropped: (_kind: LineKind) => {},
    onClosed: (error) => {
      const code = systemCodeOf(error) ?? error.message;
      if (code !== 'EPIPE') log.error(`stdout cannot be written (${code}): results are lost`);
      stop.request('stdout was closed');
    },
  });
  const print = (line: string): void => {
    try {
      // Our own program wrote it a moment ago.
      const parsed = JSON.parse(line) as CheckResult | { readonly missed: MissedSlots };
      if ('missed' in parsed) {
        if (filter.wantsMissed(parsed.missed)) sink.missed(parsed.missed);
        return;
      }
      if (filter.wants(parsed)) sink.result(parsed);
      const firstRound = filter.takeFirstRound();
      if (firstRound !== null) sink.note(firstRound);
    } catch (error) {
      log.error({ err: error }, 'a line of the agent is not a result; please report it');
    }
  };
  let waiting: (() => void)[] | null = [];
  const inOrder = (work: () => void): void => {
    if (waiting === null) work();
    else waiting.push(work);
  };
  return {
    line: (line) => inOrder(() => print(line)),
    attempt: (attempt) => inOrder(() => sink.attempt(attempt)),
    show(text) {
      stdout.write(text);
      filter.begin(clock.wallMs());
      for (const work of waiting ?? []) work();
      waiting = null;
    },
    know,
    async end() {
      const limit = new AbortController();
      const cancel = clock.after(FLUSH_LIMIT_MS, () => limit.abort());
      await sink.flush(limit.signal);
      cancel();
    },
  };
}
