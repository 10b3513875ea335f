/** First in, first out; removing from the middle costs no more than from the front. */
export class WaitingLine<Item> {
  readonly #positions = new Map<Item, number>();
  #line: (Item | null)[] = [];
  #head = 0;

  get size(): number {
    return this.#positions.size;
  }

  /** The item must not be in the line yet. */
  push(item: Item): void {
    this.#positions.set(item, this.#line.length);
    this.#line.push(item);
  }

  /** Removes and returns the item that waits longest; null where none waits. */
  shift(): Item | null {
    for (; this.#head < this.#line.length; this.#head += 1) {
      const item = this.#line[this.#head] ?? null;
      if (item !== null) {
        this.remove(item);
        return item;
      }
    }
    return null;
  }

  remove(item: Item): boolean {
    const position = this.#positions.get(item);
    if (position === undefined) return false;
    this.#positions.delete(item);
    this.#line[position] = null;
    if (this.#line.length > 64 && this.#line.length > 4 * this.#positions.size) this.#closeGaps();
    return true;
  }

  /** In order. Items may be removed meanwhile. */
  items(): Iterable<Item> {
    return this.#positions.keys();
  }

  #closeGaps(): void {
    this.#line = this.#line.filter((item) => item !== null);
    this.#head = 0;
    this.#line.forEach((item, position) => {
      if (item !== null) this.#positions.set(item, position);
    });
  }
}
