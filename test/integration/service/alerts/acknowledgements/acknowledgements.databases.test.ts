import { describe, expect, it } from 'vitest';
import { databases } from '../../../../support/database/databases.ts';
import { makeWebhook } from '../../../../support/service/alert-deliveries.ts';
import {
  alertsFixtureOf,
  DEGRADED,
  FAILED,
  PASSED,
} from '../../../../support/service/alerts-fixture.ts';
import { useResultsFixture } from '../../../../support/service/results-fixture.ts';
import { startReplica, useRunningService } from '../../../../support/service/service-fixture.ts';

const HOOK = { url: 'https://hooks.test/' };
const REMINDED = {
  useGlobalAlertSettings: false,
  alertSettings: { reminders: { amount: 5, interval: 1 } },
};

describe.each(databases)('on %s', (kind) => {
  describe('acknowledgements', () => {
    const running = useRunningService(kind);
    const fixture = useResultsFixture(running);

    const openAlert = async () => {
      const [alert] = (await fixture().mine.get('/v1/check-alerts?open=true')).json;
      return { ...alert, path: `/v1/check-alerts/${alert.id}` };
    };
    /** The notices of a channel, oldest first, with the number of a reminder. */
    const received = async (channelId: number): Promise<readonly string[]> => {
      const { json } = await fixture().mine.get(
        `/v1/alert-channels/${channelId}/deliveries?limit=100`,
      );
      return json
        .toReversed()
        .map(({ alertType, reminder, escalatedAfterMinutes }: Record<string, unknown>) =>
          [
            alertType,
            ...(reminder === 0 ? [] : [reminder]),
            ...(escalatedAfterMinutes === null ? [] : [`after ${escalatedAfterMinutes} minutes`]),
          ].join(' '),
        );
    };

    /** A reminder is left out while an earlier notice is still to be sent. */
    const allSent = () =>
      fixture().store.query(
        `update alert_deliveries set state = 'sent', finished_at = now() where finished_at is null`,
      );

    it('end reminders and notify the channels that were notified, once, until they are undone', async () => {
      const { mine, theirs } = fixture();
      const { run, sweepAt } = alertsFixtureOf(fixture());
      const runner = await fixture().clientWith('run');
      const subscribed = await makeWebhook(fixture(), HOOK, ['shop']);
      const other = await makeWebhook(fixture(), HOOK, []);
      await mine.patch('/v1/checks/shop', REMINDED);
      await run(1, FAILED);
      await allSent();
      await sweepAt(2);
      await allSent();
      const { path, acknowledgement } = await openAlert();
      expect(acknowledgement).toBeNull();
      expect((await theirs.post(`${path}/acknowledge`)).status).toBe(404);
      const taken = await runner.post(`${path}/acknowledge`);
      expect([taken.status, taken.json.acknowledgement]).toMatchObject([
        200,
        { by: { kind: 'key', name: 'run' } },
      ]);
      // A later request returns the first acknowledgement.
      expect((await mine.post(`${path}/acknowledge`)).json).toEqual(taken.json);
      await run(3, FAILED);
      await allSent();
      await sweepAt(4);
      const before = ['ALERT_FAILURE', 'ALERT_FAILURE_REMAIN 1', 'ALERT_ACKNOWLEDGED'];
      expect([await received(subscribed), await received(other)]).toEqual([before, []]);

      const freed = await mine.post(`${path}/unacknowledge`);
      expect(freed.json.acknowledgement).toBeNull();
      await mine.post(`${path}/unacknowledge`);
      await allSent();
      await sweepAt(5);
      await mine.post(`${path}/acknowledge`);
      await run(6, PASSED);
      expect((await received(subscribed)).slice(3)).toEqual([
        'ALERT_UNACKNOWLEDGED',
        'ALERT_FAILURE_REMAIN 2',
        'ALERT_ACKNOWLEDGED',
        'ALERT_RECOVERY',
      ]);
      const late = await mine.post(`${path}/unacknowledge`);
      expect([late.status, late.json.attributes]).toEqual([409, { reason: 'closed' }]);
      expect((await mine.get(path)).json.acknowledgement).toMatchObject({ by: { name: 'first' } });
    });

    it('last while the check gets no worse', async () => {
      const { mine } = fixture();
      const { run } = alertsFixtureOf(fixture());
      await run(1, DEGRADED);
      const { path } = await openAlert();
      await mine.post(`${path}/acknowledge`);
      await run(2, FAILED);
      const worse = await openAlert();
      expect(worse.acknowledgement).toBeNull();
      expect((await mine.post(`${path}/acknowledge`)).status).toBe(409);
      await mine.post(`${worse.path}/acknowledge`);
      await run(3, DEGRADED);
      const eased = await openAlert();
      expect([eased.alertType, eased.acknowledgement]).toMatchObject([
        'ALERT_FAILURE_DEGRADED',
        { by: { kind: 'key', name: 'first' } },
      ]);
    });

    it('stay while the check is worse in silence, and end with the alert that follows it', async () => {
      const { mine } = fixture();
      const { run } = alertsFixtureOf(fixture());
      const subscribed = await makeWebhook(fixture(), HOOK, ['shop']);
      await run(1, DEGRADED);
      const { id, path } = await openAlert();
      const taken = await mine.post(`${path}/acknowledge`);
      await mine.patch('/v1/checks/shop', { muted: true });
      await run(2, FAILED);
      expect(await openAlert()).toMatchObject({
        id,
        acknowledgement: taken.json.acknowledgement,
      });
      await mine.patch('/v1/checks/shop', { muted: false });
      await run(3, FAILED);
      const worse = await openAlert();
      expect([worse.alertType, worse.acknowledgement]).toEqual(['ALERT_DEGRADED_FAILURE', null]);
      await mine.post(`${worse.path}/acknowledge`);
      expect((await mine.post(`${worse.path}/unacknowledge`)).json.acknowledgement).toBeNull();
      expect(await received(subscribed)).toEqual([
        'ALERT_DEGRADED',
        'ALERT_ACKNOWLEDGED',
        'ALERT_DEGRADED_FAILURE',
        'ALERT_ACKNOWLEDGED',
        'ALERT_UNACKNOWLEDGED',
      ]);
    });

    it('stay, and can be undone, while it is worse but its alert waits for another check', async () => {
      const { mine } = fixture();
      const { run, sweepAt } = alertsFixtureOf(fixture());
      await fixture().check('router');
      await fixture().check('shop', { dependsOn: ['router'] });
      const subscribed = await makeWebhook(fixture(), HOOK, ['shop']);
      await run(1, DEGRADED);
      await sweepAt(1.5);
      const { path } = await openAlert();
      const taken = await mine.post(`${path}/acknowledge`);
      await run(2, { ...FAILED, checkId: 'router' });
      await run(2, FAILED);
      expect((await mine.post(`${path}/acknowledge`)).json).toEqual(taken.json);
      expect((await mine.post(`${path}/unacknowledge`)).json.acknowledgement).toBeNull();
      await mine.post(`${path}/acknowledge`);
      await run(3, { ...PASSED, checkId: 'router' });
      await run(4, FAILED);
      const { json } = await mine.get('/v1/check-alerts?open=true&checkId=shop');
      expect(json).toMatchObject([{ alertType: 'ALERT_DEGRADED_FAILURE', acknowledgement: null }]);
      expect(await received(subscribed)).toEqual([
        'ALERT_DEGRADED',
        'ALERT_ACKNOWLEDGED',
        'ALERT_UNACKNOWLEDGED',
        'ALERT_ACKNOWLEDGED',
        'ALERT_DEGRADED_FAILURE',
      ]);
    });

    it('do not notify a channel whose alert waits for its next digest', async () => {
      const { mine } = fixture();
      const { run } = alertsFixtureOf(fixture());
      const subscribed = await makeWebhook(fixture(), HOOK, ['shop']);
      await mine.patch(`/v1/alert-channels/${subscribed}`, { degradedDigestHour: 7 });
      await run(1, DEGRADED);
      const { path } = await openAlert();
      expect((await mine.post(`${path}/acknowledge`)).status).toBe(200);
      expect(await received(subscribed)).toEqual(['ALERT_DEGRADED']);
    });

    it('are in the audit log and among the events', async () => {
      const { mine } = fixture();
      const { run } = alertsFixtureOf(fixture());
      await run(1, FAILED);
      const { id, path } = await openAlert();
      await mine.post(`${path}/acknowledge`);
      await mine.post(`${path}/unacknowledge`);
      const { json: entries } = await mine.get('/v1/audit-log?kind=check-alert');
      expect(entries).toMatchObject([
        { action: 'unacknowledge', resourceId: id, actor: { kind: 'key', name: 'first' } },
        { action: 'acknowledge', resourceId: id, resourceName: 'Check shop' },
      ]);
      const events = await fixture().store.query<{ kind: string; data: object }>(
        `select kind, data from events where account_id = $1 and resource_id = $2
         order by list_position, id`,
        [mine.accountId, id],
      );
      const data = { checkId: 'shop', alertType: 'ALERT_FAILURE' };
      expect(events).toEqual([
        { kind: 'alert.created', data },
        { kind: 'alert.acknowledged', data },
        { kind: 'alert.unacknowledged', data },
      ]);
    });
  });

  describe('an escalation', () => {
    const running = useRunningService(kind);
    const fixture = useResultsFixture(running);

    const channels = async () => {
      const subscribed = await makeWebhook(fixture(), HOOK, ['shop']);
      const onCall = await makeWebhook(fixture(), HOOK, []);
      const { mine } = fixture();
      const set = await mine.patch(`/v1/accounts/${mine.accountId}/alert-settings`, {
        escalationStep: { minutes: 10, alertChannelIds: [onCall, subscribed] },
      });
      expect(set.status, set.text).toBe(200);
      return { subscribed, onCall };
    };
    const received = async (channelId: number): Promise<readonly unknown[]> => {
      const { json } = await fixture().mine.get(
        `/v1/alert-channels/${channelId}/deliveries?limit=100`,
      );
      return json
        .toReversed()
        .map((row: Record<string, unknown>) => [row.alertType, row.escalatedAfterMinutes]);
    };

    const reasons = async (channelId: number): Promise<readonly string[]> => {
      const { json } = await fixture().mine.get(`/v1/alert-channels/${channelId}/deliveries`);
      return json.toReversed().map(({ reason }: { readonly reason: string }) => reason);
    };

    it('notifies channels that were not notified, once with several replicas, and then of the end', async () => {
      const { subscribed, onCall } = await channels();
      const { run, sweepAt } = alertsFixtureOf(fixture());
      const replica = await startReplica(running());
      await run(0, FAILED);
      await sweepAt(9);
      expect(await received(onCall)).toEqual([]);
      fixture().clock.spend(60_000);
      const sweeps = [fixture(), replica].map(({ features }) => features.alertEngine.sweep());
      await Promise.all(sweeps);
      await sweepAt(30);
      expect(await received(onCall)).toEqual([['ALERT_FAILURE_REMAIN', 10]]);
      const [alert] = (await fixture().mine.get('/v1/check-alerts?open=true')).json;
      await fixture().mine.post(`/v1/check-alerts/${alert.id}/acknowledge`);
      await run(31, PASSED);
      expect((await received(onCall)).slice(1)).toEqual([
        ['ALERT_ACKNOWLEDGED', null],
        ['ALERT_RECOVERY', null],
      ]);
      expect(await received(subscribed)).toEqual([
        ['ALERT_FAILURE', null],
        ['ALERT_ACKNOWLEDGED', null],
        ['ALERT_RECOVERY', null],
      ]);
      expect(await reasons(onCall)).toEqual([
        'Nobody acknowledged the alert for 10 minutes.',
        'It was notified of the alert.',
        'The problem was escalated to it.',
      ]);
      expect(await reasons(subscribed)).toEqual([
        'It was subscribed to the check.',
        'It was notified of the alert.',
        'It was subscribed to the check and was notified of the problem.',
      ]);
      // The next problem notifies only the subscribed channels at first.
      await run(32, FAILED);
      expect(await received(onCall)).toHaveLength(3);
    });

    it('ends with the problem, also for one that begins in the same upload as that ends', async () => {
      const { subscribed, onCall } = await channels();
      const { deliver, result, run, sweepAt } = alertsFixtureOf(fixture());
      await run(0, FAILED);
      await sweepAt(10);
      const results = [result(11, PASSED), result(12, FAILED)];
      await deliver(fixture().berlin, { results });
      expect(await received(onCall)).toEqual([
        ['ALERT_FAILURE_REMAIN', 10],
        ['ALERT_RECOVERY', null],
      ]);
      expect((await received(subscribed)).slice(-1)).toEqual([['ALERT_FAILURE', null]]);
      await sweepAt(22);
      expect((await received(onCall)).slice(2)).toEqual([['ALERT_FAILURE_REMAIN', 10]]);
    });

    it('does not apply to the next problem if a replica of the previous release ended the last one', async () => {
      const { onCall } = await channels();
      const { run, sweepAt } = alertsFixtureOf(fixture());
      await run(0, FAILED);
      await sweepAt(10);
      expect(await received(onCall)).toHaveLength(1);
      const passing = {
        ...{ condition: 'passing', told: null, isHushed: false, sinceMs: 0, runs: 0 },
        ...{ countedMs: 0, places: [], toldAtMs: 0, reminders: 0 },
      };
      await fixture().store.query(
        `update check_alert_states set condition = 'passing', due_at = null,
           body = body || jsonb_build_object('alertId', null, 'lastRun', null, 'state', $1::jsonb)`,
        [JSON.stringify(passing)],
      );
      await run(11, FAILED);
      expect(await received(onCall)).toHaveLength(1);
    });

    it('waits while the check is muted, and is never sent if somebody acknowledged the alert', async () => {
      const { onCall } = await channels();
      const { mine } = fixture();
      const { run, sweepAt } = alertsFixtureOf(fixture());
      await run(0, FAILED);
      await mine.patch('/v1/checks/shop', { muted: true });
      await sweepAt(10);
      await sweepAt(11);
      expect(await received(onCall)).toEqual([]);
      await mine.patch('/v1/checks/shop', { muted: false });
      await sweepAt(12);
      expect(await received(onCall)).toHaveLength(1);
      await run(13, PASSED);
      await run(14, FAILED);
      const [alert] = (await mine.get('/v1/check-alerts?open=true')).json;
      await mine.post(`/v1/check-alerts/${alert.id}/acknowledge`);
      await sweepAt(60);
      expect(await received(onCall)).toHaveLength(2);
    });

    it('waits for others of the channel, as all of its notices do', async () => {
      const { onCall } = await channels();
      const { mine } = fixture();
      await mine.patch(`/v1/alert-channels/${onCall}`, { groupBy: 'LOCATION', groupWindow: 60 });
      const { run, sweepAt, slot } = alertsFixtureOf(fixture());
      await run(0, FAILED);
      await sweepAt(10);
      const [delivery] = (await mine.get(`/v1/alert-channels/${onCall}/deliveries`)).json;
      expect(delivery).toMatchObject({
        escalatedAfterMinutes: 10,
        nextAttemptAt: new Date(slot(11)).toISOString(),
      });
    });

    it('is set with channels of the account, and forgets those that are deleted', async () => {
      const { subscribed, onCall } = await channels();
      const { mine, theirs } = fixture();
      const path = `/v1/accounts/${mine.accountId}/alert-settings`;
      await mine.delete(`/v1/alert-channels/${subscribed}`);
      const step = { minutes: 10, alertChannelIds: [onCall] };
      expect((await mine.get(path)).json.escalationStep).toEqual(step);
      await mine.patch(path, { reminders: { amount: 1, interval: 5 } });
      expect((await mine.get(path)).json.escalationStep).toEqual(step);
      const foreign = await theirs.patch(`/v1/accounts/${theirs.accountId}/alert-settings`, {
        escalationStep: step,
      });
      expect([foreign.status, foreign.json.attributes.problems[0].path]).toEqual([
        400,
        'body.escalationStep.alertChannelIds[0]',
      ]);
      await mine.delete(`/v1/alert-channels/${onCall}`);
      expect((await mine.get(path)).json.escalationStep).toBeNull();
    });
  });
});
