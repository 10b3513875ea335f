import { describe, expect, it } from 'vitest';
import { rulesOf } from '../../../../src/service/alerts/check-rules.ts';
import { Parents } from '../../../../src/service/alerts/dependencies/parents.ts';
import { judgeRuns } from '../../../../src/service/alerts/judge.ts';
import { observationOf } from '../../../../src/service/alerts/observation.ts';
import type { AlertSubject } from '../../../../src/service/alerts/states.sql.ts';
import { ASSERTION, HTTP_DETAIL, resultOf } from '../../../support/samples/http-results.ts';

const SUBJECT: AlertSubject = {
  accountId: 'account',
  checkId: 'nightly',
  name: 'Nightly',
  checkType: 'URL',
  tags: [],
  groupName: null,
  isActive: true,
  isMuted: false,
  runsParallel: false,
  locations: [],
  frequency: 1,
  frequencyOffset: null,
  settings: {
    own: { escalationType: 'RUN_BASED', runBasedEscalation: { failedRunThreshold: 3 } },
    ownUsesGlobal: false,
    group: null,
    groupUsesGlobal: true,
    account: null,
  },
  triggerIncident: null,
  dependsOn: [],
  record: null,
};

describe('rulesOf', () => {
  it('escalates a heartbeat after one failure, since it has no retries', () => {
    expect(rulesOf(SUBJECT).escalation).toEqual({ by: 'runs', runs: 3 });
    const heartbeat: AlertSubject = { ...SUBJECT, checkType: 'HEARTBEAT' };
    expect(rulesOf(heartbeat).escalation).toEqual({ by: 'runs', runs: 1 });
    const observation = {
      checkId: 'nightly',
      slotMs: 1,
      location: 'heartbeat',
      condition: 'failing',
      responseTime: 0,
      error: 'No ping was received',
      statusCode: null,
      startedAtMs: 1,
      sslDaysRemaining: null,
    } as const;
    const parts = { atMs: 1, isSilenced: () => false, parents: new Parents([]), ids: () => 'id' };
    const { alerts } = judgeRuns(heartbeat, [observation], [], parts);
    expect(alerts.map(({ alertType }) => alertType)).toEqual(['ALERT_FAILURE']);
  });

  it('does not change a threshold in minutes of a heartbeat', () => {
    const own = {
      escalationType: 'TIME_BASED',
      timeBasedEscalation: { minutesFailingThreshold: 10 },
    };
    const settings = { ...SUBJECT.settings, own };
    const { escalation } = rulesOf({ ...SUBJECT, checkType: 'HEARTBEAT', settings });
    expect(escalation).toEqual({ by: 'time', forMs: 600_000 });
  });

  it('falls back to the defaults where the stored settings are invalid', () => {
    const settings = { ...SUBJECT.settings, own: { escalationType: 'of another release' } };
    expect(rulesOf({ ...SUBJECT, settings }).escalation).toEqual({ by: 'runs', runs: 1 });
  });
});

it('the error of an observation is cut at 4 KB', () => {
  const error = 'é'.repeat(10_000);
  const detail = { ...HTTP_DETAIL, assertions: [{ ...ASSERTION, error }] };
  const observation = observationOf(resultOf({ hasFailures: true, apiCheckResult: detail }));
  expect(observation?.error).toBe('é'.repeat(2048));
});
