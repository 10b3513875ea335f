/**
 * Told of every slot of the plan from the moment that it is taken up until all that comes of it is
 * told to the sink, so that a process that was killed knows afterwards what it left unfinished.
 */
export interface SlotObserver {
  /** It runs, or waits for a place. Epoch milliseconds. */
  began(checkId: string, slotMs: number): void;
  /** Once for each `began`: a result, a missed slot, another location has it, or nobody wants it. */
  ended(checkId: string, slotMs: number): void;
}
