/**
 * Follows each slot of the plan until its result is passed to the sink: after a kill the next
 * process knows which slots are unfinished.
 */
export interface SlotObserver {
  /** The slot (epoch milliseconds) runs, or waits for a permit. */
  began(checkId: string, slotMs: number): void;
  /** Once for each `began`: with a result, a missed slot, another location, or withdrawn. */
  ended(checkId: string, slotMs: number): void;
}
