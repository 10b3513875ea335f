import { describe, expect, it } from 'vitest';
import type { AlertType } from '../../../../../src/model/alerting/alert.ts';
import { databases } from '../../../../support/database/databases.ts';
import {
  CHANNELS,
  makeChannel,
  makeCheck,
  noticeOf,
  put,
} from '../../../../support/service/alert-deliveries.ts';
import { useAccounts, useRunningService } from '../../../../support/service/service-fixture.ts';

const EMAIL = { type: 'EMAIL', config: { address: 'ops@example.com' } };
const HOOK = { type: 'WEBHOOK', config: { name: 'Hook', url: 'http://127.0.0.1:1/' } };

/** Who is notified of which checks. */
describe.each(databases)('on %s', (kind) => {
  describe('a channel', () => {
    const service = useAccounts(useRunningService(kind));

    const alert = (checkId: string, alertType: AlertType) =>
      put(service(), noticeOf(service(), { alertType, check: { id: checkId } }));
    /** What the channel was notified of, oldest first. */
    const notices = async (id: number): Promise<readonly string[]> =>
      (await service().mine.get(`${CHANNELS}/${id}/deliveries`)).json
        .map(({ alertType, checkId }: Record<string, string>) => `${checkId} ${alertType}`)
        .toReversed();

    it('with subscribeAll is notified of all checks, now and later, except those it opts out of', async () => {
      const { mine, theirs } = service();
      await makeCheck(service(), 'now', { name: 'B' });
      await makeCheck(service(), 'not', { name: 'A' });
      await makeCheck({ ...service(), mine: theirs }, 'other');
      const made = await mine.post(CHANNELS, {
        ...EMAIL,
        subscribeAll: true,
        subscriptions: [{ checkId: 'not', activated: false }],
      });
      const { id } = made.json;
      expect(made.json).toMatchObject({
        subscribeAll: true,
        subscriptions: [{ checkId: 'not', activated: false }],
        servedChecks: { total: 1, checks: [{ id: 'now', name: 'B' }] },
      });
      const request = { url: 'https://e.test/' };
      const later = { name: 'C', locations: ['eu-west-1'], request };
      expect((await mine.put('/v1/checks/url/later', later)).status).toBe(200);
      for (const checkId of ['now', 'not', 'later']) await alert(checkId, 'ALERT_FAILURE');
      expect(await notices(id)).toEqual(['now ALERT_FAILURE', 'later ALERT_FAILURE']);
      expect((await mine.get(`${CHANNELS}/${id}`)).json.servedChecks.total).toBe(2);

      const { json: stored } = await mine.get('/v1/checks/later');
      expect(stored.alertChannelSubscriptions).toEqual([]);
      expect(stored.alertChannels.email).toEqual([{ address: 'ops@example.com' }]);
      expect((await mine.get('/v1/checks/not')).json.alertChannels.email).toEqual([]);
      const recipients = async (checkId: string) =>
        (await mine.get(`/v1/checks/${checkId}/alert-recipients`)).json.recipients;
      const reason = 'It is subscribed to all checks and wants failures, recoveries.';
      expect(await recipients('later')).toMatchObject([{ activated: true, reason }]);
      expect(await recipients('not')).toMatchObject([{ activated: false }]);

      const off = await mine.patch(`${CHANNELS}/${id}`, { subscribeAll: false });
      expect(off.json.servedChecks).toEqual({ total: 0, checks: [] });
      await alert('now', 'ALERT_FAILURE_DEGRADED');
      await alert('now', 'ALERT_RECOVERY');
      expect(await notices(id)).toHaveLength(2);
    });

    it('opts out of one check by the subscriptions of the check', async () => {
      const { mine } = service();
      const id = await makeChannel(service(), { ...EMAIL, subscribeAll: true });
      await makeCheck(service(), 'home', {
        alertChannelSubscriptions: [{ alertChannelId: id, activated: false }],
      });
      await alert('home', 'ALERT_FAILURE');
      expect(await notices(id)).toEqual([]);
      await mine.patch('/v1/checks/home', { alertChannelSubscriptions: [] });
      await alert('home', 'ALERT_FAILURE');
      expect(await notices(id)).toEqual(['home ALERT_FAILURE']);
    });

    it('lists the checks that it is notified of, at most twenty by name', async () => {
      const { mine } = service();
      for (let number = 10; number < 32; number += 1) {
        await makeCheck(service(), `c${number}`, { name: `Check ${number}` });
      }
      const { json } = await mine.post(CHANNELS, { ...EMAIL, subscribeAll: true });
      expect(json.servedChecks.total).toBe(22);
      expect(json.servedChecks.checks).toHaveLength(20);
      expect(json.servedChecks.checks[0]).toEqual({ id: 'c10', name: 'Check 10' });
      const etagOf = async () => (await mine.get(`${CHANNELS}/${json.id}`)).headers.etag;
      const etag = await etagOf();
      await makeCheck(service(), 'another');
      expect(await etagOf()).not.toBe(etag);
      // A new check is no change of the channel.
      const headers = { 'if-match': String(etag) };
      const changed = await mine.ask(
        'PATCH',
        `${CHANNELS}/${json.id}`,
        { sendDegraded: true },
        headers,
      );
      expect([changed.status, changed.json.servedChecks.total]).toEqual([200, 23]);
      const { json: entries } = await mine.get('/v1/audit-log?limit=1');
      expect(entries[0].changes.map(({ field }: { field: string }) => field)).toContain(
        'sendDegraded',
      );
      expect(JSON.stringify(entries[0])).not.toContain('servedChecks');
    });

    it('is notified of the end of a problem only if it was notified of the problem', async () => {
      const { mine } = service();
      await makeCheck(service(), 'home');
      const subscriptions = [{ checkId: 'home' }];
      const subscribed = await makeChannel(service(), { ...HOOK, subscriptions });
      const slow = await makeChannel(service(), {
        ...HOOK,
        sendFailure: false,
        sendDegraded: true,
        subscriptions,
      });
      const untold = await makeChannel(service(), { ...HOOK, sendFailure: false, subscriptions });
      await alert('home', 'ALERT_DEGRADED');
      await alert('home', 'ALERT_DEGRADED_FAILURE');
      const late = await makeChannel(service(), { ...HOOK, subscriptions });
      await alert('home', 'ALERT_SSL');
      await alert('home', 'ALERT_RECOVERY');
      // The end of a problem of which nobody was notified.
      await alert('home', 'ALERT_RECOVERY');
      expect(await notices(subscribed)).toEqual([
        'home ALERT_DEGRADED_FAILURE',
        'home ALERT_RECOVERY',
      ]);
      expect(await notices(slow)).toEqual(['home ALERT_DEGRADED', 'home ALERT_RECOVERY']);
      expect(await notices(untold)).toEqual([]);
      expect(await notices(late)).toEqual([]);
      await put(
        service(),
        ...(['ALERT_FAILURE', 'ALERT_RECOVERY'] as const).map((alertType) =>
          noticeOf(service(), { alertType }),
        ),
      );
      expect(await notices(late)).toEqual(['home ALERT_FAILURE', 'home ALERT_RECOVERY']);
      expect(await notices(untold)).toEqual([]);
      await mine.delete(`${CHANNELS}/${late}`);
    });
  });
});
