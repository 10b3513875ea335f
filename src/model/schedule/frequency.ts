import type { Frequency } from '../enums.ts';

/**
 * frequencyOffset for frequency 0: the period itself, in seconds (src/model/README.md, "Fields of
 * every check").
 */
export const SUB_MINUTE_OFFSETS = [10, 20, 30] as const;

/**
 * Largest frequencyOffset for a frequency in minutes above 0 (src/model/README.md, "Fields of every
 * check").
 */
export function maxFrequencyOffset(frequency: Frequency): number {
  return frequency <= 60 ? Math.floor(frequency * 10) : Math.ceil(frequency / 60);
}
