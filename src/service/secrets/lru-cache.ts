interface Kept<Value> {
  readonly value: Value;
  readonly weight: number;
}

/** Keeps values that take long to make, up to a weight in all: those used longest ago make way. */
export class RecentValues<Value> {
  readonly #maxWeight: number;
  readonly #kept = new Map<string, Kept<Value>>();
  #weight = 0;

  constructor(maxWeight: number) {
    this.#maxWeight = maxWeight;
  }

  get(key: string): Value | undefined {
    const kept = this.#kept.get(key);
    if (kept === undefined) return undefined;
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    return kept.value;
  }

  /** One that is heavier than all may be together is not kept. */
  set(key: string, value: Value, weight: number): void {
    this.delete(key);
    this.#kept.set(key, { value, weight });
    this.#weight += weight;
    for (const oldest of this.#kept.keys()) {
      if (this.#weight <= this.#maxWeight) return;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    const kept = this.#kept.get(key);
    if (kept === undefined) return;
    this.#kept.delete(key);
    this.#weight -= kept.weight;
  }

  get size(): number {
    return this.#kept.size;
  }
}
