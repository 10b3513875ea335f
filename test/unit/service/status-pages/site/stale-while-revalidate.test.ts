import { describe, expect, it } from 'vitest';
import { StaleWhileRevalidate } from '../../../../../src/service/status-pages/site/stale-while-revalidate.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';

/** A value that counts its readings. `how` says whether a reading fails or does not end. */
function counted() {
  const clock = new FakeClock();
  const state = {
    reads: 0,
    how: 'works',
    isFollowed: true,
    isCutOff: false,
    failures: 0,
    end: () => {},
  };
  const refreshed = new StaleWhileRevalidate<number>({
    clock,
    isFollowed: () => state.isFollowed,
    isCutOff: () => state.isCutOff,
    onFailure: () => {
      state.failures += 1;
    },
  });
  const read = async (): Promise<number> => {
    state.reads += 1;
    const { reads } = state;
    if (state.how === 'fails') throw new Error('away');
    if (state.how === 'hangs') {
      await new Promise<void>((resolve) => {
        state.end = resolve;
      });
    }
    return reads;
  };
  const value = {
    get: () => refreshed.get(read),
    invalidate: () => refreshed.invalidate(),
    invalidateNow: () => refreshed.invalidateNow(),
  };
  return { clock, state, value };
}

describe('a value that is kept', () => {
  it('is read once while nothing changes', async () => {
    const { clock, state, value } = counted();
    await value.get();
    await clock.advance(29_000);
    expect(await value.get()).toEqual({ value: 1, staleMs: 0 });
    expect(state.reads).toBe(1);
  });

  it('is read again after 30 s without an announced change', async () => {
    const { clock, value } = counted();
    await value.get();
    await clock.advance(30_000);
    expect(await value.get()).toEqual({ value: 2, staleMs: 0 });
  });

  it('is read again after a change, at most once a second', async () => {
    const { clock, state, value } = counted();
    await value.get();
    value.invalidate();
    expect((await value.get()).value).toBe(1);
    await clock.advance(1_000);
    expect((await value.get()).value).toBe(2);
    for (let change = 0; change < 100; change += 1) {
      value.invalidate();
      await value.get();
    }
    expect(state.reads).toBe(2);
  });

  it('is read by each request while changes are not announced', async () => {
    const { state, value } = counted();
    state.isFollowed = false;
    expect((await value.get()).value).toBe(1);
    expect((await value.get()).value).toBe(2);
  });

  it('is read once a second while announcements of changes are lost', async () => {
    const { clock, state, value } = counted();
    state.isCutOff = true;
    await value.get();
    await clock.advance(999);
    expect((await value.get()).value).toBe(1);
    await clock.advance(1);
    expect(await value.get()).toEqual({ value: 2, staleMs: 0 });
  });

  it('is read once for all who ask at the same time', async () => {
    const { state, value } = counted();
    await Promise.all(Array.from({ length: 50 }, () => value.get()));
    expect(state.reads).toBe(1);
  });

  it('is read again if it changed while it was read', async () => {
    const { clock, state, value } = counted();
    state.how = 'hangs';
    const first = value.get();
    value.invalidate();
    state.how = 'works';
    state.end();
    expect((await first).value).toBe(1);
    await clock.advance(1_000);
    expect((await value.get()).value).toBe(2);
  });
});

describe('a value that must not be shown any longer', () => {
  it('is not shown to those who wait for a reading that began before', async () => {
    const { state, value } = counted();
    state.how = 'hangs';
    const before = value.get();
    value.invalidateNow();
    const after = value.get();
    state.how = 'works';
    state.end();
    expect([(await before).value, (await after).value]).toEqual([2, 2]);
  });

  it('is read again at once, also where it was read within the second', async () => {
    const { value } = counted();
    await value.get();
    value.invalidateNow();
    expect((await value.get()).value).toBe(2);
  });
});

describe('while it cannot be read', () => {
  it('a value is served with its age, and tried again once a second', async () => {
    const { clock, state, value } = counted();
    await value.get();
    value.invalidate();
    state.how = 'fails';
    await clock.advance(5_000);
    expect(await value.get()).toEqual({ value: 1, staleMs: 5_000 });
    expect(await value.get()).toEqual({ value: 1, staleMs: 5_000 });
    expect(state.reads).toBe(2);
    expect(state.failures).toBe(1);
    await clock.advance(1_000);
    expect(await value.get()).toEqual({ value: 1, staleMs: 6_000 });
    expect(state.reads).toBe(3);
    state.how = 'works';
    await clock.advance(1_000);
    expect(await value.get()).toEqual({ value: 4, staleMs: 0 });
  });

  it('a request waits a second at most', async () => {
    const { clock, state, value } = counted();
    await value.get();
    value.invalidate();
    state.how = 'hangs';
    await clock.advance(5_000);
    const first = value.get();
    await clock.advance(1_000);
    expect(await first).toEqual({ value: 1, staleMs: 6_000 });
    // Later requests do not wait at all.
    expect(await value.get()).toEqual({ value: 1, staleMs: 6_000 });
    state.end();
  });

  it('throws if no value was ever read', async () => {
    const { state, value } = counted();
    state.how = 'fails';
    await expect(value.get()).rejects.toThrow('away');
    state.how = 'works';
    expect((await value.get()).value).toBe(2);
  });
});
