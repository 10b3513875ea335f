import type { CheckResult } from '../../../src/model/result/result.ts';

/** The result of a URL check that took 1.5 s and passed, overridden by the fields. */
export function resultFor(fields: Partial<CheckResult> = {}): CheckResult {
  return {
    resultType: 'FINAL',
    id: 'a-result',
    name: 'A check',
    checkId: 'a-check',
    checkType: 'URL',
    hasFailures: false,
    hasErrors: false,
    isDegraded: false,
    isCancelled: false,
    overMaxResponseTime: false,
    runLocation: 'local',
    startedAt: '2026-01-01T00:00:00.000Z',
    stoppedAt: '2026-01-01T00:00:01.500Z',
    created_at: '2026-01-01T00:00:01.500Z',
    responseTime: 1500,
    apiCheckResult: null,
    tcpCheckResult: null,
    dnsCheckResult: null,
    icmpCheckResult: null,
    browserCheckResult: null,
    multiStepCheckResult: null,
    agenticCheckResult: null,
    checkRunId: Date.UTC(2026, 0, 1),
    attempts: 0,
    sequenceId: 'a-sequence',
    errorGroupIds: [],
    ...fields,
  };
}
