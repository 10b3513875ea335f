import { describe, expect, it } from 'vitest';
import type { CheckResult } from '../../../../src/model/result/result.ts';
import { deleteAlertsBefore } from '../../../../src/service/alerts/sql.ts';
import type { Sql } from '../../../../src/service/database/store.ts';
import type { FinalsHandler } from '../../../../src/service/results/finals-handler.ts';
import { lockSubjects } from '../../../../src/service/results/intake/subjects.sql.ts';
import { databases } from '../../../support/database/databases.ts';
import { eventually } from '../../../support/eventually.ts';
import { ASSERTION, HTTP_DETAIL, HTTP_RESPONSE } from '../../../support/samples/http-results.ts';
import {
  alertsFixtureOf,
  DEGRADED,
  FAILED,
  listeningEngine,
  PASSED,
} from '../../../support/service/alerts-fixture.ts';
import { until } from '../../../support/service/deployment.ts';
import {
  type ResultsFixture,
  useResultsFixture,
} from '../../../support/service/results-fixture.ts';
import {
  HOSTILE,
  problemsIn,
  useRunningService,
} from '../../../support/service/service-fixture.ts';

const PATH = '/v1/check-alerts';

/** Settings of the check, group or account itself, which differ in each test. */
const own = (alertSettings: object) => ({ useGlobalAlertSettings: false, alertSettings });
const failedRuns = (failedRunThreshold: number) => ({
  escalationType: 'RUN_BASED',
  runBasedEscalation: { failedRunThreshold },
});
const failingMinutes = (minutesFailingThreshold: number) => ({
  escalationType: 'TIME_BASED',
  timeBasedEscalation: { minutesFailingThreshold },
});

