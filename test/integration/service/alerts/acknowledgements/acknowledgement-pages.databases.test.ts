import { describe, expect, it } from 'vitest';
import { acknowledgeToken } from '../../../../../src/service/alerts/acknowledgements/acknowledge-link.ts';
import { databases } from '../../../../support/database/databases.ts';
import { hookServer } from '../../../../support/servers/hook-server.ts';
import {
  deliveriesWhen,
  makeChannel,
  makeWebhook,
  startWorker,
  whenAll,
} from '../../../../support/service/alert-deliveries.ts';
import { alertsFixtureOf, FAILED, PASSED } from '../../../../support/service/alerts-fixture.ts';
import { useResultsFixture } from '../../../../support/service/results-fixture.ts';
import { TEST_SECRETS } from '../../../../support/service/service-features.ts';
import { useRunningService } from '../../../../support/service/service-fixture.ts';
import { type Browser, openBrowser } from '../../../../support/users/browser.ts';

describe.each(databases)('on %s', (kind) => {
  describe('the link in a message that acknowledges an alert', () => {
    const running = useRunningService(kind);
    const fixture = useResultsFixture(running);
    const browserOf = (): Browser => openBrowser(running().app.port);

    const openAlert = async () => (await fixture().mine.get('/v1/check-alerts?open=true')).json[0];
    const given = async () => {
      const channelId = await makeWebhook(fixture(), { url: 'https://hooks.test/' }, ['shop']);
      const { run } = alertsFixtureOf(fixture());
      await run(1, FAILED);
      const { id: alertId } = await openAlert();
      const path = `/acknowledge/${acknowledgeToken(TEST_SECRETS, { alertId, channelId })}`;
      return { channelId, alertId, path, run };
    };

    it('leads from the message to a page that changes nothing until its form is sent', async () => {
      const server = await hookServer();
      const channelId = await makeWebhook(fixture(), { url: server.url }, ['shop']);
      startWorker(fixture());
      await alertsFixtureOf(fixture()).run(1, FAILED);
      await deliveriesWhen(fixture(), channelId, whenAll('sent'));
      const { ACKNOWLEDGE_LINK: link } = JSON.parse(server.requests[0]?.body ?? '{}');
      const { pathname } = new URL(link);
      const browser = browserOf();
      const page = await browser.ask(pathname);
      expect(page.status).toBe(200);
      expect(page.headers).toMatchObject({
        'cache-control': 'no-store',
        'content-security-policy': expect.stringContaining("default-src 'none'"),
        'content-type': 'text/html; charset=utf-8',
      });
      expect(page.text).toContain('Check shop has failed');
      expect(page.text).not.toContain('<script');
      expect((await browser.ask(pathname, { method: 'HEAD' })).status).toBe(200);
      expect((await openAlert()).acknowledgement).toBeNull();

      const sent = await browser.submit(pathname, {});
      expect([sent.status, sent.headers.location]).toEqual([303, pathname]);
      expect((await openAlert()).acknowledgement).toMatchObject({
        by: { kind: 'channel', id: String(channelId), name: 'Hook' },
      });
      expect((await browser.ask(pathname)).text).toContain('The alert is acknowledged');
      const rows = await deliveriesWhen(
        fixture(),
        channelId,
        (all) => all.length === 2 && whenAll('sent')(all),
      );
      expect(rows[0].alertType).toBe('ALERT_ACKNOWLEDGED');
      const last = JSON.parse(server.requests[1]?.body ?? '{}');
      expect(last).toMatchObject({ ACKNOWLEDGED_BY: 'Hook', ACKNOWLEDGE_LINK: null });
    });

    it('is in the audit log once, however often the form is sent, and undoes only its own', async () => {
      const { path, alertId, channelId } = await given();
      const { mine } = fixture();
      const browser = browserOf();
      await browser.submit(path, {});
      await browser.submit(path, {});
      await browser.submit(`${path}/undo`, {});
      expect((await openAlert()).acknowledgement).toBeNull();
      await mine.post(`/v1/check-alerts/${alertId}/acknowledge`);
      await browser.submit(`${path}/undo`, {});
      expect((await openAlert()).acknowledgement).toMatchObject({ by: { kind: 'key' } });
      const actor = { kind: 'channel', id: String(channelId), name: 'Hook' };
      const { json } = await mine.get('/v1/audit-log?kind=check-alert');
      expect(json).toMatchObject([
        { action: 'acknowledge', actor: { kind: 'key' } },
        { action: 'unacknowledge', actor },
        { action: 'acknowledge', actor, resourceId: alertId, address: '127.0.0.1' },
      ]);
    });

    it('of Slack names the channel by its id, and never undoes the acknowledgement of somebody else', async () => {
      const slack = await makeChannel(fixture(), {
        type: 'SLACK',
        config: { url: 'https://hooks.slack.test/services/T0' },
        subscriptions: [],
      });
      const { alertId } = await given();
      const token = acknowledgeToken(TEST_SECRETS, { alertId, channelId: slack });
      await browserOf().submit(`/acknowledge/${token}`, {});
      const by = { kind: 'channel', id: String(slack), name: `Slack channel ${slack}` } as const;
      expect((await openAlert()).acknowledgement).toMatchObject({ by });
      const { mine } = fixture();
      await mine.post(`/v1/check-alerts/${alertId}/unacknowledge`);
      await mine.post(`/v1/check-alerts/${alertId}/acknowledge`);
      const key = { accountId: mine.accountId, id: alertId };
      await expect(
        fixture().features.acknowledgements.unacknowledge(key, by, 'own'),
      ).rejects.toMatchObject({ status: 409, attributes: { reason: 'taken' } });
      expect((await openAlert()).acknowledgement).toMatchObject({ by: { kind: 'key' } });
    });

    it('expires with its alert, and then shows nothing about it', async () => {
      const { path, run } = await given();
      await run(2, PASSED);
      const browser = browserOf();
      const page = await browser.ask(path);
      expect([page.status, page.text.includes('Check shop')]).toEqual([410, false]);
      await browser.submit(path, {});
      await run(3, FAILED);
      expect((await browser.submit(path, {})).headers.location).toBe(path);
      expect((await openAlert()).acknowledgement).toBeNull();
    });

    it('is for its alert and channel alone, and not for pages of other sites', async () => {
      const { path, alertId, channelId } = await given();
      const { mine } = fixture();
      const other = await makeWebhook(fixture(), { url: 'https://hooks.test/' }, []);
      const browser = browserOf();
      const mac = path.slice(-32);
      const forged = [
        `/acknowledge/${alertId}.${other}.${mac}`,
        `/acknowledge/${crypto.randomUUID()}.${channelId}.${mac}`,
        `${path.slice(0, -1)}${path.endsWith('0') ? '1' : '0'}`,
        `/acknowledge/${alertId}`,
      ];
      for (const each of forged) {
        expect((await browser.ask(each)).status).toBe(404);
        expect((await browser.submit(each, {})).status).toBe(404);
      }
      const foreign = openBrowser(running().app.port, 'https://evil.test');
      expect((await foreign.submit(path, {})).status).toBe(403);
      expect((await openAlert()).acknowledgement).toBeNull();
      await mine.delete(`/v1/alert-channels/${channelId}`);
      expect((await browser.submit(path, {})).status).toBe(404);
    });
  });
});
