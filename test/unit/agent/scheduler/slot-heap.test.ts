import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type HasNextSlot, SlotHeap } from '../../../../src/agent/scheduler/slot-heap.ts';

const slotted = fc.record({ nextSlotMs: fc.nat(20), order: fc.nat(20) });

describe('SlotHeap', () => {
  it('returns the earliest slot first, and equal ones by their order', () => {
    fc.assert(
      fc.property(
        fc.array(slotted, { maxLength: 40 }),
        fc.array(fc.nat(15), { maxLength: 80 }),
        (items, steps) => {
          const heap = new SlotHeap<HasNextSlot>();
          heap.refill(items);
          expect(heap.size).toBe(items.length);
          for (const stepMs of steps) {
            const top = heap.top();
            const first = items.toSorted(
              (a, b) => a.nextSlotMs - b.nextSlotMs || a.order - b.order,
            )[0];
            expect(top?.nextSlotMs).toBe(first?.nextSlotMs);
            expect(top?.order).toBe(first?.order);
            if (top === null) return;
            top.nextSlotMs += stepMs;
            heap.topMoved();
          }
        },
      ),
    );
  });

  it('contains no old items after it was refilled', () => {
    const heap = new SlotHeap<HasNextSlot>();
    heap.refill([{ nextSlotMs: 1, order: 1 }]);
    heap.refill([]);
    expect(heap.top()).toBeNull();
  });
});
