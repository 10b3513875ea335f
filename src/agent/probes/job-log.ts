import type { LogEntry } from '../../model/result.ts';
import type { Clock } from '../../runtime/clock.ts';

const MAX_ENTRIES = 200;
const MAX_ENTRY_CHARS = 2000;

/** The story of one attempt for its operator; bounded, and says how much it left out. */
export class JobLog {
  readonly #clock: Clock;
  readonly #entries: LogEntry[] = [];
  #dropped = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
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

  entries(): readonly LogEntry[] {
    if (this.#dropped === 0) return this.#entries;
    const msg = `${this.#dropped} more lines were left out`;
    return [...this.#entries, { time: this.#clock.wallMs(), level: 'warn', msg }];
  }

  #add(level: LogEntry['level'], message: string): void {
    if (this.#entries.length >= MAX_ENTRIES) {
      this.#dropped += 1;
      return;
    }
    const msg =
      message.length > MAX_ENTRY_CHARS ? `${message.slice(0, MAX_ENTRY_CHARS)}…` : message;
    this.#entries.push({ time: this.#clock.wallMs(), level, msg });
  }
}
