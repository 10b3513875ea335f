import { FREQUENCIES } from '../../model/enums.ts';

/** Minutes between runs, as they are typed. */
export const PERIODS: readonly string[] = FREQUENCIES.filter((minutes) => minutes > 0).map(String);
