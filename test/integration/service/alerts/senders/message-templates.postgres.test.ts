import { describe, expect, it } from 'vitest';
import { ALERT_CHANNEL_TYPES } from '../../../../../src/model/alerting/alert-channel.ts';
import { databases } from '../../../../support/database/databases.ts';
import { hookServer } from '../../../../support/servers/hook-server.ts';
import {
  CHANNELS,
  deliveriesWhen,
  makeChannel,
  makeCheck,
  makeWebhook,
  noticeOf,
  put,
  startWorker,
  whenAll,
} from '../../../../support/service/alert-deliveries.ts';
import {
  problemsIn,
  useAccounts,
  useRunningService,
} from '../../../../support/service/service-fixture.ts';

const PREVIEW = `${CHANNELS}/preview`;

/** Templates of messages: their previews, and the messages that receivers get. */
describe.each(databases)('on %s', (kind) => {
  describe('the templates of a channel', () => {
    const service = useAccounts(useRunningService(kind));

    it('make its messages, the tests among them, and are stored with it', async () => {
      const { mine } = service();
      const server = await hookServer();
      await makeCheck(service(), 'home');
      const templates = {
        titleTemplate: '{{CHECK_NAME}} is down',
        textTemplate: '{{ERROR_MESSAGE}}, runbook: https://wiki.test/{{CHECK_ID}}',
      };
      const id = await makeChannel(service(), {
        type: 'SLACK',
        config: { url: server.url },
        subscriptions: [{ checkId: 'home' }],
        ...templates,
      });
      expect((await mine.get(`${CHANNELS}/${id}`)).json).toMatchObject(templates);
      startWorker(service());
      await put(service(), noticeOf(service(), { error: '<!channel>' }));
      await deliveriesWhen(service(), id, whenAll('sent'));
      await mine.post(`${CHANNELS}/${id}/test`);
      const [sent, test] = server.requests.map(({ body }) => JSON.parse(body));
      expect(sent.text).toBe('A check is down');
      expect(sent.blocks[1].text.text).toBe('&lt;!channel&gt;, runbook: https://wiki.test/home');
      expect(test.text).toBe('Test (no real failure) is down');
      const cleared = await mine.patch(`${CHANNELS}/${id}`, { titleTemplate: null });
      expect(cleared.json).toMatchObject({ ...templates, titleTemplate: null });
    });

    it('of a webhook make its title and its text', async () => {
      const { mine } = service();
      const server = await hookServer();
      await makeCheck(service(), 'home');
      const id = await makeWebhook(service(), { url: server.url });
      await mine.patch(`${CHANNELS}/${id}`, {
        titleTemplate: 'Down: {{CHECK_NAME}}',
        textTemplate: 'Why: {{ERROR_MESSAGE}}',
      });
      startWorker(service());
      await put(service(), noticeOf(service()));
      await deliveriesWhen(service(), id, whenAll('sent'));
      expect(JSON.parse(server.requests[0]?.body ?? '')).toMatchObject({
        ALERT_TITLE: 'Down: A check',
        ALERT_TEXT: 'Why: The connection was refused',
      });
    });

    it('that fail are replaced by the default, with the reason in the log', async () => {
      const server = await hookServer();
      await makeCheck(service(), 'home');
      const id = await makeChannel(service(), {
        type: 'SLACK',
        config: { url: server.url },
        subscriptions: [{ checkId: 'home' }],
        textTemplate: '{{CHECK_NAME}}'.repeat(200),
      });
      startWorker(service());
      await put(service(), noticeOf(service(), { check: { name: 'x'.repeat(2000) } }));
      const [row] = await deliveriesWhen(service(), id, whenAll('sent'));
      expect(row.lastError).toContain('the default was sent in place of textTemplate');
      expect(server.requests[0]?.body).toContain('*Location:* eu-west-1');
    });

    it('are previewed for each type of channel, in the time zone of the account', async () => {
      const { mine } = service();
      await mine.patch(`/v1/accounts/${mine.accountId}`, { timeZone: 'Asia/Kathmandu' });
      for (const type of ALERT_CHANNEL_TYPES) {
        const { status, json } = await mine.post(PREVIEW, {
          type,
          titleTemplate: '{{CHECK_NAME}}: {{ALERT_TYPE}}',
          textTemplate: 'Since {{SINCE}} <script>',
          template: '{"x": "{{ALERT_TITLE}} {{ALERT_TEXT}}"}',
        });
        expect([type, status]).toEqual([type, 200]);
        expect(json.previews).toMatchObject([
          { notice: 'FAILURE', title: 'Test (no real failure): ALERT_FAILURE' },
          { notice: 'RECOVERY', title: 'Test (no real failure): ALERT_RECOVERY' },
        ]);
        for (const { text, body } of json.previews) {
          expect(text).toMatch(/^Since .+ \(Asia\/Kathmandu\) <script>$/);
          expect(decodeURIComponent(body.replaceAll('+', ' '))).toContain('Kathmandu');
        }
      }
      expect((await mine.get(CHANNELS)).json).toEqual([]);
    });

    it('are refused in a preview as in a channel, and previewed only for writers', async () => {
      const { mine, clientWith } = service();
      const refused = await mine.post(PREVIEW, {
        type: 'WEBHOOK',
        titleTemplate: '{{#each TAGS}}',
        textTemplate: '{{> a}}',
      });
      expect(refused.status).toBe(400);
      expect(problemsIn(refused).join('\n')).toMatch(/body\.titleTemplate.*\nbody\.textTemplate/);
      const body = { type: 'WEBHOOK', template: '{{' };
      expect(problemsIn(await mine.post(PREVIEW, body)).join()).toContain('body.template');
      const reader = await clientWith('read');
      expect((await reader.post(PREVIEW, { type: 'EMAIL' })).status).toBe(403);
    });

    it('are previewed sixty times a minute by each key', async () => {
      const { mine, clientWith } = service();
      const previews = Array.from({ length: 61 }, () => mine.post(PREVIEW, { type: 'SMS' }));
      const statuses = (await Promise.all(previews)).map(({ status }) => status);
      expect(statuses.toSorted()).toEqual([...new Array(60).fill(200), 429]);
      const writer = await clientWith('write');
      expect((await writer.post(PREVIEW, { type: 'SMS' })).status).toBe(200);
    });
  });
});
