import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { type AlertType, RECOVERY_TYPES } from '../../../../../src/model/alerting/alert.ts';
import { insertDeliveries } from '../../../../../src/service/alerts/delivery/sql.ts';
import { listFailingChannels } from '../../../../../src/service/alerts/monitoring-problems/detect.sql.ts';
import {
  keepRepeating,
  repeatOpenAlerts,
} from '../../../../../src/service/alerts/repeats/repeat-open-alerts.ts';
import { repeatLastNotices } from '../../../../../src/service/alerts/repeats/sql.ts';
import { databases, silentLog } from '../../../../support/database/databases.ts';
import { eventually } from '../../../../support/eventually.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { type HookServer, hookServer } from '../../../../support/servers/hook-server.ts';
import {
  deliveriesWhen,
  makeChannel,
  makeWebhook,
  noticeOf,
  startWorker,
  whenAll,
} from '../../../../support/service/alert-deliveries.ts';
import {
  alertsFixtureOf,
  DEGRADED,
  FAILED,
  PASSED,
} from '../../../../support/service/alerts-fixture.ts';
import { useResultsFixture } from '../../../../support/service/results-fixture.ts';
import { useRunningService } from '../../../../support/service/service-fixture.ts';

interface Alert {
  readonly labels: Readonly<Record<string, string>>;
  readonly startsAt?: string;
  readonly endsAt: string;
}

const alertsIn = ({ requests }: HookServer): readonly (readonly Alert[])[] =>
  requests.map(({ body }) => JSON.parse(body));

