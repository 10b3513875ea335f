import { describe, expect, it } from 'vitest';
import {
  type AlertState,
  NEVER_RUN,
} from '../../../../../src/model/alerting/alert-state-machine.ts';
import { currentProblemOf } from '../../../../../src/service/alerts/recipients/current-problem.ts';
import type { AlertRecord, AlertSubject } from '../../../../../src/service/alerts/states.sql.ts';

const RECORD: AlertRecord = {
  state: NEVER_RUN,
  lastRun: null,
  alertId: null,
  hasIncident: false,
  dueAtMs: null,
  notifiedExpiry: null,
  acknowledgement: null,
  escalatedTo: [],
};

const SUBJECT: AlertSubject = {
  accountId: 'account',
  checkId: 'shop',
  name: 'Shop',
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

const NOW = { isSilenced: false, failing: [] as readonly string[], atMs: 120_000 };

function failing(
  state: Partial<AlertState>,
  fields: Partial<AlertSubject> = {},
  record: Partial<AlertRecord> = {},
): AlertSubject {
  const failed: AlertState = { ...NEVER_RUN, condition: 'failing', sinceMs: 60_000, runs: 2 };
  return {
    ...SUBJECT,
    record: { ...RECORD, state: { ...failed, ...state }, ...record },
    ...fields,
  };
}

describe('what is wrong with a check now', () => {
  it('is null while the check passes, and before its first run', () => {
    expect(currentProblemOf(SUBJECT, NOW)).toBeNull();
    expect(currentProblemOf({ ...SUBJECT, record: RECORD }, NOW)).toBeNull();
  });

  it('has its condition, its start and that an alert was sent', () => {
    expect(currentProblemOf(failing({ notified: 'failing' }), NOW)).toEqual({
      condition: 'failing',
      sinceMs: 60_000,
      isAlerted: true,
      reason: 'It caused an alert.',
    });
  });

  const minutes = { ...SUBJECT.settings, own: { escalationType: 'TIME_BASED' } };
  const started = { alertId: 'a', as: 'failing', sinceMs: 0 } as const;
  it.each([
    [failing({}), NOW, 'It alerts after 3 runs in a row; so far 2.'],
    [failing({}, { settings: minutes }), NOW, 'It alerts after 5 minutes.'],
    [failing({}, { settings: minutes }), { ...NOW, atMs: 360_000 }, /^The next failing run/],
    [failing({ runs: 3 }, { checkType: 'HEARTBEAT' }), NOW, 'It alerts within a minute.'],
    [failing({ notified: 'degraded' }, { isMuted: true }), NOW, /is muted/],
    [failing({}, { isActive: false }), NOW, /is not activated/],
    [failing({ startedSilenced: true }, { isMuted: true }), NOW, /is muted: its alert waits/],
    [failing({ startedSilenced: true, runs: 3 }), NOW, /^The next failing run/],
    [failing({ startedSilenced: true, notified: 'degraded' }), NOW, /^The next failing run/],
    [failing({}), { ...NOW, isSilenced: true }, /^A maintenance window .*: its alert waits/],
    [
      failing({ heldAtMs: 1 }),
      { ...NOW, failing: ['Router'] },
      'It depends on Router: its alert waits.',
    ],
    [failing({ heldAtMs: 1 }), NOW, 'Its alert waits for the checks that it depends on.'],
    [failing({}, {}, { flapping: { alertsMs: [], started } }), NOW, /^It flaps/],
  ])('has the reason why no alert was sent, as people read it (%#)', (subject, now, reason) => {
    const problem = currentProblemOf(subject, now);
    expect(problem?.isAlerted).toBe(false);
    expect(problem?.reason).toMatch(reason);
  });
});
