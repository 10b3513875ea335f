const START_SIZE = 64;

/** The spans of a text to mask, in order; no two of them touch. */
export class Spans {
  count = 0;
  #froms = new Int32Array(START_SIZE);
  #tos = new Int32Array(START_SIZE);

  from(span: number): number {
    return this.#froms[span] ?? 0;
  }

  to(span: number): number {
    return this.#tos[span] ?? 0;
  }

  clear(): void {
    this.count = 0;
  }

  /** Whether a position is in the last span or directly behind it. */
  isInLast(position: number): boolean {
    const last = this.count - 1;
    return last >= 0 && this.from(last) <= position && position <= this.to(last);
  }

  /** Adds a span, usually at the end. */
  add(from: number, to: number): void {
    let first = this.count;
    while (first > 0 && from <= this.to(first - 1)) first -= 1;
    let behind = first;
    while (behind < this.count && this.from(behind) <= to) behind += 1;
    const merged = behind - first;
    const newFrom = merged === 0 ? from : Math.min(from, this.from(first));
    const newTo = merged === 0 ? to : Math.max(to, this.to(behind - 1));
    if (merged !== 1) this.#move(behind, first + 1);
    this.#froms[first] = newFrom;
    this.#tos[first] = newTo;
  }

  /** Removes the first spans. */
  dropFirst(count: number): void {
    if (count > 0) this.#move(count, 0);
  }

  /** Called when the beginning of the text was dropped. */
  shift(bytes: number): void {
    for (let span = 0; span < this.count; span += 1) {
      this.#froms[span] = this.from(span) - bytes;
      this.#tos[span] = this.to(span) - bytes;
    }
  }

  /** Moves a span, and all behind it, to another index. */
  #move(span: number, target: number): void {
    const count = this.count + target - span;
    if (count > this.#froms.length) {
      this.#froms = grown(this.#froms);
      this.#tos = grown(this.#tos);
    }
    this.#froms.copyWithin(target, span, this.count);
    this.#tos.copyWithin(target, span, this.count);
    this.count = count;
  }
}

function grown(numbers: Int32Array): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(numbers.length * 2);
  larger.set(numbers);
  return larger;
}
