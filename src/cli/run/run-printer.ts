import type { Check } from '../../model/check/check.ts';
import type { MissedSlots } from '../../model/result/missed-slots.ts';
import type { CheckResult } from '../../model/result/result.ts';
import { runResultOf } from '../../model/result/run-result.ts';
import { countText } from '../../runtime/text/count-text.ts';
import { paletteFor, wantsColour } from '../print/colour.ts';
import { fits, terminalWidth, wrapped } from '../print/columns.ts';
import type { OutputFormat } from '../print/output-format.ts';
import { prettyMissed, prettyResult, prettySkipped } from '../print/pretty-result.ts';
import { Progress } from '../print/progress.ts';
import { terminalSafeJsonLine } from '../print/terminal-safe.ts';
import { prettyDuration } from '../print/time-text.ts';
import type { Terminal } from '../terminal.ts';
import { allPassed, noRunsYet, type RunCounts } from './run-outcome.ts';
import type { Selection } from './select-checks.ts';

/** Prints the results of `vedette run` as they arrive, and counts them. */
export class RunPrinter {
  readonly #terminal: Terminal;
  readonly #format: OutputFormat;
  readonly #progress: Progress;
  readonly #startMs: number;
  readonly #checks: ReadonlyMap<string, Check>;
  readonly #counts = noRunsYet();

  constructor(terminal: Terminal, format: OutputFormat, checks: readonly Check[]) {
    this.#terminal = terminal;
    this.#format = format;
    this.#progress = new Progress(terminal, checks.length);
    this.#checks = new Map(checks.map((check) => [check.id, check]));
    this.#startMs = terminal.clock.monotonicMs();
  }

  get counts(): Readonly<RunCounts> {
    return this.#counts;
  }

  started({ id, name }: Check): void {
    this.#progress.started(id, name);
  }

  result(result: CheckResult): void {
    this.#progress.clear();
    this.#terminal.stdout.write(
      this.#format === 'json'
        ? terminalSafeJsonLine(result)
        : prettyResult(
            result,
            this.#checks.get(result.checkId),
            this.#palette('stdout'),
            terminalWidth(this.#terminal.stdout),
          ),
    );
    if (result.resultType === 'FINAL') {
      this.#counts[runResultOf(result)] += 1;
      this.#progress.finished(result.checkId);
    }
    this.#progress.show();
  }

  missed(missed: MissedSlots): void {
    this.#progress.clear();
    this.#counts.missed += 1;
    this.#terminal.stdout.write(
      this.#format === 'json'
        ? terminalSafeJsonLine({ missed })
        : prettyMissed(
            missed,
            this.#checks.get(missed.checkId),
            this.#palette('stdout'),
            terminalWidth(this.#terminal.stdout),
          ),
    );
    this.#progress.finished(missed.checkId);
    this.#progress.show();
  }

  /** Prints which checks were skipped, and how to include them. */
  skipped({ skipped }: Selection): void {
    if (skipped.length === 0) return;
    // `--output json` prints only results.
    const to = this.#format === 'json' ? 'stderr' : 'stdout';
    const ids = skipped.map(({ id }) => id);
    const width = terminalWidth(this.#terminal[to]);
    this.#terminal[to].write(prettySkipped(ids, this.#palette(to), width));
  }

  summary(): void {
    this.#progress.clear();
    if (this.#format === 'json') return;
    const { stdout, clock } = this.#terminal;
    const palette = this.#palette('stdout');
    const { passed, degraded, failed, error, cancelled, missed } = this.#counts;
    const total = passed + degraded + failed + error + cancelled + missed;
    const parts = [
      `${passed} passed`,
      degraded > 0 ? `${degraded} slow` : null,
      failed > 0 ? `${failed} failed` : null,
      error > 0 ? `${error} could not be run` : null,
      cancelled > 0 ? `${cancelled} stopped` : null,
      missed > 0 ? `${missed} missed` : null,
    ].filter((part) => part !== null);
    const paint = allPassed(this.#counts) ? palette.good : palette.bad;
    const took = prettyDuration(clock.monotonicMs() - this.#startMs);
    const what = `${countText(total, 'check')} in ${took}:`;
    const line = `${what} ${paint(parts.join(', '))}`;
    const width = terminalWidth(stdout);
    const lines =
      width === null || fits(line, width)
        ? [line]
        : [what, ...wrapped(parts.join(', '), width).map(paint)];
    stdout.write(`\n${lines.join('\n')}\n`);
  }

  #palette(stream: 'stdout' | 'stderr') {
    return paletteFor(wantsColour(this.#terminal[stream], this.#terminal.env));
  }
}
