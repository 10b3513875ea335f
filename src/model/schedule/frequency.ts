import type { Frequency, RunnableCheckType } from '../enums.ts';
import { HOUR_MS, MINUTE_MS } from '../time-units.ts';

/**
 * frequencyOffset for frequency 0: the period itself, in seconds (src/model/README.md, "Fields of
 * every check").
 */
export const SUB_MINUTE_OFFSETS = [10, 20, 30] as const;
/** The same in a check file without a service. */
export const FILE_SUB_MINUTE_OFFSETS: readonly number[] = [10, 15, 20, 30];

/** The types that run every few seconds in every service. */
const SUB_MINUTE_TYPES: readonly RunnableCheckType[] = ['API', 'TCP'];

/**
 * Largest frequencyOffset for a frequency in minutes above 0 (src/model/README.md, "Fields of every
 * check").
 */
export function maxFrequencyOffset(frequency: Frequency): number {
  return frequency <= 60 ? Math.floor(frequency * 10) : Math.ceil(frequency / 60);
}

/**
 * The phase of a check with a frequencyOffset: milliseconds from the start of its period. The unit
 * of the offset is 6 s, or an hour if the frequency is above 60.
 *
 * @param frequency minutes above 0
 */
export function offsetMsOf(frequency: Frequency, frequencyOffset: number): number {
  const unitMs = frequency <= 60 ? 6_000 : HOUR_MS;
  // The largest offset is a whole period, which is the same phase as 0.
  return (frequencyOffset * unitMs) % (frequency * MINUTE_MS);
}

export interface SubMinuteFields {
  readonly checkType: RunnableCheckType;
  readonly frequency: Frequency;
  readonly frequencyOffset: number | null;
}

/**
 * Why a service refuses a valid check that runs every few seconds (src/model/README.md, "Checks
 * that run every few seconds"); null if it accepts the check, or if the check runs less often.
 * Schemas do not contain this rule: it applies neither to check files without a service nor to
 * stored checks.
 *
 * @param allowsAllTypes ALLOW_SUBMINUTE of the service
 */
export function subMinuteProblem(
  { checkType, frequency, frequencyOffset }: SubMinuteFields,
  allowsAllTypes: boolean,
): { readonly field: 'frequency' | 'frequencyOffset'; readonly message: string } | null {
  if (frequency !== 0) return null;
  if (!SUB_MINUTE_TYPES.includes(checkType) && !allowsAllTypes) {
    const message =
      'must be 1 or more: only API and TCP checks can run every few seconds, unless the operator of the service allows it for all types with ALLOW_SUBMINUTE=on';
    return { field: 'frequency', message };
  }
  if (SUB_MINUTE_OFFSETS.some((allowed) => allowed === frequencyOffset)) return null;
  const message =
    'must be 10, 20 or 30 (seconds) when frequency is 0; 15 is only for check files without a service';
  return { field: 'frequencyOffset', message };
}
