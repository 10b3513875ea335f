import { expect, it } from 'vitest';
import { damagedSlots } from '../../../../src/agent/slots/damaged-slots.ts';
import type { SpoolSlots } from '../../../../src/agent/spool/spool.ts';

const MINUTE_MS = 60_000;

function at(checkId: string, minute: number, { count = 1, everyMinutes = 1 } = {}): SpoolSlots {
  const slot = minute * MINUTE_MS;
  return { checkId, slot, lastSlot: slot + (count - 1) * everyMinutes * MINUTE_MS, count };
}

const missed = (slots: SpoolSlots) => ({ ...slots, reason: 'spool_damaged' });

it('joins evenly spaced slots of a check, in any order', () => {
  expect(damagedSlots([at('a', 3), at('b', 2), at('a', 1), at('a', 2), at('b', 4)])).toEqual([
    missed(at('a', 1, { count: 3 })),
    missed(at('b', 2, { count: 2, everyMinutes: 2 })),
  ]);
});

it('begins another range where the distance between slots changes', () => {
  const long = at('a', 10, { count: 2, everyMinutes: 3 });
  expect(
    damagedSlots([at('a', 1), at('a', 2), at('a', 4), at('a', 5, { count: 3 }), long]),
  ).toEqual([missed(at('a', 1, { count: 2 })), missed(at('a', 4, { count: 4 })), missed(long)]);
});

it('reports a slot of two records once', () => {
  expect(damagedSlots([at('a', 1), at('a', 1), at('a', 2)])).toEqual([
    missed(at('a', 1, { count: 2 })),
  ]);
});

it('does not join slots closer than a second', () => {
  const [one, other] = [at('a', 1), { ...at('a', 1), slot: 60_500, lastSlot: 60_500 }];
  expect(damagedSlots([one, other])).toEqual([missed(one), missed(other)]);
});
