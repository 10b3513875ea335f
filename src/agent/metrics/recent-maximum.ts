const PARTS = 5;

/** The maximum of the values of the last minutes. Stores one value for each fifth of that time. */
export class RecentMaximum {
  readonly #partMs: number;
  /** The maximum of each fifth, by its number since the start of the clock. */
  readonly #highest = new Map<number, number>();

  constructor(spanMs: number) {
    this.#partMs = spanMs / PARTS;
  }

  add(value: number, nowMs: number): void {
    const part = Math.floor(nowMs / this.#partMs);
    const before = this.#highest.get(part);
    if (before === undefined) this.#forgetBefore(part);
    this.#highest.set(part, Math.max(value, before ?? value));
  }

  /** null without a value in this time. */
  at(nowMs: number): number | null {
    this.#forgetBefore(Math.floor(nowMs / this.#partMs));
    return this.#highest.size === 0 ? null : Math.max(...this.#highest.values());
  }

  #forgetBefore(part: number): void {
    for (const old of this.#highest.keys()) if (old <= part - PARTS) this.#highest.delete(old);
  }
}
