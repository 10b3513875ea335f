import type { LedgerState, UnfinishedSlot } from './ledger-file.ts';

/** Bounds the file, which is written every second. */
const MAX_NAMED = 2_000;

/**
 * Slots that began and are not fully reported yet: at most two per check, one that runs and one
 * that waits.
 */
export class UnfinishedSlots {
  readonly #slots = new Map<string, UnfinishedSlot>();

  add(checkId: string, slotMs: number): void {
    this.#slots.set(keyOf(checkId, slotMs), [checkId, slotMs]);
  }

  remove(checkId: string, slotMs: number): void {
    this.#slots.delete(keyOf(checkId, slotMs));
  }

  /**
   * The current state. Names only the MAX_NAMED oldest: all later slots count as unanswered.
   *
   * @param reachedMs epoch milliseconds up to which every slot was taken up or reported
   */
  accounted(reachedMs: number): LedgerState {
    const unfinished = [...this.#slots.values()].sort(([, a], [, b]) => a - b);
    const [, firstUnnamedMs] = unfinished[MAX_NAMED] ?? [null, Number.POSITIVE_INFINITY];
    return {
      upToMs: Math.max(0, Math.min(reachedMs, firstUnnamedMs - 1)),
      unfinished: unfinished.slice(0, MAX_NAMED),
    };
  }
}

function keyOf(checkId: string, slotMs: number): string {
  return `${slotMs} ${checkId}`;
}
