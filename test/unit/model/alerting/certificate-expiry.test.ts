import { expect, it } from 'vitest';
import {
  certificateEndMs,
  isSameCertificateEnd,
  type NotifiedExpiry,
  nextExpiryNotice,
} from '../../../../src/model/alerting/certificate-expiry.ts';

const DAY_MS = 86_400_000;

/** The days remaining in each notice. Observations are [day, days remaining]. */
function notifiedDaysOf(
  ...observations: readonly (readonly [number, number])[]
): readonly number[] {
  let before: NotifiedExpiry | null = null;
  return observations.flatMap(([day, daysRemaining]) => {
    const after = nextExpiryNotice(before, { slotMs: day * DAY_MS, daysRemaining });
    before = after ?? before;
    return after === null ? [] : [daysRemaining];
  });
}

it.each<[string, readonly (readonly [number, number])[], readonly number[]]>([
  [
    'none while it expires in more than 30 days',
    [
      [0, 90],
      [50, 31],
    ],
    [],
  ],
  [
    'one a day from 30 days before its expiry',
    [
      [0, 30],
      [0.3, 30],
      [0.9, 29],
      [2, 28],
      [2.1, 28],
    ],
    [30, 29, 28],
  ],
  [
    'one with the days it has left, where no run saw it on the days before',
    [
      [0, 12],
      [9, 3],
    ],
    [12, 3],
  ],
  [
    'one on its last day, and none after its expiry',
    [
      [0, 1],
      [1, 0],
      [2, -1],
      [30, -29],
    ],
    [1, 0],
  ],
  ['none where it had expired at the first run', [[0, -5]], []],
  [
    'one of its replacement, 30 days before that expires',
    [
      [0, 3],
      [1, 89],
      [61, 29],
    ],
    [3, 29],
  ],
  [
    'only of the old one where the target serves an old and a new one side by side',
    [
      [0, 10],
      [0.1, 25],
      [0.2, 10],
      [1, 9],
      [1.1, 24],
    ],
    [10, 9],
  ],
  [
    'one of another certificate that expires sooner',
    [
      [0, 25],
      [0.1, 10],
      [0.2, 25],
    ],
    [25, 10],
  ],
  [
    'one of the new certificate once the old one has expired',
    [
      [0, 1],
      [0.5, 6],
      [2, 4],
      [2.1, -1],
      [2.2, 4],
    ],
    [1, 4],
  ],
])('notifies of an expiring certificate: %s', (_name, observations, notified) => {
  expect(notifiedDaysOf(...observations)).toEqual(notified);
});

it('a certificate is recognized by its expiry date', () => {
  const end = certificateEndMs(0, 14);
  for (const days of [0, 1, 5, 13]) {
    expect(isSameCertificateEnd(end, certificateEndMs(days * DAY_MS + DAY_MS - 1, 14 - days))).toBe(
      true,
    );
    expect(isSameCertificateEnd(end, certificateEndMs(days * DAY_MS, 14 - days - 1))).toBe(true);
  }
  expect(isSameCertificateEnd(end, certificateEndMs(14 * DAY_MS, 14))).toBe(false);
  expect(isSameCertificateEnd(end, certificateEndMs(DAY_MS, 90))).toBe(false);
});