/** Open alerts, by the real engine, outbox and worker. */
describe.each(databases)('on %s', (kind) => {
  describe('an open alert', () => {
    const running = useRunningService(kind);
    const fixture = useResultsFixture(running);
    afterEach(() => running().store.query('delete from alert_deliveries'));

    const MINUTE_MS = 60_000;
    const repeat = () => repeatOpenAlerts({ ...fixture(), log: silentLog() });
    const pass = (minutes: number) => fixture().clock.spend(minutes * MINUTE_MS);
    const channelTo = ({ url }: { readonly url: string }, fields: object = {}): Promise<number> =>
      makeChannel(fixture(), {
        type: 'ALERTMANAGER',
        config: { url: new URL(url).origin },
        subscriptions: [{ checkId: 'shop' }],
        ...fields,
      });
    const sent = (id: number, count: number) =>
      deliveriesWhen(fixture(), id, (rows) => rows.length === count && whenAll('sent')(rows));

    it('is sent again every 3 minutes by the same delivery, until it is over', async () => {
      const server = await hookServer();
      const { run } = alertsFixtureOf(fixture());
      await fixture().check('shop', { privateLocations: ['berlin'] });
      const id = await channelTo(server);
      startWorker(fixture());
      await run(1, FAILED);
      const [first] = await sent(id, 1);
      pass(2);
      expect(await repeat()).toBe(0);
      for (const count of [2, 3]) {
        pass(3);
        expect(await repeat()).toBe(1);
        await sent(id, 1);
        expect(server.requests).toHaveLength(count);
      }
      const nowMs = fixture().clock.wallMs();
      const [begin, again, last] = alertsIn(server).flat();
      expect(begin?.labels).toMatchObject({ severity: 'critical', location: 'berlin' });
      for (const alert of [again, last]) {
        expect(alert).toMatchObject({ labels: begin?.labels, startsAt: begin?.startsAt });
      }
      expect(Date.parse(last?.endsAt ?? '')).toBeGreaterThan(nowMs + 10 * MINUTE_MS);
      expect((await sent(id, 1))[0]).toMatchObject({ id: first.id, attempts: 1 });

      await run(12, PASSED);
      await sent(id, 2);
      pass(10);
      expect(await repeat()).toBe(0);
      const end = alertsIn(server).flat().at(-1);
      expect(end?.labels).toEqual(begin?.labels);
      expect(Date.parse(end?.endsAt ?? '')).toBeLessThan(fixture().clock.wallMs());
      expect(server.requests).toHaveLength(4);
    });

    it('is sent again after a restart, and also while it is acknowledged or the check is muted', async () => {
      const server = await hookServer();
      const { run } = alertsFixtureOf(fixture());
      const id = await channelTo(server);
      const before = startWorker(fixture());
      await run(1, FAILED);
      await sent(id, 1);
      const [alert] = (await fixture().mine.get('/v1/check-alerts?open=true')).json;
      await fixture().mine.post(`/v1/check-alerts/${alert.id}/acknowledge`);
      await sent(id, 2);
      await before.stop();
      await fixture().mine.patch('/v1/checks/shop', { muted: true });
      pass(30);
      startWorker(fixture());
      expect(await repeat()).toBe(1);
      await sent(id, 2);
      const alerts = alertsIn(server).flat();
      expect(alerts).toHaveLength(3);
      expect(alerts[2]?.labels).toEqual(alerts[0]?.labels);
      expect(Date.parse(alerts[2]?.endsAt ?? '')).toBeGreaterThan(fixture().clock.wallMs());
    });

    it('is sent again after the channel had failed, and its end is sent last', async () => {
      let status = 400;
      const server = await hookServer((_, answer) => answer.writeHead(status).end());
      const { run } = alertsFixtureOf(fixture());
      const id = await channelTo(server);
      startWorker(fixture());
      await run(1, FAILED);
      await deliveriesWhen(fixture(), id, whenAll('failed'));
      status = 503;
      pass(3);
      expect(await repeat()).toBe(1);
      await deliveriesWhen(
        fixture(),
        id,
        ([row]) => row?.attempts === 1 && row.state === 'waiting',
      );
      // It waits for the next attempt: it is not sent twice.
      pass(3);
      expect(await repeat()).toBe(0);
      await run(8, PASSED);
      status = 200;
      await fixture().clock.advance(20_000);
      await sent(id, 2);
      const nowMs = fixture().clock.wallMs();
      const last = alertsIn(server).flat().slice(-2);
      expect(last.map(({ endsAt }) => Date.parse(endsAt) <= nowMs)).toEqual([false, true]);
    });

    it('is not sent again to channels that do not get its notices, nor for checks that do not run', async () => {
      const server = await hookServer();
      const { run } = alertsFixtureOf(fixture());
      const id = await channelTo(server);
      const hook = await makeWebhook(fixture(), { url: server.url }, ['shop']);
      startWorker(fixture());
      await run(1, FAILED);
      await Promise.all([sent(id, 1), sent(hook, 1)]);
      const { mine } = fixture();
      const path = `/v1/alert-channels/${id}`;
      pass(5);
      await mine.patch(path, { subscriptions: [] });
      expect(await repeat()).toBe(0);
      await mine.patch(path, { subscriptions: [{ checkId: 'shop' }] });
      await mine.patch('/v1/checks/shop', { activated: false });
      expect(await repeat()).toBe(0);
      await mine.patch('/v1/checks/shop', { activated: true });
      expect(await repeat()).toBe(1);
      await Promise.all([sent(id, 1), sent(hook, 1)]);
      expect(server.requests).toHaveLength(3);
    });

    it('is not that of an earlier problem whose end was not sent', async () => {
      const server = await hookServer();
      const { run } = alertsFixtureOf(fixture());
      const { mine } = fixture();
      const id = await channelTo(server);
      startWorker(fixture());
      await run(1, FAILED);
      await sent(id, 1);
      await mine.patch('/v1/checks/shop', { muted: true });
      await run(2, PASSED);
      await run(3, FAILED);
      pass(5);
      expect(await repeat()).toBe(0);
      expect(server.requests).toHaveLength(1);
    });

    it('is not that of an earlier failure if the check is only degraded now', async () => {
      const server = await hookServer();
      const { run } = alertsFixtureOf(fixture());
      const { mine } = fixture();
      const id = await channelTo(server, { sendDegraded: false });
      const all = await hookServer();
      const other = await channelTo(all, { sendDegraded: true });
      startWorker(fixture());
      await run(1, FAILED);
      await sent(id, 1);
      await mine.patch('/v1/checks/shop', { muted: true });
      await run(2, PASSED);
      await mine.patch('/v1/checks/shop', { muted: false });
      await run(3, DEGRADED);
      await sent(other, 2);
      pass(5);
      expect(await repeat()).toBe(1);
      await sent(other, 2);
      expect(server.requests).toHaveLength(1);
      expect(alertsIn(all).at(-1)).toMatchObject([{ labels: { severity: 'warning' } }]);
    });

    it('of many is sent again once each, with two replicas, and not all of them at once', async () => {
      const server = await hookServer();
      const { run } = alertsFixtureOf(fixture());
      const count = 205;
      for (let number = 0; number < count; number += 1) await channelTo(server);
      await run(1, FAILED);
      await fixture().store.query(
        "update alert_deliveries set state = 'sent', finished_at = created_at",
      );
      pass(3);
      let total = 0;
      for (let scan = 0; scan < 5; scan += 1) {
        const [one, other] = await Promise.all([repeat(), repeat()]);
        expect(one + other).toBeLessThanOrEqual(84);
        total += one + other;
      }
      expect(total).toBe(count);
      expect(await repeat()).toBe(0);
    });

    it('of a silent location and of monitoring itself is sent again, too, until it is over', async () => {
      const server = await hookServer();
      const { store, mine, clock, berlin } = fixture();
      const { accountId } = mine;
      const id = await channelTo(server);
      const since = new Date(clock.wallMs());
      await store.query(
        `insert into silent_locations (location_id, account_id, since, covered_until)
         values ($1, $2, $3::timestamptz, $3::timestamptz)`,
        [berlin.id, accountId, since],
      );
      await store.query(
        `insert into monitoring_problems
           (id, account_id, kind, subject_id, subject, message, since, seen_at, begun_at)
         values ('p1', $1, 'AGENT_OUTDATED', $2, '{}', 'm', $3::timestamptz, $3::timestamptz, $3::timestamptz)`,
        [accountId, berlin.id, since],
      );
      const atMs = clock.wallMs();
      const deliveries = [berlin.id, 'p1'].map((checkId) => ({
        id: `delivery-${checkId}`,
        channelId: id,
        checkId,
        alertId: `alert-${checkId}`,
        alertType: 'ALERT_FAILURE' as const,
        reminder: 0,
        notice: noticeOf(fixture(), { check: { id: checkId } }),
      }));
      await store.transaction((tx) => insertDeliveries(tx, { accountId, deliveries, atMs }));
      startWorker(fixture());
      await sent(id, 2);
      pass(3);
      expect(await repeat()).toBe(2);
      await sent(id, 2);
      expect(server.requests).toHaveLength(4);
      // Others of the same subjects, of which the channel was not notified.
      const later = new Date(clock.wallMs());
      await store.query('update silent_locations set since = $1::timestamptz', [later]);
      await store.query('update monitoring_problems set begun_at = $1::timestamptz', [later]);
      pass(3);
      expect(await repeat()).toBe(0);
      await store.query('delete from silent_locations where location_id = $1', [berlin.id]);
      await store.query("delete from monitoring_problems where id = 'p1'");
      pass(3);
      expect(await repeat()).toBe(0);
    });

    /** Problems of monitoring itself that the channel was notified of 3 minutes ago. */
    async function giveProblems(channelId: number, count: number): Promise<void> {
      const { store, mine, clock, berlin } = fixture();
      const { accountId } = mine;
      const atMs = clock.wallMs();
      const ids = Array.from({ length: count }, (_, number) => `p${number}`);
      await store.query(
        `insert into monitoring_problems
           (id, account_id, kind, subject_id, subject, message, since, seen_at, begun_at)
         select id, $1, 'AGENT_OUTDATED', id, '{}', 'm', $3::timestamptz, $3::timestamptz, $3::timestamptz
         from unnest($2::text[]) as id`,
        [accountId, ids, new Date(atMs)],
      );
      onTestFinished(async () => {
        await store.query('delete from monitoring_problems');
      });
      const subject = {
        kind: 'location',
        id: berlin.id,
        slug: berlin.slug,
        name: 'Berlin',
      } as const;
      const problem = { kind: 'AGENT_OUTDATED', subject } as const;
      const deliveries = ids.map((checkId) => ({
        id: `delivery-${checkId}`,
        channelId,
        checkId,
        alertId: `alert-${checkId}`,
        alertType: 'ALERT_FAILURE' as const,
        reminder: 0,
        notice: noticeOf(fixture(), { check: { id: checkId }, problem }),
      }));
      await store.transaction((tx) => insertDeliveries(tx, { accountId, deliveries, atMs }));
      await markSent();
      pass(3);
    }

    const markSent = () =>
      fixture().store.query(
        "update alert_deliveries set state = 'sent', finished_at = created_at where finished_at is null",
      );

    /** Answers on request of the test. */
    async function slowServer() {
      const held: ServerResponse[] = [];
      let isSlow = true;
      const server = await hookServer((_, response) => {
        held.push(response);
        if (!isSlow) response.end();
      });
      const { url, requests } = server;
      const names = () => alertsIn(server).map(([alert]) => alert?.labels.alertname);
      const release = (): void => {
        isSlow = false;
        for (const response of held) response.end();
      };
      return { url, requests, held, names, release, alerts: () => alertsIn(server) };
    }

    it('that is new does not wait for repeats to a slow Alertmanager', async () => {
      const server = await slowServer();
      const { run } = alertsFixtureOf(fixture());
      const id = await channelTo(server);
      await giveProblems(id, 6);
      expect(await repeat()).toBe(6);
      startWorker(fixture());
      await eventually(() => server.requests.length === 3);
      await run(5, FAILED);
      await eventually(() => server.requests.length === 4);
      expect(server.names()).toEqual([...Array(3).fill('VedetteMonitoring'), 'VedetteCheck']);
      server.release();
      await sent(id, 7);
    });

    it('that has waited longest is sent first, also if it is newer than the others', async () => {
      const server = await slowServer();
      const id = await channelTo(server);
      const { store } = fixture();
      await giveProblems(id, 6);
      expect(await repeat()).toBe(6);
      await store.query(
        "update alert_deliveries set due_at = due_at - interval '1 s' where check_id = 'p5'",
      );
      startWorker(fixture());
      await eventually(() => server.requests.length === 3);
      const sending = await store.query<{ checkId: string }>(
        "select check_id from alert_deliveries where state = 'sending' order by seq",
      );
      expect(sending.map(({ checkId }) => checkId)).toEqual(['p0', 'p1', 'p5']);
      server.release();
      await sent(id, 6);
    });

    it('is sent before the others once its end waits for it, and its end is sent next', async () => {
      const server = await slowServer();
      const { run } = alertsFixtureOf(fixture());
      const id = await channelTo(server);
      await run(1, FAILED);
      await markSent();
      await giveProblems(id, 20);
      expect(await repeat()).toBe(21);
      // By age it would be the last one.
      await fixture().store.query(
        "update alert_deliveries set due_at = due_at + interval '1 s' where check_id = 'shop' and finished_at is null",
      );
      await run(5, PASSED);
      startWorker(fixture());
      await eventually(() => server.requests.length === 3);
      const first = server.names().indexOf('VedetteCheck');
      expect(first).toBeGreaterThanOrEqual(0);
      server.held[first]?.end();
      await eventually(() => server.requests.length === 4);
      const ends = server
        .alerts()
        .flatMap(([alert]) =>
          alert?.labels.check_id === 'shop' ? [Date.parse(alert.endsAt)] : [],
        );
      const nowMs = fixture().clock.wallMs();
      expect(ends.map((endMs) => endMs < nowMs)).toEqual([false, true]);
    });

    it('stays sent when sending it again fails, for the log, for people who acknowledge it, and in counts', async () => {
      let status = 200;
      const server = await hookServer((_, answer) => answer.writeHead(status).end());
      const { run } = alertsFixtureOf(fixture());
      const { mine, store } = fixture();
      const id = await channelTo(server);
      const finished: string[] = [];
      startWorker(fixture(), {}, undefined, {
        onFinished: (result, { isRepeat }) =>
          finished.push(`${isRepeat ? 'repeat ' : ''}${result}`),
      });
      await run(1, FAILED);
      await sent(id, 1);
      status = 400;
      const failing = (count: number) => eventually(() => finished.length === count);
      for (const count of [2, 3]) {
        pass(3);
        expect(await repeat()).toBe(1);
        await failing(count);
      }
      const path = `/v1/alert-channels/${id}/deliveries`;
      const [row, ...others] = (await mine.get(`${path}?state=sent`)).json;
      expect(others).toEqual([]);
      expect(row).toMatchObject({ state: 'sent', lastStatus: 400, lastError: expect.any(String) });
      expect((await mine.get(`${path}?state=failed`)).json).toEqual([]);
      // The channel still counts as failing.
      const channels = await listFailingChannels(store, { sinceMs: 0 });
      expect(channels.map(({ channel, isFailed }) => [channel.id, isFailed])).toEqual([[id, true]]);
      const [alert] = (await mine.get('/v1/check-alerts?open=true')).json;
      expect(alert.deliveries).toEqual({ sent: 1, failed: 0, pending: 0 });
      status = 200;
      await mine.post(`/v1/check-alerts/${alert.id}/acknowledge`);
      await sent(id, 2);
      await eventually(() => finished.length === 4);
      expect(finished).toEqual(['sent', 'repeat failed', 'repeat failed', 'sent']);

      status = 400;
      await mine.post(`${path}/${row.id}/resend`);
      await deliveriesWhen(fixture(), id, (rows) => rows[1].state === 'failed');
    });

    it('is sent again for the first time within 30 s of a start', async () => {
      const server = await hookServer();
      const { run } = alertsFixtureOf(fixture());
      const id = await channelTo(server);
      await run(1, FAILED);
      await markSent();
      pass(3);
      const clock = new FakeClock(fixture().clock.wallMs());
      const stop = new AbortController();
      const repeating = keepRepeating({ ...fixture(), clock, log: silentLog() }, stop.signal);
      onTestFinished(async () => {
        stop.abort();
        await repeating;
      });
      expect(clock.pendingTimers).toBe(1);
      await sent(id, 1);
      await clock.advance(30_000);
      await deliveriesWhen(fixture(), id, whenAll('waiting'));
    });

    it('that ended before it was locked is not sent again', async () => {
      const { store, mine, clock } = fixture();
      const { run } = alertsFixtureOf(fixture());
      const id = await channelTo({ url: 'http://127.0.0.1:1/' });
      await run(1, FAILED);
      await run(2, PASSED);
      await store.query("update alert_deliveries set state = 'sent', finished_at = created_at");
      const pairs = [{ accountId: mine.accountId, subjectId: 'shop', channelId: id }];
      const atMs = clock.wallMs() + 10 * MINUTE_MS;
      const asked = { pairs, atMs, finishedByMs: atMs };
      const repeated = (ends: readonly AlertType[]) =>
        store.transaction((tx) => repeatLastNotices(tx, { ...asked, ends }));
      expect(await repeated(RECOVERY_TYPES)).toBe(0);
      expect(await repeated([])).toBe(1);
    });
  });
});
