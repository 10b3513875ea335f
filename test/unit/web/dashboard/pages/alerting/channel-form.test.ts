import { describe, expect, it } from 'vitest';
import {
  notifiedChannels,
  servedBy,
  subscriptionsFor,
} from '../../../../../../src/web/dashboard/pages/alerting/channel-form.ts';

const CHANNELS = [
  { id: 1, subscribeAll: false },
  { id: 2, subscribeAll: true },
  { id: 3, subscribeAll: true },
];
const on = (alertChannelId: number) => ({ alertChannelId, activated: true });
const off = (alertChannelId: number) => ({ alertChannelId, activated: false });

describe('the channels of a check in its form', () => {
  it('are those that it names, and those of all checks that it does not exclude', () => {
    expect(notifiedChannels([on(1), off(3)], CHANNELS)).toEqual(['1', '2']);
    expect(notifiedChannels([], CHANNELS)).toEqual(['2', '3']);
    expect(notifiedChannels([on(3), off(1)], CHANNELS)).toEqual(['3', '2']);
  });

  it('are excluded where they are notified of all checks and not chosen', () => {
    expect(subscriptionsFor(['1', '2'], [], CHANNELS)).toEqual([on(1), off(3)]);
    expect(subscriptionsFor(['2', '3'], [off(3)], CHANNELS)).toEqual([]);
  });

  it('stay as they are where there was no choice of them', () => {
    expect(subscriptionsFor(['2', '3', '8'], [on(8), off(9)], CHANNELS)).toEqual([on(8), off(9)]);
  });
});

describe('the checks that a channel serves, in words', () => {
  it.each([
    [false, [], null],
    [false, [true, false], '1 check'],
    [true, [], 'all checks'],
    [true, [true], 'all checks'],
    [true, [false, false], 'all but 2 checks'],
  ])('with subscribeAll %s and %j are %s', (subscribeAll, activated, words) => {
    expect(servedBy(subscribeAll, activated)).toBe(words);
  });
});
