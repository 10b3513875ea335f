import { describe, expect, it } from 'vitest';
import { databases } from '../../../support/database/databases.ts';
import { makeWebhook } from '../../../support/service/alert-deliveries.ts';
import { alertsFixtureOf, FAILED, PASSED } from '../../../support/service/alerts-fixture.ts';
import { useResultsFixture } from '../../../support/service/results-fixture.ts';
import { useRunningService } from '../../../support/service/service-fixture.ts';

const FIRST = [
  'ALERT_FAILURE',
  'ALERT_RECOVERY',
  'ALERT_FAILURE',
  'ALERT_RECOVERY',
  'ALERT_FAILURE',
];

describe.each(databases)('on %s', (kind) => {
  describe('a check that flaps', () => {
    const fixture = useResultsFixture(useRunningService(kind));

    /** Fails and passes in turn, from minute 1 to 6. */
    const flap = async () => {
      const { mine } = fixture();
      await mine.patch('/v1/checks/shop', { frequency: 1 });
      const { run, alerts, slot, sweepAt } = alertsFixtureOf(fixture());
      for (const minute of [1, 3, 5]) {
        await run(minute, FAILED);
        await run(minute + 1, PASSED);
      }
      /** Those after the first five. */
      const since = async () => {
        const { json } = await mine.get(`/v1/check-alerts?limit=100&from=0&to=${slot(10_000)}`);
        return json
          .toReversed()
          .slice(FIRST.length)
          .map(({ alertType, flapping }: Record<string, string>) => `${alertType} ${flapping}`);
      };
      return { run, alerts, since, sweepAt };
    };

    it('sends one alert that it flaps, and the next one with its condition when it is calm', async () => {
      const { run, alerts, since, sweepAt } = await flap();
      expect((await alerts()).slice(0, 5)).toEqual(FIRST);
      expect(await since()).toEqual(['ALERT_FAILURE STARTED']);
      await run(7, FAILED);
      await run(8, PASSED);
      await run(9, FAILED);
      await sweepAt(23);
      expect(await since()).toEqual(['ALERT_FAILURE STARTED']);
      await sweepAt(25);
      await run(26, PASSED);
      expect((await since()).slice(1)).toEqual([
        'ALERT_FAILURE_REMAIN ENDED',
        'ALERT_RECOVERY null',
      ]);
    });

    it('keeps its incident open until it is calm', async () => {
      const { mine } = fixture();
      const { json: service } = await mine.post('/v1/status-pages/services', { name: 'Shop' });
      const triggerIncident = { serviceId: service.id, severity: 'MAJOR', name: 'Shop is down' };
      await mine.patch('/v1/checks/shop', { triggerIncident });
      const statuses = async () => {
        const { json } = await mine.get('/v1/status-pages/incidents');
        return json
          .map(({ lastUpdateStatus }: Record<string, string>) => lastUpdateStatus)
          .toSorted();
      };
      const { run, since, sweepAt } = await flap();
      await run(7, FAILED);
      await run(8, PASSED);
      expect(await statuses()).toEqual(['INVESTIGATING', 'RESOLVED', 'RESOLVED']);
      await sweepAt(24);
      expect(await since()).toEqual(['ALERT_FAILURE STARTED', 'ALERT_RECOVERY ENDED']);
      expect(await statuses()).toEqual(['RESOLVED', 'RESOLVED', 'RESOLVED']);
    });

    it('is escalated once, to channels that are then notified that it is calm', async () => {
      const { mine } = fixture();
      const onCall = await makeWebhook(fixture(), { url: 'https://hooks.test/' }, []);
      await mine.patch(`/v1/accounts/${mine.accountId}/alert-settings`, {
        escalationStep: { minutes: 2, alertChannelIds: [onCall] },
      });
      const { run, sweepAt } = await flap();
      for (const minute of [7, 11]) {
        await run(minute, FAILED);
        await sweepAt(minute + 2);
        await run(minute + 3, PASSED);
      }
      await sweepAt(30);
      const { json } = await mine.get(`/v1/alert-channels/${onCall}/deliveries`);
      expect(json.map(({ alertType }: Record<string, string>) => alertType)).toEqual([
        'ALERT_RECOVERY',
        'ALERT_FAILURE_REMAIN',
      ]);
    });

    it('keeps its acknowledgement while it flaps', async () => {
      const { mine } = fixture();
      const onCall = await makeWebhook(fixture(), { url: 'https://hooks.test/' }, []);
      await mine.patch(`/v1/accounts/${mine.accountId}/alert-settings`, {
        escalationStep: { minutes: 2, alertChannelIds: [onCall] },
      });
      const { run, sweepAt } = await flap();
      // It passes just now.
      const [alert] = (await mine.get('/v1/check-alerts?open=true')).json;
      expect(alert.flapping).toBe('STARTED');
      const path = `/v1/check-alerts/${alert.id}`;
      expect((await mine.post(`${path}/acknowledge`)).status).toBe(200);
      await run(7, FAILED);
      await run(8, PASSED);
      expect((await mine.get(path)).json).toMatchObject({
        isOpen: true,
        acknowledgement: { by: { kind: 'key' } },
      });
      await run(9, FAILED);
      await sweepAt(12);
      expect((await mine.get(`/v1/alert-channels/${onCall}/deliveries`)).json).toEqual([]);
      await sweepAt(24);
      const [calm] = (await mine.get('/v1/check-alerts?open=true')).json;
      expect(calm).toMatchObject({ flapping: 'ENDED', acknowledgement: { by: { kind: 'key' } } });
    });

    it('sends one alert for a failure that began while it was muted', async () => {
      const { run, since, sweepAt } = await flap();
      const { mine } = fixture();
      await mine.patch('/v1/checks/shop', { muted: true });
      await run(7, FAILED);
      await mine.patch('/v1/checks/shop', { muted: false });
      await sweepAt(25);
      await run(26, FAILED);
      expect((await since()).slice(1)).toEqual(['ALERT_FAILURE_REMAIN ENDED']);
    });

    it('sends nothing while it is muted', async () => {
      const { since, sweepAt } = await flap();
      await fixture().mine.patch('/v1/checks/shop', { muted: true });
      await sweepAt(22);
      expect(await since()).toEqual(['ALERT_FAILURE STARTED']);
    });
  });
});
