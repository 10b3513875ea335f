import type { AlertNotice } from '../notice.ts';

/** What differs in the notice of the end of the problem that the sample is about. */
export const SAMPLE_END = {
  alertType: 'ALERT_RECOVERY',
  error: null,
  statusCode: '200',
} as const satisfies Partial<AlertNotice>;

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
    timeZone,
    sslDaysRemaining: null,
    reminder: 0,
  };
}
