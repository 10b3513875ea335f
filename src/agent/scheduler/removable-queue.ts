/** First in, first out; removing from the middle costs no more than from the front. */
export class RemovableQueue<Item> {
  readonly #positions = new Map<Item, number>();
  #items: (Item | null)[] = [];
  #head = 0;

  get size(): number {
    return this.#positions.size;
  }

  /** The item must not be in the queue yet. */
  push(item: Item): void {
    this.#positions.set(item, this.#items.length);
    this.#items.push(item);
  }

  /** Removes and returns the item that waits longest; null if none waits. */
  shift(): Item | null {
    for (; this.#head < this.#items.length; this.#head += 1) {
      const item = this.#items[this.#head] ?? null;
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
    this.#items[position] = null;
    if (this.#items.length > 64 && this.#items.length > 4 * this.#positions.size) this.#closeGaps();
    return true;
  }

  /** In order. Items may be removed meanwhile. */
  items(): Iterable<Item> {
    return this.#positions.keys();
  }

  #closeGaps(): void {
    this.#items = this.#items.filter((item) => item !== null);
    this.#head = 0;
    this.#items.forEach((item, position) => {
      if (item !== null) this.#positions.set(item, position);
    });
  }
}
