import { describe, expect, it } from 'vitest';
import { type StoredState, stateOf } from '../../../../src/service/alerts/states.sql.ts';

/** A failure of which subscribers were notified at 90. */
const STORED: StoredState = {
  condition: 'failing',
  told: 'failing',
  isHushed: false,
  sinceMs: 60,
  runs: 1,
  countedMs: 60,
  places: [{ place: 'berlin', slotMs: 60, condition: 'failing' }],
  toldAtMs: 90,
  reminders: 0,
};

describe('a stored alert state', () => {
  it('of the previous release waits for an acknowledgement since its problem was sent', () => {
    const wait = { worst: 'failing', sinceMs: 90, isEscalated: false };
    expect(stateOf(STORED).wait).toEqual(wait);
    expect(stateOf({ ...STORED, wait: null }).wait).toEqual(wait);
    expect(stateOf({ ...STORED, told: null, toldAtMs: 0 }).wait).toBeNull();
  });

  it('delays no notice that the previous release sent meanwhile', () => {
    expect(stateOf({ ...STORED, heldAtMs: 70 })).not.toHaveProperty('heldAtMs');
    for (const told of [null, 'degraded'] as const) {
      expect(stateOf({ ...STORED, told, heldAtMs: 70 }).heldAtMs).toBe(70);
    }
  });
});
