/** Evenly spaced slots of one check. */
export interface SlotRange {
  /** The first slot, in epoch milliseconds. */
  readonly slot: number;
  /** The last slot, in epoch milliseconds; equal to `slot` if there is only one. */
  readonly lastSlot: number;
  /** 1 or more. */
  readonly count: number;
}
