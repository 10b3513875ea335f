/** First in, first out; an item is taken out of the middle at no more cost than at the front. */
export class WaitingLine<Item> {
  readonly #places = new Map<Item, number>();
  #line: (Item | null)[] = [];
  #head = 0;

  get size(): number {
    return this.#places.size;
  }

  /** For an item that does not stand in the line yet. */
  push(item: Item): void {
    this.#places.set(item, this.#line.length);
    this.#line.push(item);
  }

  /** The item that waits longest, which leaves the line; null where none waits. */
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
    const place = this.#places.get(item);
    if (place === undefined) return false;
    this.#places.delete(item);
    this.#line[place] = null;
    if (this.#line.length > 64 && this.#line.length > 4 * this.#places.size) this.#closeGaps();
    return true;
  }

  /** In order. Items may leave the line meanwhile. */
  items(): Iterable<Item> {
    return this.#places.keys();
  }

  #closeGaps(): void {
    this.#line = this.#line.filter((item) => item !== null);
    this.#head = 0;
    this.#line.forEach((item, place) => {
      if (item !== null) this.#places.set(item, place);
    });
  }
}
