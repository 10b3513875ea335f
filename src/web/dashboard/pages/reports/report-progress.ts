import { count, counted, duration, totalText } from '../../parts/formats.ts';
import { MAX_CHECKS } from './report-data.ts';

/** The progress of reading a report. */
export interface ReportProgress {
  /** Checks. */
  readonly read: number;
  readonly total: number;
  /** Whether more than `total` checks match. */
  readonly isAtLeast: boolean;
  readonly isReading: boolean;
}

/** `400 of 900 checks`, and why not all of them if reading has stopped. */
export function progressText({ read, total, isAtLeast, isReading }: ReportProgress): string {
  if (read >= total && !isAtLeast) return counted(read, 'check');
  const of = totalText(total, isAtLeast);
  const text = `${count(read)} of ${of} checks`;
  if (isReading) return text;
  return read >= MAX_CHECKS
    ? `${text}, the first by name: use a filter for others`
    : `${text} were read`;
}

/** Why reading waits. */
export function waitText(waitsMs: number): string {
  const wait = duration(Math.ceil(waitsMs / 1_000) * 1_000);
  return `The limit of reports per minute is reached. Reading continues within ${wait}.`;
}

/**
 * The name of the file with a report. Contains a note if checks are missing.
 *
 * @param day such as `2026-01-31`
 */
export function fileName(day: string, { read, total, isAtLeast }: ReportProgress): string {
  const of = isAtLeast ? `more-than-${total}` : total;
  const part = read >= total && !isAtLeast ? '' : `-first-${read}-of-${of}`;
  return `vedette-report-${day}${part}.csv`;
}
