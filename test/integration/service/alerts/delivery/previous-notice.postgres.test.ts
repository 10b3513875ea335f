import { afterEach, describe, expect, it } from 'vitest';
import { databases } from '../../../../support/database/databases.ts';
import { type HookServer, hookServer } from '../../../../support/servers/hook-server.ts';
import {
  deliveriesWhen,
  makeChannel,
  makeCheck,
  noticeOf,
  put,
  startWorker,
  whenAll,
} from '../../../../support/service/alert-deliveries.ts';
import { useAccounts, useRunningService } from '../../../../support/service/service-fixture.ts';

interface Alert {
  readonly labels: Readonly<Record<string, string>>;
  readonly startsAt?: string;
  readonly endsAt: string;
}

const alertsIn = ({ requests }: HookServer): readonly (readonly Alert[])[] =>
  requests.map(({ body }) => JSON.parse(body));

/** What Alertmanager gets through the outbox. */
describe.each(databases)('on %s', (kind) => {
  describe('a channel to Alertmanager', () => {
    const running = useRunningService(kind);
    const service = useAccounts(running);
    // Removes deliveries that are left, so that the workers of the next test do not send them.
    afterEach(() => running().store.query('delete from alert_deliveries'));

    const channelTo = (server: HookServer, fields: object = {}): Promise<number> =>
      makeChannel(service(), {
        type: 'ALERTMANAGER',
        config: { url: new URL(server.url).origin },
        subscriptions: [{ checkId: 'home' }],
        ...fields,
      });

    it('ends the alert that the channel was sent, also where it was not sent each step since', async () => {
      const server = await hookServer();
      await makeCheck(service(), 'home');
      const id = await channelTo(server, { sendDegraded: false });
      startWorker(service());
      const steps = ['ALERT_FAILURE', 'ALERT_FAILURE_DEGRADED', 'ALERT_DEGRADED_RECOVERY'] as const;
      for (const alertType of steps) {
        const name = `Shop ${alertType}`;
        await put(service(), noticeOf(service(), { alertType, check: { name } }));
      }
      await deliveriesWhen(service(), id, whenAll('sent'));
      const sent = alertsIn(server);
      expect(sent.map((alerts) => alerts.length)).toEqual([1, 1]);
      const [begin, end] = sent.flat();
      expect(begin?.labels).toMatchObject({
        alertname: 'VedetteCheck',
        severity: 'critical',
        check_id: 'home',
        tag_shop: 'true',
      });
      expect(end?.labels).toEqual(begin?.labels);
      expect(Date.parse(end?.endsAt ?? '')).toBe(service().clock.wallMs() - 10_000);
    });

    it('ends the alert of the previous severity, when it is notified of another', async () => {
      const server = await hookServer();
      await makeCheck(service(), 'home');
      const id = await channelTo(server, { sendDegraded: true });
      startWorker(service());
      for (const alertType of [
        'ALERT_DEGRADED',
        'ALERT_DEGRADED_FAILURE',
        'ALERT_RECOVERY',
      ] as const) {
        await put(service(), noticeOf(service(), { alertType }));
      }
      await deliveriesWhen(service(), id, whenAll('sent'));
      const nowMs = service().clock.wallMs();
      const seen = alertsIn(server).map((alerts) =>
        alerts.map(({ labels, endsAt }) => [labels.severity, Date.parse(endsAt) <= nowMs]),
      );
      expect(seen).toEqual([
        [['warning', false]],
        [
          ['critical', false],
          ['warning', true],
        ],
        [['critical', true]],
      ]);
    });
  });
});
