import { expect, it } from 'vitest';
import { ageText, whenText } from '../../../../src/cli/print/time-text.ts';

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];

it.each([
  [-5_000, '0 s'],
  [59_999, '59 s'],
  [MINUTE, '1 min'],
  [59 * MINUTE + 59_999, '59 min'],
  [HOUR, '1 h'],
  [3 * HOUR + 12 * MINUTE, '3 h 12 min'],
  [DAY, '1 d'],
  [4 * DAY + 3 * HOUR + 50 * MINUTE, '4 d 3 h'],
])('writes an age of %i ms as %s', (ageMs, text) => {
  expect(ageText(ageMs)).toBe(text);
});

it('writes a time of today without its day, and of another day with it', () => {
  const noon = new Date(2026, 0, 31, 12, 4, 5).getTime();
  expect(whenText(noon, noon + HOUR)).toBe('12:04:05');
  expect(whenText(noon, noon + DAY)).toBe('2026-01-31 12:04');
});
