import { MINUTE_MS } from '../../../model/time-units.ts';
import type { AlertNotice } from '../notice.ts';

/** The recovery that follows a sample notice. */
export function sampleEndOf({ failure: _, ...notice }: AlertNotice): AlertNotice {
  const passed = { error: null, statusCode: '200', lastPassing: null };
  return { ...notice, ...passed, alertType: 'ALERT_RECOVERY' };
}

/** A notice of a check that does not exist, to test channels and templates. */
export function sampleNotice({
  alertId,
  atMs,
  timeZone = 'UTC',
}: {
  readonly alertId: string;
  readonly atMs: number;
  readonly timeZone?: string;
}): AlertNotice {
  return {
    alertId,
    alertType: 'ALERT_FAILURE',
    atMs,
    check: {
      id: 'test-notice',
      name: 'Test (no real failure)',
      checkType: 'URL',
      tags: ['test'],
      groupName: null,
    },
    runLocation: 'test',
    responseTime: 1234,
    error: 'This is a test of the alert channel: nothing has failed.',
    statusCode: '503',
    startedAtMs: atMs,
    sinceMs: atMs - 5 * MINUTE_MS,
    failure: { code: null, phase: 'response', advice: 'Nothing: this is only a test.' },
    lastPassing: { startedAtMs: atMs - 6 * MINUTE_MS, responseTime: 123, statusCode: '200' },
    timeZone,
    sslDaysRemaining: null,
    reminder: 0,
  };
}
