import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import { isMaskable } from '../../scrub/scrubber.ts';
import { otherFormsOf } from './normal-forms.ts';

/** How long a replaced value stays secret: active runs and waiting results may contain it. */
export const KEPT_MS = 3_600_000;
/** Maximum number of replaced values that stay masked. */
const MAX_REPLACED = 10_000;
/** Maximum number and total length of current secrets. */
const MAX_SECRETS = 50_000;
const MAX_SECRET_CHARS = 20_000_000;
/** Maximum total length of the other forms of these values. */
const MAX_FORM_CHARS = 10_000_000;
/** Yields to the event loop after this many values. */
const VALUES_PER_YIELD = 200;
/** Maximum number of variables that are logged as not maskable. */
const MAX_LOGGED = 1_000;

export interface Secret {
  /** The name of its variable; null for a value without one, which is never logged. */
  readonly name: string | null;
  readonly value: string;
}

/** The secret values: the current ones, and those replaced within the last hour. */
export class SecretMemory {
  readonly #clock: Clock;
  readonly #log: Logger;
  #current: ReadonlySet<string> = new Set();
  /** The monotonic instant at which each value was replaced; oldest first. */
  readonly #replaced = new Map<string, number>();
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

  /** Whether a replaced value has been masked for KEPT_MS. */
  get hasExpired(): boolean {
    for (const replacedAtMs of this.#replaced.values()) return this.#isExpired(replacedAtMs);
    return false;
  }

  /**
   * Replaces the current secrets. Calls must not overlap.
   *
   * @returns all values to mask; null if exactly these are masked already
   */
  async learn(secrets: readonly Secret[]): Promise<readonly string[] | null> {
    const before = this.#current;
    const current = await this.#usable(secrets);
    this.#current = current;
    this.#retain([...before].filter((value) => !current.has(value)));
    return this.#changed();
  }

  /** Adds secrets that expire as if they had just been replaced. Returns the same as `learn`. */
  async remember(secrets: readonly Secret[]): Promise<readonly string[] | null> {
    const usable = await this.#usable(secrets);
    this.#retain([...usable].filter((value) => !this.#current.has(value)));
    return this.#changed();
  }

  /** Called when the scrubber masks these values. */
  masked(secrets: readonly string[]): void {
    this.#masked = new Set(secrets);
  }

  #retain(values: readonly string[]): void {
    const nowMs = this.#clock.monotonicMs();
    for (const value of values) {
      // Deleted first, to move it to the end as the newest.
      this.#replaced.delete(value);
      this.#replaced.set(value, nowMs);
    }
    for (const [value, replacedAtMs] of this.#replaced) {
      if (this.#current.has(value) || this.#isExpired(replacedAtMs)) this.#replaced.delete(value);
    }
    this.#limitReplaced();
  }

  #changed(): readonly string[] | null {
    const secrets = new Set([...this.#current, ...this.#replaced.keys()]);
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
      const message = `there are more secrets than the agent can mask (${MAX_SECRETS} values of ${MAX_SECRET_CHARS} characters in all): the others are not masked`;
      this.#log.error({ secrets: over }, message);
    }
    if (formChars > MAX_FORM_CHARS) {
      const message = `secrets have more other forms (for example of hosts and urls) than the agent can mask (${MAX_FORM_CHARS} characters): the rest of these forms are not masked`;
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

  #limitReplaced(): void {
    const over = this.#replaced.size - MAX_REPLACED;
    if (over <= 0) return;
    for (const value of [...this.#replaced.keys()].slice(0, over)) this.#replaced.delete(value);
    this.#log.warn(
      { secrets: over },
      `only the last ${MAX_REPLACED} replaced secrets are masked for another hour`,
    );
  }

  #isExpired(replacedAtMs: number): boolean {
    return this.#clock.monotonicMs() - replacedAtMs >= KEPT_MS;
  }
}
