import type { LineKind } from '../../agent/output/line-queue.ts';
import type { ResultSink } from '../../agent/output/result-sink.ts';
import type { NotificationAttempt } from '../../model/alerting/notification-attempt.ts';
import type { Check } from '../../model/check/check.ts';
import type { MissedSlots } from '../../model/result/missed-slots.ts';
import type { CheckResult } from '../../model/result/result.ts';
import { countText } from '../../runtime/text/count-text.ts';
import type { Palette } from '../print/colour.ts';
import { terminalWidth, wrapped } from '../print/columns.ts';
import { prettyAttempt } from '../print/pretty-attempt.ts';
import { prettyMissed, prettyResult } from '../print/pretty-result.ts';
import { timeOfDay } from '../print/time-text.ts';
import type { Terminal } from '../terminal.ts';

/** The time of day and a space. */
const TIME_COLUMNS = 9;
/** The limit of results that wait for a reader of stdout; further results are left out and counted. */
const MAX_WAITING_BYTES = 1024 * 1024;

export interface PrettySinkOptions {
  readonly palette: Palette;
  /** The check with this id, if known. */
  readonly checkOf: (id: string) => Check | undefined;
  readonly onDropped: (kind: LineKind, count: number) => void;
  /** Called when stdout was closed (`| head`) or cannot be written. */
  readonly onClosed: (error: Error) => void;
}

/** Prints results to stdout as they come, for `vedette up`. */
export class PrettySink implements ResultSink {
  readonly #terminal: Terminal;
  readonly #options: PrettySinkOptions;
  #leftOut = 0;

  constructor(terminal: Terminal, options: PrettySinkOptions) {
    this.#terminal = terminal;
    this.#options = options;
    terminal.stdout.on('error', options.onClosed);
  }

  result(result: CheckResult): void {
    const { checkOf, palette } = this.#options;
    const kind = result.resultType === 'ATTEMPT' ? 'attempt' : 'result';
    this.#print(kind, prettyResult(result, checkOf(result.checkId), palette, this.#width));
  }

  missed(missed: MissedSlots): void {
    const { checkOf, palette } = this.#options;
    this.#print('missed', prettyMissed(missed, checkOf(missed.checkId), palette, this.#width));
  }

  /** How an attempt to send a notification ended. */
  attempt(attempt: NotificationAttempt): void {
    this.#print('result', prettyAttempt(attempt, this.#options.palette, this.#width));
  }

  /** A line about all checks. */
  note(text: string): void {
    this.#print('result', `${this.#lines(text).join('\n')}\n`);
  }

  #lines(text: string): readonly string[] {
    const width = this.#width;
    return width === null ? [text] : wrapped(text, width);
  }

  /** The columns beside the time; null if unlimited. Read each time: a terminal may change its width. */
  get #width(): number | null {
    const width = terminalWidth(this.#terminal.stdout);
    return width === null ? null : width - TIME_COLUMNS;
  }

  flush(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted || !this.#terminal.stdout.writable) {
        resolve();
        return;
      }
      const done = (): void => {
        signal.removeEventListener('abort', done);
        resolve();
      };
      signal.addEventListener('abort', done, { once: true });
      // Calls `done` when everything written before has been flushed or cannot be.
      this.#terminal.stdout.write('', done);
    });
  }

  #print(kind: LineKind, text: string): void {
    const { stdout, clock } = this.#terminal;
    if (!stdout.writable || stdout.writableLength > MAX_WAITING_BYTES) {
      this.#leftOut += 1;
      this.#options.onDropped(kind, 1);
      return;
    }
    if (this.#leftOut > 0) {
      const what = countText(
        this.#leftOut,
        'result was left out: it was',
        'results were left out: they were',
      );
      stdout.write(`${this.#lines(`${what} not read in time`).join('\n')}\n`);
      this.#leftOut = 0;
    }
    const time = timeOfDay(clock.wallMs());
    stdout.write(`${this.#options.palette.faint(time)} ${text}`);
  }
}
