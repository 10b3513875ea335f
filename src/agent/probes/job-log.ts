import type { LogEntry } from '../../model/result/details/check-detail.ts';
import type { Clock } from '../../runtime/clock.ts';
import { countText } from '../../runtime/text/count-text.ts';
import { NOT_SCRUBBED, type Scrub, shortenedText } from '../secrets/cut-scrubbed.ts';

const MAX_ENTRIES = 200;
/** Maximum number of entries while the agent is short of CPU. */
const MAX_BRIEF_ENTRIES = 10;
const MAX_ENTRY_CHARS = 2000;
/** Reserved for entries at the end: a trace has 33 lines, a conclusion about 15. */
const MAX_LAST_ENTRIES = 50;

interface JobLogOptions {
  readonly isBrief?: boolean;
  /** Masks secrets in entries before they are cut. */
  readonly scrub?: Scrub;
}

/** The log of one attempt for its operator; bounded, and reports how much it left out. */
export class JobLog {
  readonly #clock: Clock;
  readonly #scrub: Scrub;
  readonly #entries: LogEntry[] = [];
  readonly #last: LogEntry[] = [];
  readonly #maxEntries: number;
  #dropped = 0;

  constructor(clock: Clock, { isBrief = false, scrub = NOT_SCRUBBED }: JobLogOptions = {}) {
    this.#clock = clock;
    this.#scrub = scrub;
    this.#maxEntries = isBrief ? MAX_BRIEF_ENTRIES : MAX_ENTRIES;
  }

  info(message: string): void {
    this.#add('info', message);
  }

  warn(message: string): void {
    this.#add('warn', message);
  }

  error(message: string): void {
    this.#add('error', message);
  }

  /** Adds to the end of the log, however long it is: evidence, and the conclusion. */
  conclude(level: LogEntry['level'], message: string): void {
    if (this.#last.length < MAX_LAST_ENTRIES) this.#last.push(this.#entryOf(level, message));
  }

  entries(): readonly LogEntry[] {
    if (this.#dropped === 0 && this.#last.length === 0) return this.#entries;
    const msg = `${countText(this.#dropped, 'more line was', 'more lines were')} left out`;
    const cut = this.#dropped === 0 ? [] : [this.#entryOf('warn', msg)];
    return [...this.#entries, ...cut, ...this.#last];
  }

  #add(level: LogEntry['level'], message: string): void {
    if (this.#entries.length >= this.#maxEntries) this.#dropped += 1;
    else this.#entries.push(this.#entryOf(level, message));
  }

  #entryOf(level: LogEntry['level'], message: string): LogEntry {
    const msg = shortenedText(message, MAX_ENTRY_CHARS, this.#scrub);
    return { time: this.#clock.wallMs(), level, msg };
  }
}
