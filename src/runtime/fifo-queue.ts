/** Taken items are cut off the array once there are this many, and more than those that wait. */
const MIN_CUT = 1024;

/** First in, first out, at constant cost regardless of its length. */
export class Queue<Item> {
  #items: (Item | undefined)[] = [];
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  push(item: Item): void {
    this.#items.push(item);
  }

  peek(): Item | null {
    return this.#items[this.#head] ?? null;
  }

  shift(): Item | null {
    const item = this.peek();
    if (item === null) return null;
    this.#items[this.#head] = undefined;
    this.#head += 1;
    if (this.#head >= MIN_CUT && this.#head > this.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }
}
