import { describe, expect, it } from 'vitest';
import { databases } from '../../../../support/database/databases.ts';
import { CHANNELS, makeChannel, makeCheck } from '../../../../support/service/alert-deliveries.ts';
import { useAccounts, useRunningService } from '../../../../support/service/service-fixture.ts';

const HOUR_MS = 3_600_000;
const path = (id: string) => `/v1/checks/${id}/alert-recipients`;

/** Who would be notified of a check, and why. */
describe.each(databases)('on %s', (kind) => {
  describe('the recipients of the alerts of a check', () => {
    const service = useAccounts(useRunningService(kind));

    it('are its subscribed channels, with what each wants and whether it can be reached', async () => {
      const { mine, theirs } = service();
      await makeCheck(service(), 'home');
      const subscriptions = [{ checkId: 'home' }];
      const webhook = await makeChannel(service(), {
        type: 'WEBHOOK',
        config: { name: 'Pager', url: 'https://pager.test/hooks/secret' },
        sslExpiry: true,
        sslExpiryThreshold: 7,
        subscriptions,
      });
      const email = await makeChannel(service(), {
        type: 'EMAIL',
        config: { address: 'ops@example.com' },
        subscriptions,
      });
      const paused = await makeChannel(service(), {
        type: 'SLACK',
        config: { url: 'https://hooks.slack.test/services/T0' },
        subscriptions: [{ checkId: 'home', activated: false }],
      });
      const { status, json } = await mine.get(path('home'));
      expect([status, json]).toEqual([
        200,
        {
          problem: null,
          dependents: { total: 0, failing: 0, names: [] },
          settings: {
            escalationType: 'RUN_BASED',
            runBasedEscalation: { failedRunThreshold: 1 },
            reminders: { amount: 0, interval: 5 },
            parallelRunFailureThreshold: { enabled: false, percentage: 10 },
          },
          settingsOf: 'ACCOUNT',
          silences: [],
          recipients: [
            {
              channel: { id: webhook, type: 'WEBHOOK', name: 'Pager' },
              activated: true,
              notifications: ['FAILURE', 'RECOVERY', 'CERTIFICATE'],
              reason:
                'It is subscribed to this check and wants failures, recoveries, certificates that expire within 7 days.',
              problem: null,
            },
            {
              channel: { id: email, type: 'EMAIL', name: 'ops@example.com' },
              activated: true,
              notifications: ['FAILURE', 'RECOVERY'],
              reason: 'It is subscribed to this check and wants failures, recoveries.',
              problem: 'This service sends no email: SMTP_URL is not set.',
            },
            {
              channel: { id: paused, type: 'SLACK', name: 'hooks.slack.test' },
              activated: false,
              notifications: [],
              reason: 'Its subscription to this check is not activated.',
              problem: null,
            },
          ],
          omitted: 0,
          escalation: null,
        },
      ]);
      await mine.patch(`/v1/accounts/${mine.accountId}/alert-settings`, {
        escalationStep: { minutes: 15, alertChannelIds: [email] },
      });
      expect((await mine.get(path('home'))).json.escalation).toEqual({
        minutes: 15,
        channels: [{ id: email, type: 'EMAIL', name: 'ops@example.com' }],
      });
      expect((await theirs.get(path('home'))).status).toBe(404);
    });

    it('are listed with the reasons why nobody is notified now', async () => {
      const { mine, clock } = service();
      await makeCheck(service(), 'quiet', { tags: ['db'] });
      const codes = async () =>
        (await mine.get(path('quiet'))).json.silences.map(({ code }: { code: string }) => code);
      expect(await codes()).toEqual(['NO_CHANNEL']);
      const id = await makeChannel(service(), {
        type: 'WEBHOOK',
        config: { name: 'Pager', url: 'https://pager.test/' },
        subscriptions: [{ checkId: 'quiet' }],
      });
      expect(await codes()).toEqual([]);
      await mine.patch(`${CHANNELS}/${id}`, { sendFailure: false });
      expect(await codes()).toEqual(['NO_CHANNEL']);
      await mine.patch(`${CHANNELS}/${id}`, { sendFailure: true });
      await mine.patch('/v1/checks/quiet', { muted: true, activated: false });
      const nowMs = clock.wallMs();
      const window = await mine.post('/v1/maintenance-windows', {
        name: 'Upgrade',
        startsAt: new Date(nowMs - HOUR_MS).toISOString(),
        endsAt: new Date(nowMs + HOUR_MS).toISOString(),
        repeatUnit: 'DAY',
        silenceAlertsTags: ['db'],
      });
      expect(window.status, window.text).toBe(201);
      expect(await codes()).toEqual(['NOT_ACTIVATED', 'MUTED', 'MAINTENANCE_WINDOW']);
    });

    it('follow the settings of the check and of its group', async () => {
      const { mine } = service();
      const own = {
        useGlobalAlertSettings: false,
        alertSettings: { runBasedEscalation: { failedRunThreshold: 3 } },
      };
      await makeCheck(service(), 'grouped', own);
      const inForce = async () => {
        const { settings, settingsOf } = (await mine.get(path('grouped'))).json;
        return [settingsOf, settings.runBasedEscalation.failedRunThreshold];
      };
      expect(await inForce()).toEqual(['CHECK', 3]);
      const group = await mine.post('/v1/check-groups', {
        name: 'Shop',
        useGlobalAlertSettings: false,
        alertSettings: { runBasedEscalation: { failedRunThreshold: 2 } },
      });
      await mine.patch('/v1/checks/grouped', { groupId: group.json.id });
      expect(await inForce()).toEqual(['GROUP', 2]);
    });
  });
});
