import { describe, expect, it } from 'vitest';
import type { AlertState } from '../../../../src/model/alerting/alert-state-machine.ts';
import {
  type AlertRecord,
  findAlertSubjects,
  putAlertRecords,
} from '../../../../src/service/alerts/states.sql.ts';
import { databases } from '../../../support/database/databases.ts';
import { useResultsFixture } from '../../../support/service/results-fixture.ts';
import { useRunningService } from '../../../support/service/service-fixture.ts';

const STATE: AlertState = {
  condition: 'failing',
  notified: 'degraded',
  startedSilenced: true,
  sinceMs: 1001,
  runs: 3,
  countedMs: 1002,
  verdicts: [
    { location: 'berlin', slotMs: 1003, condition: 'failing' },
    { location: 'oslo', slotMs: 1004, condition: 'passing' },
  ],
  notifiedAtMs: 1005,
  reminders: 2,
  acknowledged: 'failing',
  wait: { worst: 'failing', sinceMs: 1009, isEscalated: true },
};

const RECORD: AlertRecord = {
  state: STATE,
  lastRun: {
    runLocation: 'berlin',
    responseTime: 12.5,
    error: 'status 503',
    statusCode: '503',
    startedAtMs: 1006,
    sslDaysRemaining: 9,
  },
  alertId: 'f0c1',
  hasIncident: true,
  dueAtMs: 1007,
  notifiedExpiry: { endsAtMs: 1008, notifiedDays: 7 },
  acknowledgement: { by: { kind: 'channel', id: '7', name: 'Ops' }, atMs: 1010 },
  escalatedTo: [7],
};

/** As every release stores it: replicas of two releases share the rows. */
const STORED = {
  body: [
    '{"state": {"runs": 3, "told": "degraded"',
    '"wait": {"worst": "failing", "sinceMs": 1009, "isEscalated": true}',
    '"places": [{"place": "berlin", "slotMs": 1003, "condition": "failing"}',
    '{"place": "oslo", "slotMs": 1004, "condition": "passing"}]',
    '"sinceMs": 1001, "isHushed": true, "toldAtMs": 1005',
    '"condition": "failing", "countedMs": 1002, "reminders": 2, "acknowledged": "failing"}, "alertId": "f0c1"',
    '"lastRun": {"error": "status 503", "statusCode": "503", "runLocation": "berlin"',
    '"startedAtMs": 1006, "responseTime": 12.5, "sslDaysRemaining": 9}, "escalatedTo": [7]',
    '"hasIncident": true, "acknowledgement": {"by": {"id": "7", "kind": "channel", "name": "Ops"}',
    '"atMs": 1010}}',
  ].join(', '),
  condition: 'failing',
  due_ms: 1007,
  ssl_ends_ms: 1008,
  ssl_told_days: 7,
};

describe.each(databases)('on %s', (kind) => {
  describe('the stored alert state of a check', () => {
    const fixture = useResultsFixture(useRunningService(kind));
    const recordOfShop = async () => {
      const { store, mine } = fixture();
      const [subject] = await findAlertSubjects(store, {
        accountId: mine.accountId,
        checkIds: ['shop'],
        named: ['shop'],
        certificates: [],
      });
      return subject?.record;
    };

    it('has the keys and columns that replicas of the previous release read', async () => {
      const { store, mine } = fixture();
      const records = [{ checkId: 'shop', record: RECORD }];
      await putAlertRecords(store, { accountId: mine.accountId, records });
      const rows = await store.query(
        `select json_build_object('body', body::text, 'condition', condition,
           'due_ms', extract(epoch from due_at) * 1000,
           'ssl_ends_ms', extract(epoch from ssl_ends_at) * 1000,
           'ssl_told_days', ssl_told_days) as stored
         from check_alert_states where account_id = $1 and check_id = 'shop'`,
        [mine.accountId],
      );
      expect(rows).toEqual([{ stored: STORED }]);
      expect(await recordOfShop()).toEqual(RECORD);
    });

    it('is read from a row that the previous release stored', async () => {
      const { store, mine } = fixture();
      await store.query(
        `insert into check_alert_states
           (account_id, check_id, condition, due_at, ssl_ends_at, ssl_told_days, body)
         values ($1, 'shop', $2, to_timestamp(1.007), to_timestamp(1.008), $3, $4::jsonb)`,
        [mine.accountId, STORED.condition, STORED.ssl_told_days, bodyOfPreviousRelease()],
      );
      // A sent alert waits for an acknowledgement since it was sent.
      const wait = { worst: 'degraded', sinceMs: 1005, isEscalated: false };
      const state = { ...STATE, acknowledged: null, wait };
      expect(await recordOfShop()).toEqual({
        ...RECORD,
        state,
        acknowledgement: null,
        escalatedTo: [],
      });
    });
  });
});

function bodyOfPreviousRelease(): string {
  const { acknowledgement: _, escalatedTo: __, state, ...body } = JSON.parse(STORED.body);
  const { acknowledged: ___, wait: ____, ...stateBefore } = state;
  return JSON.stringify({ ...body, state: stateBefore });
}