/** Alerts, from the batches of agents to the list of alerts. */
describe.each(databases)('on %s', (kind) => {
  describe('alerts', () => {
    const fixture = useResultsFixture(useRunningService(kind));

    const settingsPath = () => `/v1/accounts/${fixture().mine.accountId}/alert-settings`;
    const change = async (fields: object, id = 'shop') => {
      const changed = await fixture().mine.patch(`/v1/checks/${id}`, fields);
      expect(changed.status, changed.text).toBe(200);
    };

    it('are listed as the specification says, newest first', async () => {
      const { mine, theirs, clock, berlin } = fixture();
      const { run, slot } = alertsFixtureOf(fixture());
      const startedAt = new Date(slot(1) + 5).toISOString();
      const resultIds = async () =>
        (await mine.get(`/v1/check-results/shop?from=0&to=${slot(10_000)}`)).json.map(
          ({ id }: { readonly id: string }) => id,
        );
      await run(1, {
        hasFailures: true,
        responseTime: 12.375,
        apiCheckResult: {
          ...HTTP_DETAIL,
          response: { ...HTTP_RESPONSE, status: 503 },
          assertions: [{ ...ASSERTION, error: `${HOSTILE}\u0000` }],
        },
      });
      const failure = {
        name: 'Check shop',
        id: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
        checkId: 'shop',
        alertType: 'ALERT_FAILURE',
        checkType: 'URL',
        isOpen: true,
        acknowledgement: null,
        runLocation: 'berlin',
        resultId: (await resultIds())[0],
        deliveries: { sent: 0, pending: 0, failed: 0 },
        flapping: null,
        responseTime: 12.375,
        error: `${HOSTILE}\ufffd`,
        statusCode: '503',
        created_at: new Date(clock.wallMs()).toISOString().slice(0, 10),
        startedAt,
        alertedAt: new Date(clock.wallMs()).toISOString(),
      };
      clock.spend(1000);
      expect((await mine.get(PATH)).json).toEqual([failure]);
      await run(2, { apiCheckResult: null }, berlin);
      failure.isOpen = false;
      const recovery = {
        ...failure,
        resultId: (await resultIds())[0],
        alertType: 'ALERT_RECOVERY',
        responseTime: 11.75,
        error: null,
        statusCode: null,
        startedAt: new Date(slot(2) + 5).toISOString(),
        alertedAt: new Date(clock.wallMs()).toISOString(),
      };
      // By the time of the alert, the end excluded.
      const now = clock.wallMs();
      clock.spend(1);
      expect((await mine.get(PATH)).json).toEqual([recovery, failure]);
      expect((await mine.get(`${PATH}?limit=1&page=2`)).json).toEqual([failure]);
      expect((await mine.get(`${PATH}?from=${now}&to=${now + 1}`)).json).toEqual([recovery]);
      expect((await mine.get(`${PATH}?from=${slot(1)}&to=${now}`)).json).toEqual([failure]);
      expect((await mine.get(`${PATH}?from=yesterday`)).status).toBe(400);
      expect((await mine.get(`${PATH}?limit=101`)).status).toBe(400);
      expect((await theirs.get(PATH)).json).toEqual([]);
      // History stays when its check goes.
      await mine.delete('/v1/checks/shop');
      expect((await mine.get(PATH)).json).toEqual([recovery, failure]);
    });

    it('are read by id, by their account alone', async () => {
      const { mine, theirs, clock } = fixture();
      const { run } = alertsFixtureOf(fixture());
      await run(1, FAILED);
      clock.spend(1);
      const [alert] = (await mine.get(PATH)).json;
      expect((await mine.get(`${PATH}/${alert.id}`)).json).toEqual(alert);
      expect((await theirs.get(`${PATH}/${alert.id}`)).status).toBe(404);
    });

    it('list their deliveries, only for their account', async () => {
      const { mine, theirs, clock } = fixture();
      const { run } = alertsFixtureOf(fixture());
      const channel = await mine.post('/v1/alert-channels', {
        type: 'SLACK',
        config: { url: 'https://hooks.slack.test/services/T0/secret' },
        subscriptions: [{ checkId: 'shop' }],
      });
      await run(1, FAILED);
      clock.spend(1);
      const [alert] = (await mine.get(PATH)).json;
      expect(alert.deliveries).toEqual({ sent: 0, pending: 1, failed: 0 });
      const path = `${PATH}/${alert.id}/deliveries`;
      const listed = await mine.get(path);
      expect([listed.status, listed.json]).toMatchObject([
        200,
        [
          {
            channel: { id: channel.json.id, type: 'SLACK', name: 'hooks.slack.test' },
            alertId: alert.id,
            checkId: 'shop',
            state: 'waiting',
            reminder: 0,
          },
        ],
      ]);
      expect((await theirs.get(path)).status).toBe(404);
    });

    it('are filtered by check, type and whether they are open', async () => {
      const { mine, clock } = fixture();
      const { run, slot } = alertsFixtureOf(fixture());
      const typesOf = async (query: string) =>
        (await mine.get(`${PATH}?${query}`)).json.map(
          ({ alertType }: { readonly alertType: string }) => alertType,
        );
      await run(1, FAILED);
      await run(2, PASSED);
      await run(3, DEGRADED);
      await run(4, FAILED);
      const all = ['ALERT_DEGRADED_FAILURE', 'ALERT_DEGRADED', 'ALERT_RECOVERY', 'ALERT_FAILURE'];
      clock.spend(1);
      expect(await typesOf('checkId=shop')).toEqual(all);
      expect(await typesOf('checkId=other')).toEqual([]);
      expect(await typesOf('alertType=ALERT_RECOVERY&alertType=ALERT_FAILURE')).toEqual([
        'ALERT_RECOVERY',
        'ALERT_FAILURE',
      ]);
      // The latest alert of the ongoing problem.
      expect(await typesOf('open=true')).toEqual(['ALERT_DEGRADED_FAILURE']);
      expect(await typesOf('open=true&checkId=other')).toEqual([]);
      expect(await typesOf('open=false')).toEqual(all.slice(1));
      // An open alert may be of any age.
      clock.spend(24 * 3_600_000);
      expect(await typesOf('open=true')).toEqual(['ALERT_DEGRADED_FAILURE']);
      expect(await typesOf(`open=true&from=${slot(5)}`)).toEqual([]);
      // Transactions of other tests on the same server delay what a cursor shows.
      const walked = await until(
        () => typesOf('open=true&cursor=start'),
        ({ length }) => length > 0,
      );
      expect(walked).toEqual(['ALERT_DEGRADED_FAILURE']);
      await change({ activated: false });
      expect(await typesOf('open=true')).toEqual([]);
      await change({ activated: true });
      await run(24 * 60 + 5, PASSED);
      expect(await typesOf('open=true')).toEqual([]);
    });

    it('stay while they are open, however old they are', async () => {
      const { store, clock } = fixture();
      const { run } = alertsFixtureOf(fixture());
      await run(1, FAILED);
      await run(2, PASSED);
      await run(3, FAILED);
      clock.spend(1);
      const old = { beforeMs: clock.wallMs(), limit: 100 };
      expect(await deleteAlertsBefore(store, old)).toBeGreaterThanOrEqual(2);
      const { json } = await fixture().mine.get(PATH);
      expect(json).toMatchObject([{ alertType: 'ALERT_FAILURE', isOpen: true }]);
    });

    it('name the response time that was too slow', async () => {
      const { run } = alertsFixtureOf(fixture());
      await run(1, DEGRADED);
      fixture().clock.spend(1);
      const [alert] = (await fixture().mine.get(PATH)).json;
      expect(alert).toMatchObject({
        alertType: 'ALERT_DEGRADED',
        error: 'The response time of 3500 ms was over degradedResponseTime',
        responseTime: 3500.4,
        statusCode: '200',
      });
    });

    it('are given in the order of the slots of a batch', async () => {
      const { berlin } = fixture();
      const { deliver, result, alerts, run } = alertsFixtureOf(fixture());
      const results = [
        result(4, FAILED),
        result(1, FAILED),
        result(5, PASSED),
        result(3, PASSED),
        result(2, DEGRADED),
      ];
      await deliver(berlin, { results });
      const expected = [
        'ALERT_FAILURE',
        'ALERT_FAILURE_DEGRADED',
        'ALERT_DEGRADED_RECOVERY',
        'ALERT_FAILURE',
        'ALERT_RECOVERY',
      ];
      expect(await alerts()).toEqual(expected);
      // Again, as an agent does that got no answer.
      await deliver(berlin, { results });
      await run(6, PASSED);
      expect(await alerts()).toEqual(expected);
    });

    it('are not given for runs that are older than the known ones', async () => {
      const { oslo, berlin } = fixture();
      const { deliver, run, alerts, result } = alertsFixtureOf(fixture());
      await change({ frequency: 1 });
      await run(5, PASSED);
      await run(4, FAILED);
      // A run of another location, so much longer than its run can have taken.
      await run(-8, FAILED, oslo);
      expect(await alerts()).toEqual([]);
      // One batch can have both.
      await deliver(berlin, { results: [result(2, FAILED), result(6, FAILED)] });
      await run(5.5, PASSED);
      expect(await alerts()).toEqual(['ALERT_FAILURE']);
      await run(7, PASSED);
      await run(8, PASSED);
      await run(7.5, FAILED);
      expect(await alerts()).toEqual(['ALERT_FAILURE', 'ALERT_RECOVERY']);
    });

    it('are not given for results without a verdict', async () => {
      const { run, alerts } = alertsFixtureOf(fixture());
      await run(1, { hasErrors: true, hasFailures: true });
      await run(2, { isCancelled: true, hasFailures: true });
      await run(3, { resultType: 'ATTEMPT', hasFailures: true });
      expect(await alerts()).toEqual([]);
      await run(4, FAILED);
      await run(5, { hasErrors: true });
      await run(6, { isCancelled: true });
      expect(await alerts()).toEqual(['ALERT_FAILURE']);
      // It does not make older runs late either.
      await run(7, PASSED);
      await run(10, { hasErrors: true });
      await run(9, FAILED);
      expect(await alerts()).toEqual(['ALERT_FAILURE', 'ALERT_RECOVERY', 'ALERT_FAILURE']);
    });

    it('are given after the number of failed runs that the check configures', async () => {
      const { run, alerts } = alertsFixtureOf(fixture());
      await change(own(failedRuns(3)));
      for (const minute of [1, 2]) await run(minute, FAILED);
      expect(await alerts()).toEqual([]);
      await run(3, FAILED);
      expect(await alerts()).toEqual(['ALERT_FAILURE_REMAIN']);
    });

    it('apply the settings of the group, the account or the check', async () => {
      const { mine, check, berlin } = fixture();
      const { deliver, alerts, result } = alertsFixtureOf(fixture());
      const group = async (fields: object): Promise<number> =>
        (await mine.post('/v1/check-groups', { name: 'Group', ...fields })).json.id;
      await mine.put(settingsPath(), failedRuns(2));
      const settled = await group(own(failedRuns(3)));
      const global = await group({ alertSettings: failedRuns(3) });
      const silent = await group({});
      await check('by-account');
      await check('by-check', own(failedRuns(1)));
      await check('by-group', { ...own(failedRuns(1)), groupId: settled });
      await check('by-group-too', { groupId: settled });
      await check('by-account-too', { ...own(failedRuns(1)), groupId: global });
      await check('by-check-too', { ...own(failedRuns(1)), groupId: silent });
      const ids = [
        'by-account',
        'by-check',
        'by-group',
        'by-group-too',
        'by-account-too',
        'by-check-too',
      ];
      const seen: (readonly string[])[] = [];
      for (const minute of [1, 2, 3]) {
        const before = await alerts();
        await deliver(berlin, {
          results: ids.map((checkId) => result(minute, { ...FAILED, checkId })),
        });
        const news = (await alerts()).slice(before.length);
        seen.push(news.map((alert) => alert.split(' ')[1] ?? '').toSorted());
      }
      expect(seen).toEqual([
        ['by-check', 'by-check-too'],
        ['by-account', 'by-account-too'],
        ['by-group', 'by-group-too'],
      ]);
    });

    it('follow a change of the settings from the next run on', async () => {
      const { run, alerts } = alertsFixtureOf(fixture());
      await change(own(failedRuns(5)));
      for (const minute of [1, 2]) await run(minute, FAILED);
      await change(own(failedRuns(2)));
      expect(await alerts()).toEqual([]);
      await run(3, FAILED);
      expect(await alerts()).toEqual(['ALERT_FAILURE_REMAIN']);
      await change(own(failedRuns(5)));
      await run(4, FAILED);
      await run(5, PASSED);
      expect(await alerts()).toEqual(['ALERT_FAILURE_REMAIN', 'ALERT_RECOVERY']);
    });

    it('are given between two runs once the minutes of the threshold are over', async () => {
      const { run, alerts, sweepAt } = alertsFixtureOf(fixture());
      await change(own(failingMinutes(5)));
      await run(0, { ...FAILED, responseTime: 77 });
      await sweepAt(4.99);
      expect(await alerts()).toEqual([]);
      await sweepAt(5);
      await sweepAt(6);
      expect(await alerts()).toEqual(['ALERT_FAILURE_REMAIN']);
      const [alert] = (await fixture().mine.get(PATH)).json;
      expect(alert).toMatchObject({ responseTime: 77, statusCode: '503', runLocation: 'berlin' });
      await run(7, PASSED);
      expect(await alerts()).toEqual(['ALERT_FAILURE_REMAIN', 'ALERT_RECOVERY']);
    });

    it('are not given after the old minutes where the threshold was raised', async () => {
      const { run, alerts, sweepAt } = alertsFixtureOf(fixture());
      await change(own(failingMinutes(5)));
      await run(0, FAILED);
      await change(own(failingMinutes(15)));
      await sweepAt(6);
      expect(await alerts()).toEqual([]);
      await sweepAt(15);
      expect(await alerts()).toEqual(['ALERT_FAILURE_REMAIN']);
    });

    it('are given once while several replicas judge due checks and results arrive at the same time', async () => {
      const { store, check, berlin, features } = fixture();
      const { deliver, result, alerts, slot } = alertsFixtureOf(fixture());
      const ids = Array.from({ length: 30 }, (_, number) => `c${number}`);
      for (const id of ids) await check(id, own(failingMinutes(5)));
      const batch = (minute: number) =>
        ids.map((checkId) => result(minute, { ...FAILED, checkId }));
      await deliver(berlin, { results: batch(0) });
      const { clock } = fixture();
      clock.spend(slot(5) - clock.wallMs());
      const other = listeningEngine({ ...fixture(), store });
      await Promise.all([
        features.alertEngine.sweep(),
        other.engine.sweep(),
        deliver(berlin, { results: batch(6) }),
        features.alertEngine.sweep(),
        other.engine.sweep(),
      ]);
      const given = await alerts();
      expect(given).toHaveLength(ids.length);
      expect(new Set(given)).toEqual(new Set(ids.map((id) => `ALERT_FAILURE_REMAIN ${id}`)));
    });

    it('are not given where the check or its group is muted', async () => {
      const { mine, check } = fixture();
      const { run, alerts, sweepAt } = alertsFixtureOf(fixture());
      await change({ muted: true });
      await run(1, FAILED);
      await change({ muted: false });
      // The problem began while alerts were muted, and lasts.
      await run(2, FAILED);
      expect(await alerts()).toEqual(['ALERT_FAILURE_REMAIN']);
      await run(3, PASSED);
      const before = (await alerts()).length;
      const { json: group } = await mine.post('/v1/check-groups', { name: 'Group', muted: true });
      await check('grouped', { groupId: group.id, ...own(failingMinutes(5)) });
      await run(4, { ...FAILED, checkId: 'grouped' });
      await sweepAt(20);
      expect((await alerts()).slice(before)).toEqual([]);
      await run(21, FAILED);
      expect((await alerts()).slice(before)).toEqual(['ALERT_FAILURE']);
    });

    it('are not given while the check is deactivated, and resume from the same state', async () => {
      const { run, alerts, sweepAt } = alertsFixtureOf(fixture());
      await change(own(failingMinutes(5)));
      await run(0, FAILED);
      await change({ activated: false });
      await sweepAt(10);
      // Somebody asked for a run.
      await run(11, FAILED);
      expect(await alerts()).toEqual([]);
      await change({ activated: true });
      await run(12, FAILED);
      expect(await alerts()).toEqual(['ALERT_FAILURE_REMAIN']);
    });

    it('end when their check is deleted', async () => {
      const { mine } = fixture();
      const { run, alerts, sweepAt } = alertsFixtureOf(fixture());
      await change(own({ ...failingMinutes(5), reminders: { amount: 5, interval: 1 } }));
      await run(0, FAILED);
      expect((await mine.delete('/v1/checks/shop')).status).toBe(204);
      await fixture().check('shop');
      await sweepAt(10);
      expect(await alerts()).toEqual([]);
      await run(11, PASSED);
      expect(await alerts()).toEqual([]);
    });

    it('count a slot of several locations once, and end with the last of them', async () => {
      const { oslo, berlin } = fixture();
      const { deliver, run, alerts, result } = alertsFixtureOf(fixture());
      await change({ runParallel: true, frequency: 1, ...own(failedRuns(2)) });
      await run(1, PASSED, oslo);
      await run(2, FAILED);
      await run(2, FAILED, oslo);
      expect(await alerts()).toEqual([]);
      await run(3, PASSED, oslo);
      expect(await alerts()).toEqual([]);
      await deliver(berlin, { results: [result(3, FAILED)] });
      expect(await alerts()).toEqual(['ALERT_FAILURE_REMAIN']);
      await run(4, PASSED);
      expect(await alerts()).toEqual(['ALERT_FAILURE_REMAIN', 'ALERT_RECOVERY']);
    });

    it('are given for a location that retries while another is ahead of it', async () => {
      const { oslo } = fixture();
      const { run, alerts } = alertsFixtureOf(fixture());
      await change({ runParallel: true, frequency: 1 });
      for (const minute of [1, 2, 3]) await run(minute, PASSED, oslo);
      await run(1, { ...FAILED, attempts: 2 });
      expect(await alerts()).toEqual(['ALERT_FAILURE']);
      await run(4, PASSED, oslo);
      expect(await alerts()).toEqual(['ALERT_FAILURE']);
      await run(4, PASSED);
      expect(await alerts()).toEqual(['ALERT_FAILURE', 'ALERT_RECOVERY']);
    });

    it('are given for a location that retries in a rotation while the next is ahead of it', async () => {
      const { oslo } = fixture();
      const { run, alerts } = alertsFixtureOf(fixture());
      await change({ runParallel: false, frequency: 1 });
      await run(2, PASSED, oslo);
      await run(1, { ...FAILED, attempts: 2 });
      expect(await alerts()).toEqual(['ALERT_FAILURE']);
      await run(4, PASSED, oslo);
      expect(await alerts()).toEqual(['ALERT_FAILURE', 'ALERT_RECOVERY']);
      await run(3, { ...FAILED, attempts: 2 });
      expect(await alerts()).toEqual(['ALERT_FAILURE', 'ALERT_RECOVERY', 'ALERT_FAILURE']);
      // A slow run that passed is no recovery: the newer one failed.
      await run(7, FAILED, oslo);
      await run(6, { ...PASSED, attempts: 2 });
      expect(await alerts()).toHaveLength(3);
      await run(8, PASSED);
      expect(await alerts()).toHaveLength(4);
    });

    it('count a handed-over retry for the location where the run began', async () => {
      const { oslo, handOver } = fixture();
      const { deliver, run, alerts, result } = alertsFixtureOf(fixture());
      await change({
        runParallel: true,
        frequency: 1,
        ...own({
          ...failedRuns(1),
          parallelRunFailureThreshold: { enabled: true, percentage: 100 },
        }),
      });
      await run(1, FAILED, oslo);
      // Made in oslo for berlin, so both locations fail.
      const retry = result(1, { ...FAILED, attempts: 1, origin: 'berlin' }, oslo);
      await handOver(oslo, retry);
      await deliver(oslo, { results: [retry] });
      expect(await alerts()).toEqual(['ALERT_FAILURE']);
    });

    it('are given at the configured percentage of failing locations', async () => {
      const { check, oslo, addLocation } = fixture();
      const { run, alerts } = alertsFixtureOf(fixture());
      const [rome, bonn] = [await addLocation('rome'), await addLocation('bonn')];
      const parallelRunFailureThreshold = { enabled: true, percentage: 50 };
      await check('shop', {
        runParallel: true,
        frequency: 1,
        privateLocations: ['berlin', 'oslo', 'rome', 'bonn'],
        ...own({ ...failedRuns(1), parallelRunFailureThreshold }),
      });
      await run(1, FAILED);
      await run(1, PASSED, oslo);
      await run(1, PASSED, rome);
      expect(await alerts()).toEqual([]);
      await run(1, FAILED, bonn);
      expect(await alerts()).toEqual(['ALERT_FAILURE']);
      await run(2, FAILED, bonn);
      await run(2, PASSED);
      expect(await alerts()).toEqual(['ALERT_FAILURE', 'ALERT_RECOVERY']);
      // If the locations rotate, the percentage does not apply.
      await change({ runParallel: false });
      await run(3, FAILED, rome);
      expect(await alerts()).toEqual(['ALERT_FAILURE', 'ALERT_RECOVERY', 'ALERT_FAILURE']);
    });

    it('of certificates are given once for each of the last thirty days', async () => {
      const { run, alerts, slot } = alertsFixtureOf(fixture());
      const sees = (daysRemaining: number) => ({
        apiCheckResult: {
          ...HTTP_DETAIL,
          response: { ...HTTP_RESPONSE, tls: tlsWith(daysRemaining) },
        },
      });
      const DAY = 24 * 60;
      await run(0, sees(31));
      await run(DAY, sees(30));
      await run(DAY + 1, sees(30));
      expect(await alerts()).toEqual(['ALERT_SSL']);
      await run(2 * DAY, sees(29));
      await run(2 * DAY + 1, sees(89));
      await run(2 * DAY + 2, sees(29));
      expect(await alerts()).toEqual(['ALERT_SSL', 'ALERT_SSL']);
      await change({ muted: true });
      await run(3 * DAY, sees(28));
      await change({ muted: false });
      await run(3 * DAY + 1, sees(28));
      expect(await alerts()).toEqual(['ALERT_SSL', 'ALERT_SSL']);
      const all = `from=${slot(0)}&to=${slot(4 * DAY)}`;
      const [alert] = (await fixture().mine.get(`${PATH}?${all}`)).json;
      expect(alert).toMatchObject({ alertType: 'ALERT_SSL', error: null, statusCode: '200' });
    });

    it('are sent to subscribers, with reminders until the recovery', async () => {
      const { notices, engine, said } = listeningEngine(fixture());
      await change(own({ ...failedRuns(1), reminders: { amount: 2, interval: 10 } }));
      const { result, slot } = alertsFixtureOf(fixture());
      const take = takerOf(fixture(), engine.follow);
      const { clock } = fixture();
      const sweepAt = async (minute: number) => {
        clock.spend(slot(minute) - clock.wallMs());
        await engine.sweep();
      };
      await take([result(0, { ...FAILED, responseTime: 5 })]);
      await sweepAt(9.9);
      expect(said()).toEqual(['ALERT_FAILURE']);
      await take([result(9.95, { ...FAILED, responseTime: 6 })]);
      await sweepAt(10);
      await sweepAt(10);
      await sweepAt(45);
      await sweepAt(60);
      expect(said()).toEqual(['ALERT_FAILURE', 'ALERT_FAILURE_REMAIN 1', 'ALERT_FAILURE_REMAIN 2']);
      await take([result(61, PASSED)]);
      await sweepAt(80);
      expect(said().slice(3)).toEqual(['ALERT_RECOVERY']);
      const [first, reminder, , recovery] = notices;
      expect(first).toEqual({
        alertId: expect.any(String),
        alertType: 'ALERT_FAILURE',
        atMs: slot(0),
        check: {
          id: 'shop',
          name: 'Check shop',
          checkType: 'URL',
          tags: [],
          groupName: null,
        },
        resultId: expect.any(String),
        runLocation: 'berlin',
        responseTime: 5,
        error: 'status 503; under 400 is needed',
        statusCode: '503',
        startedAtMs: slot(0) + 5,
        sslDaysRemaining: null,
        reminder: 0,
        sinceMs: slot(0),
        failure: { code: null, phase: expect.any(String), advice: expect.any(String) },
      });
      // A reminder is about the alert, and reports the last run.
      expect(reminder).toMatchObject({ alertId: first?.alertId, responseTime: 6 });
      expect(recovery?.alertId).not.toBe(first?.alertId);
      const listed = (await fixture().mine.get(`${PATH}?from=0&to=${slot(100)}`)).json;
      expect(listed.map(({ id }: { id: string }) => id)).toEqual([
        recovery?.alertId,
        first?.alertId,
      ]);
    });

    it('contain the group of their check, and the tags of both once each', async () => {
      const { mine } = fixture();
      const { notices, engine } = listeningEngine(fixture());
      const group = await mine.post('/v1/check-groups', { name: HOSTILE, tags: ['b'] });
      await change({ tags: ['a', 'b'], groupId: group.json.id });
      const { result } = alertsFixtureOf(fixture());
      await takerOf(fixture(), engine.follow)([result(1, FAILED)]);
      expect(notices[0]?.check).toMatchObject({ tags: ['a', 'b'], groupName: HOSTILE });
    });

    it('are silent in a window, by the time of the slot', async () => {
      const { result, slot } = alertsFixtureOf(fixture());
      const { engine, said } = listeningEngine(
        fixture(),
        (tags, instantMs) => tags.includes('quiet') && instantMs >= slot(2) && instantMs < slot(4),
      );
      await change({ tags: ['quiet'] });
      await fixture().check('loud');
      const take = takerOf(fixture(), engine.follow);
      await take([result(2, FAILED), result(2, { ...FAILED, checkId: 'loud' })]);
      expect(said()).toEqual(['ALERT_FAILURE']);
      await take([result(3, PASSED), result(4, FAILED)]);
      expect(said()).toEqual(['ALERT_FAILURE', 'ALERT_FAILURE']);
    });

    it('are silent while a maintenance window silences or pauses their check', async () => {
      const { mine, check, features } = fixture();
      const { run, alerts, slot, sweepAt } = alertsFixtureOf(fixture());
      const window = (from: number, to: number, fields: object) =>
        features.maintenanceWindows.create(mine.accountId, {
          name: 'Move',
          startsAt: new Date(slot(from)).toISOString(),
          endsAt: new Date(slot(to)).toISOString(),
          repeatUnit: 'DAY',
          ...fields,
        });
      await window(1, 3, { silenceAlertsTags: ['quiet'] });
      await window(1, 3, { tags: ['still'] });
      await window(10, 20, { silenceAllAlerts: true });
      const { json: group } = await mine.post('/v1/check-groups', { name: 'G', tags: ['still'] });
      await check('quiet', { tags: ['quiet'] });
      await check('still', { groupId: group.id });
      await check('timed', own(failingMinutes(5)));
      await check('broken', { tags: ['quiet'] });
      for (const checkId of ['shop', 'quiet', 'still', 'broken'])
        await run(2, { ...FAILED, checkId });
      expect(await alerts()).toEqual(['ALERT_FAILURE']);
      // Its problem began in the silence, and lasts longer.
      await run(3, { ...FAILED, checkId: 'broken' });
      expect((await alerts()).slice(1)).toEqual(['ALERT_FAILURE_REMAIN broken']);
      await run(4, { ...PASSED, checkId: 'broken' });
      for (const checkId of ['shop', 'quiet', 'still']) await run(3, { ...PASSED, checkId });
      for (const checkId of ['quiet', 'still', 'timed']) await run(8, { ...FAILED, checkId });
      await sweepAt(15);
      await run(15, PASSED);
      await run(16, { ...PASSED, checkId: 'still' });
      await run(20, { ...PASSED, checkId: 'quiet' });
      // Its problem began before the silence, and lasts.
      await run(21, { ...FAILED, checkId: 'timed' });
      expect((await alerts()).slice(3)).toEqual([
        'ALERT_RECOVERY',
        'ALERT_FAILURE quiet',
        'ALERT_FAILURE still',
        'ALERT_RECOVERY quiet',
        'ALERT_FAILURE_REMAIN timed',
      ]);
    });

    it('are given in the background, and deleted after the retention of results', async () => {
      const { clock, features, mine } = fixture();
      const { run, alerts, slot, sweepAt } = alertsFixtureOf(fixture());
      await change(own(failingMinutes(5)));
      /** Begins, and resolves when the first round is over and it waits for the next. */
      const keeping = async (keep: (signal: AbortSignal) => Promise<void>) => {
        const stopping = new AbortController();
        const timers = clock.pendingTimers;
        const ended = keep(stopping.signal);
        const isIdle = () => eventually(() => clock.pendingTimers > timers);
        await isIdle();
        return {
          isIdle,
          async stop() {
            stopping.abort();
            await ended;
            expect(clock.pendingTimers).toBe(timers);
          },
        };
      };
      await run(0, FAILED);
      const engine = await keeping(features.alertEngine.maintain);
      expect(await alerts()).toEqual([]);
      await clock.advance(5 * 60_000 - 1);
      await engine.isIdle();
      expect(await alerts()).toEqual([]);
      await clock.advance(2000);
      await engine.isIdle();
      expect(await alerts()).toEqual(['ALERT_FAILURE_REMAIN']);
      await engine.stop();

      await sweepAt(30 * 24 * 60);
      await run(30 * 24 * 60, PASSED);
      clock.spend(24 * 3_600_000 + 6 * 60_000);
      const list = await keeping(features.checkAlerts.maintain);
      await list.stop();
      const { json } = await mine.get(`${PATH}?from=0&to=${slot(100_000)}`);
      expect(json).toMatchObject([{ alertType: 'ALERT_RECOVERY' }]);
    });

    it('open an incident with the first failure notice, and resolve it with the recovery', async () => {
      const { result, slot } = alertsFixtureOf(fixture());
      const { engine, incidents } = listeningEngine(fixture());
      const { json: shop } = await fixture().mine.post('/v1/status-pages/services', {
        name: 'Shop',
      });
      const trigger = { serviceId: shop.id, severity: 'MAJOR', name: 'Shop is down' };
      await change({ triggerIncident: trigger, ...own(failedRuns(2)) });
      const take = takerOf(fixture(), engine.follow);
      const opened = `opened shop Shop is down ${slot(0)}`;
      const resolved = `resolved shop ${slot(0)}`;
      await take([result(1, FAILED)]);
      expect(incidents).toEqual([]);
      await take([result(2, FAILED), result(3, FAILED), result(4, DEGRADED), result(5, FAILED)]);
      expect(incidents).toEqual([opened]);
      // Even if the check is muted and has no incident settings by now.
      await change({ muted: true, triggerIncident: null });
      await take([result(6, PASSED)]);
      expect(incidents).toEqual([opened, resolved]);
      // A muted check opens no incident.
      await change({ triggerIncident: trigger, ...own(failedRuns(1)) });
      await take([result(7, FAILED), result(8, PASSED)]);
      expect(incidents).toEqual([opened, resolved]);
      await change({ muted: false });
      await take([result(9, DEGRADED), result(10, FAILED), result(11, PASSED)]);
      expect(incidents).toEqual([opened, resolved, opened, resolved]);
    });

    it('take one query if all checks pass, and a few if all fail', async () => {
      const { check } = fixture();
      const { result } = alertsFixtureOf(fixture());
      const { engine, notices } = listeningEngine(fixture());
      const ids = Array.from({ length: 60 }, (_, number) => `c${number}`);
      for (const id of ids) await check(id);
      const take = takerOf(fixture(), engine.follow);
      const all = (minute: number, fields: object) =>
        ids.map((checkId) => result(minute, { ...fields, checkId }));
      expect(await take(all(1, PASSED))).toBe(1);
      expect(await take(all(2, FAILED))).toBeLessThanOrEqual(4);
      expect(await take(all(3, FAILED))).toBeLessThanOrEqual(2);
      expect(await take(all(4, PASSED))).toBeLessThanOrEqual(3);
      expect(await take(all(5, PASSED))).toBe(1);
      expect(notices).toHaveLength(120);
    });

    describe('settings of the account', () => {
      const DEFAULTS = {
        escalationType: 'RUN_BASED',
        runBasedEscalation: { failedRunThreshold: 1 },
        reminders: { amount: 0, interval: 5 },
        parallelRunFailureThreshold: { enabled: false, percentage: 10 },
        escalationStep: null,
      };

      it('have every default, and change one field at a time', async () => {
        const { mine } = fixture();
        expect((await mine.get(settingsPath())).json).toEqual(DEFAULTS);
        const changed = await mine.put(settingsPath(), {
          escalationType: 'TIME_BASED',
          timeBasedEscalation: { minutesFailingThreshold: 30 },
        });
        expect(changed.status).toBe(200);
        const { runBasedEscalation: _, ...rest } = DEFAULTS;
        expect(changed.json).toEqual({
          ...rest,
          escalationType: 'TIME_BASED',
          timeBasedEscalation: { minutesFailingThreshold: 30 },
        });
        const reminders = { amount: 100_000, interval: 30 };
        const again = await mine.patch(settingsPath(), { reminders });
        expect(again.json).toEqual({ ...changed.json, reminders });
        expect((await mine.get(settingsPath())).json).toEqual(again.json);
        // What is read can be sent back as it is.
        expect((await mine.put(settingsPath(), again.json)).json).toEqual(again.json);
      });

      it.each([
        [{ escalationType: 'SOMETIMES' }, 'body.escalationType'],
        [{ runBasedEscalation: { failedRunThreshold: 0 } }, 'body.runBasedEscalation'],
        [{ runBasedEscalation: { failedRunThreshold: 6 } }, 'body.runBasedEscalation'],
        [{ timeBasedEscalation: { minutesFailingThreshold: 6 } }, 'body.timeBasedEscalation'],
        [{ reminders: { amount: 6 } }, 'body.reminders.amount'],
        [{ reminders: { interval: 6 } }, 'body.reminders.interval'],
        [{ parallelRunFailureThreshold: { percentage: 9 } }, 'body.parallelRunFailureThreshold'],
        [{ parallelRunFailureThreshold: { percentage: 101 } }, 'body.parallelRunFailureThreshold'],
        [{ threshold: 1 }, 'body.threshold'],
      ])('refuse %j', async (fields, path) => {
        const { mine } = fixture();
        const refused = await mine.put(settingsPath(), fields);
        expect(refused.status).toBe(400);
        expect(problemsIn(refused).join('\n')).toContain(path);
        expect((await mine.get(settingsPath())).json).toEqual(DEFAULTS);
      });

      it('are visible only to the account, and only admins change them', async () => {
        const { mine, theirs, clientWith } = fixture();
        expect((await theirs.get(settingsPath())).status).toBe(404);
        expect((await theirs.put(settingsPath(), failedRuns(2))).status).toBe(404);
        const reader = await clientWith('read');
        expect((await reader.get(settingsPath())).status).toBe(200);
        const writer = await clientWith('write');
        expect((await writer.put(settingsPath(), failedRuns(2))).status).toBe(403);
        expect((await mine.get(settingsPath())).json).toEqual(DEFAULTS);
      });
    });
  });
});

