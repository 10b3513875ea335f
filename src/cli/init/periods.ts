import { FREQUENCIES } from '../../model/enums.ts';

/** Minutes between runs, as text. */
export const PERIODS: readonly string[] = FREQUENCIES.filter((minutes) => minutes > 0).map(String);
