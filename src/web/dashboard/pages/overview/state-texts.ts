import { responseTime } from '../../parts/formats.ts';
import type { CheckRow } from './check-rows.ts';

export interface Why {
  /** The code of the error, or a few words. */
  readonly code: string;
  readonly text: string;
}

/** Why a check does not pass or has no verdict; null if it passes or is not activated. */
export function whyOf(row: CheckRow): Why | null {
  if (row.state === 'failing') {
    const { lastError } = row;
    if (lastError === null) return { code: 'failed', text: '' };
    return { code: lastError.code ?? 'ASSERTION_FAILED', text: lastError.message ?? '' };
  }
  if (row.state === 'degraded') {
    const usual = row.usualResponseTime;
    return {
      code: 'slow',
      text:
        usual === null
          ? `${responseTime(row.lastResponseTime)}, over the degraded threshold`
          : `${responseTime(row.lastResponseTime)}, usually ${responseTime(usual)}`,
    };
  }
  if (row.state !== 'unknown') return null;
  if (row.unknownReason === 'location_silent') {
    return { code: 'location silent', text: 'No agent of its locations is connected' };
  }
  return row.hasErrors
    ? { code: 'not judged', text: 'The last run could not be judged, because of a system error' }
    : { code: 'no result', text: 'No run has ended yet' };
}

/** The name of the state of a row. */
export function wordOf({ state, unknownReason, hasErrors }: CheckRow): string {
  if (state !== 'unknown') return `${state.charAt(0).toUpperCase()}${state.slice(1)}`;
  if (unknownReason === 'location_silent') return 'No agent';
  return hasErrors ? 'Unknown' : 'Waiting';
}
