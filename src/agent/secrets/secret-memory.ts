import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import { isMaskable } from '../../scrub/scrubber.ts';
import { otherFormsOf } from './secret-forms.ts';

/** How long a replaced value stays secret: runs are under way, and results wait. */
export const KEPT_MS = 3_600_000;
/** Replaced values that are still masked. */
const MAX_REPLACED = 10_000;
/** At once, in number and in all. */
const MAX_SECRETS = 50_000;
const MAX_SECRET_CHARS = 20_000_000;
/** In all, of the other forms of these values. */
const MAX_FORM_CHARS = 10_000_000;
/** Yields to the event loop after this many: checks run meanwhile. */
const VALUES_PER_YIELD = 200;
/** Variables that are logged as not masked. */
const MAX_LOGGED = 1_000;

export interface Secret {
  /** Of its variable; null where it has none, which is never logged. */
  readonly name: string | null;
  readonly value: string;
}

/** Which values are secret: those in force, and those that were until an hour ago. */
export class SecretMemory {
  readonly #clock: Clock;
  readonly #log: Logger;
  #current: ReadonlySet<string> = new Set();
  /** Monotonic milliseconds at which each went, oldest first. */
  readonly #gone = new Map<string, number>();
  #masked: ReadonlySet<string> = new Set();
  readonly #logged = new Set<string>();

  constructor({ clock, log }: { readonly clock: Clock; readonly log: Logger }) {
    this.#clock = clock;
    this.#log = log;
  }

  /** Whether a value is masked. */
  has(value: string): boolean {
    return this.#masked.has(value);
  }

  /** Whether a replaced value was masked for KEPT_MS. */
  get hasExpired(): boolean {
    for (const goneAtMs of this.#gone.values()) return this.#isOver(goneAtMs);
    return false;
  }

  /**
   * These are the secrets from now on. One call at a time.
   *
   * @returns all that is to be masked; null where that is masked already
   */
  async learn(secrets: readonly Secret[]): Promise<readonly string[] | null> {
    const before = this.#current;
    const current = await this.#usable(secrets);
    this.#current = current;
    this.#retain([...before].filter((value) => !current.has(value)));
    return this.#news();
  }

  /** These are secret for as long as if they had just been replaced. Returns what `learn` does. */
  async remember(secrets: readonly Secret[]): Promise<readonly string[] | null> {
    const usable = await this.#usable(secrets);
    this.#retain([...usable].filter((value) => !this.#current.has(value)));
    return this.#news();
  }

  /** These are masked by now. */
  masked(secrets: readonly string[]): void {
    this.#masked = new Set(secrets);
  }

  #retain(values: readonly string[]): void {
    const nowMs = this.#clock.monotonicMs();
    for (const value of values) {
      // Behind the others, as the newest.
      this.#gone.delete(value);
      this.#gone.set(value, nowMs);
    }
    for (const [value, goneAtMs] of this.#gone) {
      if (this.#current.has(value) || this.#isOver(goneAtMs)) this.#gone.delete(value);
    }
    this.#boundGone();
  }

  #news(): readonly string[] | null {
    const secrets = new Set([...this.#current, ...this.#gone.keys()]);
    const isSame =
      secrets.size === this.#masked.size && [...secrets].every((value) => this.#masked.has(value));
    return isSame ? null : [...secrets];
  }

  async #usable(secrets: readonly Secret[]): Promise<ReadonlySet<string>> {
    const values = new Set<string>();
    const forms = new Set<string>();
    let chars = 0;
    let formChars = 0;
    let over = 0;
    for (const [index, { name, value }] of secrets.entries()) {
      if (index % VALUES_PER_YIELD === VALUES_PER_YIELD - 1) await yieldToEventLoop();
      if (values.has(value)) continue;
      if (!isMaskable(value)) {
        this.#logNotMaskable(name, value);
        continue;
      }
      if (values.size >= MAX_SECRETS || chars + value.length > MAX_SECRET_CHARS) {
        over += 1;
        continue;
      }
      values.add(value);
      chars += value.length;
      for (const form of otherFormsOf(value).filter(isMaskable)) {
        formChars += form.length;
        if (formChars <= MAX_FORM_CHARS) forms.add(form);
      }
    }
    if (over > 0) {
      const message = `more secrets than the agent can mask (${MAX_SECRETS} values of ${MAX_SECRET_CHARS} characters in all): the others are not masked`;
      this.#log.error({ secrets: over }, message);
    }
    if (formChars > MAX_FORM_CHARS) {
      const message = `secrets have more other forms (of hosts and urls, say) than the agent can mask (${MAX_FORM_CHARS} characters): the others are masked only as they are`;
      this.#log.error({ characters: formChars }, message);
    }
    return new Set([...values, ...forms]);
  }

  #logNotMaskable(name: string | null, value: string): void {
    if (name === null || value === '') return;
    if (this.#logged.has(name) || this.#logged.size >= MAX_LOGGED) return;
    this.#logged.add(name);
    this.#log.warn(
      { variable: name },
      'the value of this variable is too short or too common to be masked in results and logs',
    );
  }

  #boundGone(): void {
    const over = this.#gone.size - MAX_REPLACED;
    if (over <= 0) return;
    for (const value of [...this.#gone.keys()].slice(0, over)) this.#gone.delete(value);
    this.#log.warn(
      { secrets: over },
      `of the secrets that are replaced, only the last ${MAX_REPLACED} are masked for an hour more`,
    );
  }

  #isOver(goneAtMs: number): boolean {
    return this.#clock.monotonicMs() - goneAtMs >= KEPT_MS;
  }
}
