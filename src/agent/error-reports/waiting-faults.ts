import { type CountedFault, type Fault, faultKey } from './fault.ts';

/** Maximum number of kinds of errors that wait to be reported. */
const MAX_KINDS = 100;

/** Errors that wait to be reported, each kind once with its count. Bounded. */
export class WaitingFaults {
  #kinds = new Map<string, CountedFault>();
  #dropped = 0;

  get size(): number {
    return this.#kinds.size;
  }

  /** Drops and counts a new kind if MAX_KINDS already wait. */
  add(fault: Fault, atMs: number): void {
    this.#merge({ ...fault, count: 1, firstAtMs: atMs, lastAtMs: atMs });
  }

  /** Removes and returns the kind of this key, or the oldest. Null if there is none. */
  take(key: string | undefined = this.#kinds.keys().next().value): CountedFault | null {
    if (key === undefined) return null;
    const fault = this.#kinds.get(key) ?? null;
    this.#kinds.delete(key);
    return fault;
  }

  /** Puts faults that could not be reported back to the start of the queue. */
  putBack(faults: readonly CountedFault[]): void {
    const since = this.#kinds;
    this.#kinds = new Map(faults.map((fault) => [faultKey(fault), fault]));
    for (const fault of since.values()) this.#merge(fault);
  }

  /** Errors dropped since the last call. */
  takeDropped(): number {
    const dropped = this.#dropped;
    this.#dropped = 0;
    return dropped;
  }

  #merge(more: CountedFault): void {
    const key = faultKey(more);
    const known = this.#kinds.get(key);
    if (known !== undefined) this.#kinds.set(key, { ...known, ...together(known, more) });
    else if (this.#kinds.size < MAX_KINDS) this.#kinds.set(key, more);
    else this.#dropped += more.count;
  }
}

type Times = Pick<CountedFault, 'count' | 'firstAtMs' | 'lastAtMs'>;

/** Joins two periods in any order: the wall clock may have been set between them. */
function together(one: Times, other: Times): Times {
  return {
    count: one.count + other.count,
    firstAtMs: Math.min(one.firstAtMs, other.firstAtMs),
    lastAtMs: Math.max(one.lastAtMs, other.lastAtMs),
  };
}
