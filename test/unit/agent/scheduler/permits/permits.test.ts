import { describe, expect, it } from 'vitest';
import { type Permit, RunPermits } from '../../../../../src/agent/scheduler/permits/permits.ts';
import { settle } from '../../../../support/fake-clock.ts';

/** A run in progress, which the test advances. */
interface Hand {
  readonly ended: Promise<void>;
  /** What it did, in order. */
  readonly story: readonly string[];
  waits(): void;
  /** Ends its attempt. The next attempt or the end of the run follows. */
  endAttempt(next: 'again' | 'done'): void;
}

/** A run of attempts, each of which lasts until the test ends it. */
function begin(places: RunPermits): Hand {
  const story: string[] = [];
  let waits = (): void => {};
  let end = (_next: 'again' | 'done'): void => {};
  const attempt = (place: Permit): Promise<'again' | 'done'> =>
    place.attempt((told) => {
      story.push('attempt');
      waits = told;
      return new Promise((resolve) => {
        end = resolve;
      });
    });
  const ended = places.take(async (place) => {
    while ((await attempt(place)) === 'again');
    story.push('end');
  });
  return { ended, story, waits: () => waits(), endAttempt: (next) => end(next) };
}

describe('RunPermits', () => {
  it('gives the permit of a run that only waits for its peer to the next one', async () => {
    const places = new RunPermits({ concurrency: 1, maxWaiting: 5 });
    const [hanging, next] = [begin(places), begin(places)];
    expect([hanging.story, next.story]).toEqual([['attempt'], []]);
    hanging.waits();
    await settle();
    expect(next.story).toEqual(['attempt']);
    expect([places.running, places.waiting, places.queued]).toEqual([1, 1, 0]);
    hanging.endAttempt('done');
    await hanging.ended;
    expect([places.running, places.waiting]).toEqual([1, 0]);
    next.endAttempt('done');
    await next.ended;
    expect([places.running, places.waiting, places.isFree]).toEqual([0, 0, true]);
  });

  it('lets a waiting run end without a permit, however many are at work', async () => {
    const places = new RunPermits({ concurrency: 1, maxWaiting: 5 });
    const [hanging, next] = [begin(places), begin(places)];
    hanging.waits();
    await settle();
    hanging.endAttempt('done');
    await hanging.ended;
    expect(next.story).toEqual(['attempt']);
    next.endAttempt('done');
    await next.ended;
  });

  it('retains the permits of runs beyond maxWaiting, and releases them in order', async () => {
    const places = new RunPermits({ concurrency: 3, maxWaiting: 1 });
    const [first, second, third] = [begin(places), begin(places), begin(places)];
    for (const run of [second, first, third]) run.waits();
    await settle();
    expect([places.running, places.waiting, places.isWaitingFull]).toEqual([2, 1, true]);
    // It leaves the queue, because its attempt ends before a place among the waiting is free.
    first.endAttempt('done');
    await first.ended;
    expect([places.running, places.waiting]).toEqual([1, 1]);
    second.endAttempt('done');
    await second.ended;
    await settle();
    expect([places.running, places.waiting, places.isWaitingFull]).toEqual([0, 1, false]);
    third.endAttempt('done');
    await third.ended;
    expect([places.running, places.waiting]).toEqual([0, 0]);
  });

  it('takes a permit again for the next attempt, ahead of runs that have not begun', async () => {
    const places = new RunPermits({ concurrency: 1, maxWaiting: 5 });
    const [retried, second, third] = [begin(places), begin(places), begin(places)];
    retried.waits();
    await settle();
    retried.endAttempt('again');
    await settle();
    expect([retried.story, second.story, third.story]).toEqual([['attempt'], ['attempt'], []]);
    expect([places.running, places.waiting, places.queued]).toEqual([1, 0, 2]);
    second.endAttempt('done');
    await settle();
    expect([retried.story, third.story]).toEqual([['attempt', 'attempt'], []]);
    retried.endAttempt('done');
    await settle();
    third.endAttempt('done');
    await third.ended;
    expect(places.isFree).toBe(true);
  });

  it('counts a waiting run once, and frees everything of a run that throws', async () => {
    const places = new RunPermits({ concurrency: 1, maxWaiting: 5 });
    const run = places.take((place) =>
      place.attempt((waits) => {
        waits();
        waits();
        return Promise.reject(new Error('ours'));
      }),
    );
    expect([places.running, places.waiting]).toEqual([1, 1]);
    await expect(run).rejects.toThrow('ours');
    expect([places.running, places.waiting]).toEqual([0, 0]);
  });

  it('releases no permit if maxWaiting is 0', async () => {
    const places = new RunPermits({ concurrency: 1, maxWaiting: 0 });
    const [hanging, next] = [begin(places), begin(places)];
    hanging.waits();
    await settle();
    expect([next.story, places.isWaitingFull]).toEqual([[], true]);
    hanging.endAttempt('done');
    await hanging.ended;
    await settle();
    next.endAttempt('done');
    await next.ended;
  });
});
