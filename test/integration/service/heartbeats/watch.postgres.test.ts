import { describe, expect, it } from 'vitest';
import { createHeartbeatFeatures } from '../../../../src/service/heartbeats/create-feature.ts';
import { databases } from '../../../support/database/databases.ts';
import { settle } from '../../../support/fake-clock.ts';
import { captureLog } from '../../../support/log-capture.ts';
import {
  DAY,
  HOUR,
  HOURLY,
  MINUTE,
  PATH,
  RETENTION_DAYS,
  SECOND,
  useHeartbeats,
} from '../../../support/service/heartbeats-fixture.ts';
import { useAccounts, useRunningService } from '../../../support/service/service-fixture.ts';

/** Missing pings. */
describe.each(databases)('on %s', (kind) => {
  describe('overdue heartbeat pings', () => {
    const running = useRunningService(kind);
    const service = useAccounts(running);
    const { heartbeat, pass, parts } = useHeartbeats(running, service);

    it('give one alert, with the time of the deadline', async () => {
      const { ping, story, events, status, alerts } = await heartbeat();
      await pass(3 * HOUR);
      expect(await story()).toEqual([]);
      expect(await status()).toBeNull();
      await ping();
      expect(await status()).toMatchObject({ hasFailures: false, updated_at: null });
      await pass(HOUR + 5 * MINUTE - 1);
      expect(await story()).toEqual(['180 RECEIVED']);
      await pass(1);
      await pass(10 * HOUR);
      expect(await story()).toEqual(['180 RECEIVED', '245 FAILING']);
      const [failing] = await events();
      expect(failing).toMatchObject({ source: 'No ping was received', userAgent: '', pings: 0 });
      expect(await status()).toMatchObject({
        name: 'Backup',
        hasFailures: true,
        hasErrors: false,
        isDegraded: false,
        longestRun: null,
        shortestRun: null,
        lastRunLocation: null,
        lastCheckRunId: null,
        sslDaysRemaining: null,
      });
      expect(await alerts()).toEqual(['ALERT_FAILURE']);
      await ping();
      expect(await status()).toMatchObject({ hasFailures: false });
      expect(await alerts()).toEqual(['ALERT_FAILURE', 'ALERT_RECOVERY']);
      const [alert] = (
        await service().mine.get('/v1/check-alerts?from=0&to=9999999999&limit=2')
      ).json.toReversed();
      expect(alert).toMatchObject({
        checkType: 'HEARTBEAT',
        error: 'No ping was received within 1 hour and a grace of 5 minutes',
      });
    });

    it('are alerted after the silence in which they failed, although nothing runs', async () => {
      const { id, ping, alerts } = await heartbeat();
      const { mine } = service();
      const { alertEngine } = running().features;
      await ping();
      expect((await mine.patch(`${PATH}/${id}`, { muted: true })).status).toBe(200);
      await pass(66 * MINUTE);
      await alertEngine.sweep();
      expect(await alerts()).toEqual([]);
      await mine.patch(`${PATH}/${id}`, { muted: false });
      await pass(MINUTE);
      await alertEngine.sweep();
      expect(await alerts()).toEqual(['ALERT_FAILURE_REMAIN']);
      await ping();
      expect(await alerts()).toEqual(['ALERT_FAILURE_REMAIN', 'ALERT_RECOVERY']);
    });

    it('are late before the first scan, and the failure is alerted all the same', async () => {
      const { ping, story, alerts } = await heartbeat();
      await ping();
      running().clock.spend(2 * HOUR);
      expect(await ping()).toBe('LATE');
      expect(await story()).toEqual(['0 RECEIVED', '65 FAILING', '120 LATE']);
      expect(await alerts()).toEqual(['ALERT_FAILURE', 'ALERT_RECOVERY']);
    });

    it('follow a new period, from now on if its deadline has passed', async () => {
      const { id, ping, story } = await heartbeat();
      const { mine } = service();
      const change = async (period: number) => {
        const changed = { ...HOURLY, period, periodUnit: 'MINUTES', grace: 0 };
        expect((await mine.patch(`${PATH}/${id}`, { heartbeat: changed })).status).toBe(200);
      };
      await ping();
      await pass(10 * MINUTE);
      await change(30);
      await pass(20 * MINUTE);
      await ping();
      await pass(20 * MINUTE);
      await change(15);
      await pass(15 * MINUTE - 1);
      expect(await story()).toEqual(['0 RECEIVED', '30 FAILING', '30 LATE']);
      await pass(1);
      await change(600);
      await pass(HOUR);
      expect((await story()).slice(3)).toEqual(['65 FAILING']);
    });

    it.each(['the check', 'its group'])(
      'are not missed while %s is deactivated, nor for a whole period after',
      async (what) => {
        const { mine } = service();
        const { json: group } = await mine.post('/v1/check-groups', { name: 'Jobs' });
        const { id, ping, story } = await heartbeat({ groupId: group.id });
        const path = what === 'the check' ? `${PATH}/${id}` : `/v1/check-groups/${group.id}`;
        const activate = async (activated: boolean) => {
          expect((await mine.patch(path, { activated })).status).toBe(200);
        };
        await ping();
        await activate(false);
        await pass(5 * HOUR);
        await activate(true);
        await pass(65 * MINUTE - 1);
        expect(await story()).toEqual(['0 RECEIVED']);
        await pass(1);
        expect(await story()).toEqual(['0 RECEIVED', '365 FAILING']);
        await activate(false);
        expect(await ping()).toBe('LATE');
        await pass(64 * MINUTE);
        expect(await ping()).toBe('RECEIVED');
        await activate(true);
        await pass(30 * MINUTE);
        await activate(false);
        await activate(true);
        await pass(64 * MINUTE);
        expect((await story()).slice(2)).toEqual(['365 LATE', '429 RECEIVED']);
      },
    );

    it('are excused for a whole period after the deletion of a deactivated group', async () => {
      const { mine } = service();
      const { json: group } = await mine.post('/v1/check-groups', { name: 'J', activated: false });
      const { ping, story } = await heartbeat({ groupId: group.id });
      await ping();
      await pass(2 * HOUR);
      expect((await mine.delete(`/v1/check-groups/${group.id}`)).status).toBe(204);
      await pass(65 * MINUTE - 1);
      expect(await story()).toEqual(['0 RECEIVED']);
      await pass(1);
      expect(await story()).toEqual(['0 RECEIVED', '185 FAILING']);
    });

    it('are excused by a maintenance window with the tags of the check or its group', async () => {
      const { mine, clock } = service();
      const { json: group } = await mine.post('/v1/check-groups', { name: 'J', tags: ['night'] });
      const paused = await heartbeat({ groupId: group.id });
      const other = await heartbeat({ tags: ['day'] });
      const beginMs = clock.wallMs() + 30 * MINUTE;
      const window = await mine.post('/v1/maintenance-windows', {
        name: 'Night',
        tags: ['night'],
        repeatUnit: 'DAY',
        startsAt: new Date(beginMs).toISOString(),
        endsAt: new Date(beginMs + HOUR).toISOString(),
      });
      expect(window.status, window.text).toBe(201);
      await paused.ping();
      await other.ping();
      await pass(65 * MINUTE);
      expect(await paused.story()).toEqual(['0 RECEIVED']);
      expect(await other.story()).toEqual(['0 RECEIVED', '65 FAILING']);
      await pass(90 * MINUTE - 1);
      expect(await paused.story()).toEqual(['0 RECEIVED']);
      await pass(1);
      expect(await paused.story()).toEqual(['0 RECEIVED', '155 FAILING']);
    });

    it('in a maintenance window after the period are in time', async () => {
      const { mine, clock } = service();
      const { ping, story } = await heartbeat();
      const window = await mine.post('/v1/maintenance-windows', {
        name: 'Night',
        pauseAllChecks: true,
        repeatUnit: 'DAY',
        startsAt: new Date(clock.wallMs() + 30 * MINUTE).toISOString(),
        endsAt: new Date(clock.wallMs() + 5 * HOUR).toISOString(),
      });
      expect(window.status, window.text).toBe(201);
      await ping();
      running().clock.spend(2 * HOUR);
      expect(await ping()).toBe('RECEIVED');
      await pass(6 * HOUR);
      expect(await story()).toEqual(['0 RECEIVED', '120 RECEIVED', '365 FAILING']);
    });

    it('are excused if the service was away', async () => {
      const { clock } = service();
      const lost = await heartbeat();
      const rare = await heartbeat({ heartbeat: { ...HOURLY, periodUnit: 'DAYS' } });
      const over = await heartbeat({ heartbeat: { ...HOURLY, period: 30, periodUnit: 'MINUTES' } });
      for (const { ping } of [lost, rare, over]) await ping();
      await pass(40 * MINUTE);
      await over.ping();
      // The service stops just after the deadline of one of them, before a scan.
      await running().store.query('update service_alive set alive_at = $1::timestamptz', [
        new Date(clock.wallMs() - 1),
      ]);
      clock.spend(3 * HOUR);
      // A new process, which has not reported its presence yet.
      const { heartbeatWatch } = createHeartbeatFeatures(parts());
      await heartbeatWatch.scan();
      expect(await lost.story()).toEqual(['0 RECEIVED']);
      expect(await over.story()).toEqual(['0 RECEIVED', '35 FAILING', '40 LATE']);
      await pass(35 * MINUTE - 1);
      expect(await over.story()).toHaveLength(3);
      await pass(1);
      expect((await over.story()).slice(3)).toEqual(['255 FAILING']);
      await pass(30 * MINUTE);
      expect(await lost.story()).toEqual(['0 RECEIVED', '285 FAILING']);
      // No ping was expected in that time, so its deadline is unchanged.
      await pass(DAY + 5 * MINUTE - 285 * MINUTE);
      expect(await rare.story()).toEqual(['0 RECEIVED', '1445 FAILING']);
    });

    it('that failed before the service was away stay failed', async () => {
      const { clock } = service();
      const { ping, story } = await heartbeat();
      await ping();
      await pass(64 * MINUTE);
      clock.spend(MINUTE + SECOND);
      await running().store.query('update service_alive set alive_at = $1::timestamptz', [
        new Date(clock.wallMs()),
      ]);
      clock.spend(DAY);
      await createHeartbeatFeatures(parts()).heartbeatWatch.scan();
      expect(await story()).toEqual(['0 RECEIVED', '65 FAILING']);
    });

    it('are excused where the machine slept', async () => {
      const { clock } = service();
      const { ping, story } = await heartbeat();
      await ping();
      const { heartbeatWatch } = createHeartbeatFeatures(parts());
      await heartbeatWatch.scan();
      clock.suspend(3 * HOUR);
      await heartbeatWatch.scan();
      expect(await story()).toEqual(['0 RECEIVED']);
      await pass(65 * MINUTE);
      expect(await story()).toEqual(['0 RECEIVED', '245 FAILING']);
    });

    it('are not late where they come before the absence of the service is noticed', async () => {
      const { ping, story, alerts } = await heartbeat();
      await ping();
      await pass(30 * MINUTE);
      running().clock.spend(5 * HOUR);
      expect(await ping()).toBe('RECEIVED');
      expect(await story()).toEqual(['0 RECEIVED', '330 RECEIVED']);
      expect(await alerts()).toEqual([]);
    });

    it('fail to the second with several replicas, which alert once', async () => {
      const { ping, story, alerts } = await heartbeat({
        heartbeat: { period: 30, periodUnit: 'SECONDS', grace: 0, graceUnit: 'SECONDS' },
      });
      const { clock, features } = running();
      const stop = new AbortController();
      const { alertEngine } = features;
      const other = createHeartbeatFeatures({ ...parts(), alerts: alertEngine });
      await ping();
      const keeping = [features, other].map(({ heartbeatWatch }) =>
        heartbeatWatch.maintain(stop.signal),
      );
      // Each has a timer for its next scan, and one for old events.
      const haveLooked = async () => {
        while (clock.pendingTimers < 4) await settle();
      };
      for (let second = 0; second <= 31; second += 1) {
        await haveLooked();
        await clock.advance(SECOND);
      }
      await haveLooked();
      stop.abort();
      await Promise.all(keeping);
      expect(clock.pendingTimers).toBe(0);
      expect(await story()).toEqual(['0 RECEIVED', '0.5 FAILING']);
      expect(await alerts()).toEqual(['ALERT_FAILURE']);
    });

    it('fail once and are late once with scans and changes on several replicas', async () => {
      const { id, path, ping, story, alerts } = await heartbeat();
      const { mine } = service();
      const { json: group } = await mine.post('/v1/check-groups', { name: 'Jobs' });
      const { alertEngine } = running().features;
      const token = path.split('/').at(-1) ?? '';
      const sender = { source: 'test', userAgent: '' };
      // Each has a throttle of its own, so all of their pings reach the database.
      const replicas = Array.from({ length: 6 }, () =>
        createHeartbeatFeatures({ ...parts(), alerts: alertEngine }),
      );
      await ping();
      for (let round = 1; round <= 3; round += 1) {
        running().clock.spend(2 * HOUR);
        const changed = await Promise.all([
          mine.patch(`${PATH}/${id}`, { tags: [`${round}`], groupId: group.id }),
          mine.patch(`/v1/check-groups/${group.id}`, { tags: [`${round}`] }),
          ...replicas.map(async ({ heartbeatPings, heartbeatWatch }) => {
            await Promise.all([heartbeatPings.ping(token, sender), heartbeatWatch.scan()]);
            return { status: 200 };
          }),
        ]);
        expect(changed.filter(({ status }) => status !== 200)).toEqual([]);
        // No replica reports during the next round. That does not count as an absence.
        await running().store.query('delete from service_alive');
        const told = (await story()).map((each) => each.split(' ')[1]);
        expect(told.filter((state) => state === 'FAILING')).toHaveLength(round);
        expect(told.filter((state) => state === 'LATE')).toHaveLength(round);
        expect(await alerts()).toEqual(
          Array.from({ length: round }, () => ['ALERT_FAILURE', 'ALERT_RECOVERY']).flat(),
        );
      }
    });

    it('fail where another heartbeat cannot be judged, which is logged once', async () => {
      const { clock } = service();
      const others: Awaited<ReturnType<typeof heartbeat>>[] = [];
      for (let count = 0; count < 5; count += 1) others.push(await heartbeat());
      const [bad] = others;
      for (const { ping } of others) await ping();
      clock.spend(2 * HOUR);
      const { log, records } = captureLog();
      const { heartbeatWatch } = createHeartbeatFeatures({
        ...parts(),
        log,
        alerts: {
          async observe(_tx, _accountId, observations) {
            if (observations.some(({ checkId }) => checkId === bad?.id)) throw new Error('broken');
          },
        },
      });
      await heartbeatWatch.scan();
      await heartbeatWatch.scan();
      for (const { id, story } of others) {
        const told = id === bad?.id ? ['0 RECEIVED'] : ['0 RECEIVED', '65 FAILING'];
        expect(await story()).toEqual(told);
      }
      expect(records()).toEqual([
        expect.objectContaining({
          level: 'error',
          id: bad?.id,
          accountId: service().mine.accountId,
        }),
      ]);
      // A replica that can judge it does so.
      await pass(0);
      expect(await bad?.story()).toEqual(['0 RECEIVED', '65 FAILING']);
    });

    it('are deleted past the retention', async () => {
      const { ping, story } = await heartbeat();
      const { clock } = running();
      await ping();
      clock.spend((RETENTION_DAYS + 1) * DAY);
      await ping();
      clock.spend(SECOND);
      const stop = new AbortController();
      const keeping = createHeartbeatFeatures(parts()).heartbeatWatch.maintain(stop.signal);
      while (clock.pendingTimers < 2) await settle();
      stop.abort();
      await keeping;
      expect((await story()).map((each) => each.split(' ')[1])).toEqual(['FAILING', 'LATE']);
    });
  });
});
