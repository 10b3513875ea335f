/** Something with a next slot. Equal slots are ordered by `order`, then arbitrarily. */
export interface HasNextSlot {
  /** Epoch milliseconds. */
  nextSlotMs: number;
  readonly order: number;
}

/**
 * A binary min-heap by next slot. Items are never removed one by one: the top's slot moves on, and
 * a new set replaces all, which costs less than one insertion each.
 */
export class SlotHeap<Item extends HasNextSlot> {
  #items: Item[] = [];

  get size(): number {
    return this.#items.length;
  }

  /** The item with the earliest next slot; null if there is none. */
  top(): Item | null {
    return this.#items[0] ?? null;
  }

  /** Replaces all items. */
  refill(items: Iterable<Item>): void {
    this.#items = [...items];
    for (let index = (this.#items.length >> 1) - 1; index >= 0; index -= 1) this.#sink(index);
  }

  /** Restores the order after the top's slot moved to a later one. */
  topMoved(): void {
    if (this.#items.length > 1) this.#sink(0);
  }

  #sink(start: number): void {
    const items = this.#items;
    const item = items[start];
    if (item === undefined) return;
    let index = start;
    for (;;) {
      let childIndex = 2 * index + 1;
      let child = items[childIndex];
      if (child === undefined) break;
      const right = items[childIndex + 1];
      if (right !== undefined && isBefore(right, child)) {
        childIndex += 1;
        child = right;
      }
      if (!isBefore(child, item)) break;
      items[index] = child;
      index = childIndex;
    }
    items[index] = item;
  }
}

function isBefore(a: HasNextSlot, b: HasNextSlot): boolean {
  return a.nextSlotMs < b.nextSlotMs || (a.nextSlotMs === b.nextSlotMs && a.order < b.order);
}
