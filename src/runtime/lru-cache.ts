interface Entry<Value> {
  readonly value: Value;
  readonly weight: number;
}

/**
 * Evicts the least recently used values once their total weight exceeds the limit. Without weights
 * the limit is a number of values.
 */
export class LruCache<Value> {
  readonly #maxWeight: number;
  readonly #entries = new Map<string, Entry<Value>>();
  #weight = 0;

  constructor(maxWeight: number) {
    this.#maxWeight = maxWeight;
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** A value heavier than the limit is not cached, and evicts all others. */
  set(key: string, value: Value, weight = 1): void {
    this.delete(key);
    this.#entries.set(key, { value, weight });
    this.#weight += weight;
    for (const oldest of this.#entries.keys()) {
      if (this.#weight <= this.#maxWeight) return;
      this.delete(oldest);
    }
  }

  /** The cached value, or else the one that `make` returns, cached with weight 1. */
  getOrMake(key: string, make: () => Value): Value {
    const known = this.get(key);
    if (known !== undefined) return known;
    const made = make();
    this.set(key, made);
    return made;
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#weight -= entry.weight;
  }

  /** The least recently used first. */
  *values(): Generator<Value> {
    for (const { value } of this.#entries.values()) yield value;
  }

  get size(): number {
    return this.#entries.size;
  }
}