/**
 * Gives results to a follower as the intake does.
 *
 * @returns how many statements that took
 */
function takerOf({ store, mine, berlin, clock }: ResultsFixture, follow: FinalsHandler) {
  return (finals: readonly CheckResult[]): Promise<number> =>
    store.transaction(async (tx) => {
      const { accountId } = mine;
      const checkIds = [...new Set(finals.map(({ checkId }) => checkId))];
      await lockSubjects(tx, { accountId, checkIds });
      let statements = 0;
      const counting: Sql = {
        query(text, params) {
          statements += 1;
          return tx.query(text, params);
        },
      };
      const { slug: location } = berlin;
      const current = new Set(finals);
      await follow(counting, { accountId, location, finals, current, atMs: clock.wallMs() });
      return statements;
    });
}

function tlsWith(daysRemaining: number) {
  return {
    protocol: 'TLSv1.3',
    cipher: 'TLS_AES_256_GCM_SHA384',
    alpnProtocol: null,
    authorized: true,
    certificate: {
      subject: 'CN=shop.test',
      issuer: 'CN=ca.test',
      subjectAltNames: ['shop.test'],
      validFrom: '2025-01-01T00:00:00.000Z',
      validTo: '2027-01-01T00:00:00.000Z',
      daysRemaining,
      serialNumber: '01',
      fingerprint256: 'AA',
    },
  };
}
