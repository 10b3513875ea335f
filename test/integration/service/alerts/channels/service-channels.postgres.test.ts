import { describe, expect, it } from 'vitest';
import { databases } from '../../../../support/database/databases.ts';
import { hookServer } from '../../../../support/servers/hook-server.ts';
import {
  CHANNELS,
  deliveriesWhen,
  makeCheck,
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

const SECRET = 'never-2b-seen';
const MASK = '********';
const TELEGRAM = { type: 'TELEGRAM', config: { botToken: SECRET, chatId: '-1' } };
const NTFY = { type: 'NTFY', config: { topic: 'alerts', token: SECRET } };

/** Channels to chats, push and incident services, through the API. */
describe.each(databases)('on %s', (kind) => {
  describe('channels to services', () => {
    const running = useRunningService(kind);
    const service = useAccounts(running);

    it('have defaults, and flags in place of their secrets', async () => {
      const { mine, store } = service();
      const made = await mine.post(CHANNELS, TELEGRAM);
      expect(made.status, made.text).toBe(201);
      const config = {
        name: 'Telegram',
        chatId: '-1',
        threadId: null,
        url: 'https://api.telegram.org',
        hasBotToken: true,
      };
      expect(made.json).toMatchObject({ type: 'TELEGRAM' });
      expect(made.json.config).toEqual(config);
      expect((await mine.get(`${CHANNELS}/${made.json.id}`)).json.config).toEqual(config);
      const rows = JSON.stringify(
        await store.query('select to_jsonb(c) as row from alert_channels c'),
      );
      expect(rows).not.toContain(SECRET);
    });

    it('keep a secret that an update omits, only for the same server', async () => {
      const { mine } = service();
      const { json: made } = await mine.post(CHANNELS, NTFY);
      const path = `${CHANNELS}/${made.id}`;
      const compare = async (token: string | null, url = 'https://ntfy.sh') => {
        const config = { name: 'Phone', topic: 'other', token, url };
        return (await mine.post(`${path}/compare`, { config })).json.same;
      };
      const moved = await mine.patch(path, { config: { topic: 'x', url: 'https://evil.test' } });
      expect(moved.status).toBe(400);
      expect(problemsIn(moved).join()).toContain('body.config.token');
      const changed = await mine.patch(path, {
        config: { ...made.config, name: 'Phone', topic: 'other' },
        sendDegraded: true,
      });
      expect(changed.status, changed.text).toBe(200);
      expect(changed.json).toMatchObject({ sendDegraded: true, config: { hasToken: true } });
      expect(await compare(SECRET)).toBe(true);
      expect(await compare('another')).toBe(false);
      const plain = await mine.patch(path, { sendDegraded: false });
      expect(plain.json).toMatchObject({ sendDegraded: false, config: changed.json.config });
      const removed = await mine.patch(path, {
        config: { name: 'Phone', topic: 'other', token: null },
      });
      expect(removed.json.config.hasToken).toBe(false);
      expect(await compare(null)).toBe(true);
    });

    it('show neither the path of their URL nor their topic to keys that may not write', async () => {
      const { mine, clientWith } = service();
      const reader = await clientWith('read');
      const hook = { type: 'DISCORD', config: { url: `https://discord.test/${SECRET}` } };
      const ids = [];
      for (const fields of [hook, NTFY]) ids.push((await mine.post(CHANNELS, fields)).json.id);
      const [discord, ntfy] = await Promise.all(ids.map((id) => reader.get(`${CHANNELS}/${id}`)));
      expect(discord?.json.config.url).toBe(`https://discord.test/${MASK}`);
      expect(ntfy?.json.config.topic).toBe(MASK);
      const copied = await mine.post(CHANNELS, {
        type: 'DISCORD',
        config: discord?.json.config,
      });
      expect(copied.status).toBe(400);
    });

    it.each([
      [{ type: 'TELEGRAM', config: { chatId: '1' } }, 'config.botToken'],
      [{ ...TELEGRAM, config: { ...TELEGRAM.config, chatId: 'a b' } }, 'config.chatId'],
      [{ ...TELEGRAM, config: { ...TELEGRAM.config, botToken: 'a b' } }, 'config.botToken'],
      [{ ...NTFY, config: { ...NTFY.config, topic: 'a/b' } }, 'config.topic'],
      [{ ...NTFY, config: { ...NTFY.config, token: 'a\r\nb: c' } }, 'config.token'],
      [{ type: 'TEAMS', config: { url: 'ftp://a.test/' } }, 'config.url'],
      [{ type: 'TEAMS', config: { url: 'https://a.test/', hasToken: true } }, 'hasToken'],
    ])('are refused: %j', async (fields, path) => {
      const refused = await service().mine.post(CHANNELS, fields);
      expect(refused.status).toBe(400);
      expect(problemsIn(refused).join('\n')).toContain(path);
    });

    it('are listed with the webhooks of their checks', async () => {
      const { mine } = service();
      await makeCheck(service(), 'home');
      const url = 'https://matrix.test';
      const config = { name: 'Room', url, roomId: '!a:matrix.test', accessToken: SECRET };
      await mine.post(CHANNELS, { type: 'MATRIX', config, subscriptions: [{ checkId: 'home' }] });
      const { json } = await mine.get('/v1/checks/home');
      expect(json.alertChannels.webhook).toEqual([
        { url, name: 'Room', method: 'PUT', headers: [], queryParameters: [] },
      ]);
    });

    it('open and close an incident by one key, and keep the answers', async () => {
      const server = await hookServer((_, response) => {
        response.writeHead(202).end('{"status":"success"}');
      });
      const { mine } = service();
      await makeCheck(service(), 'home');
      const { json: made } = await mine.post(CHANNELS, {
        type: 'PAGERDUTY',
        config: { routingKey: SECRET, url: new URL(server.url).origin },
        subscriptions: [{ checkId: 'home' }],
      });
      startWorker(service());
      await put(service(), noticeOf(service()));
      await deliveriesWhen(service(), made.id, whenAll('sent'));
      await put(service(), noticeOf(service(), { alertType: 'ALERT_RECOVERY', error: null }));
      const rows = await deliveriesWhen(
        service(),
        made.id,
        (found) => found.length === 2 && whenAll('sent')(found),
      );
      expect(rows[0]).toMatchObject({ lastStatus: 202, lastAnswer: '{"status":"success"}' });
      const events = server.requests.map(({ body }) => JSON.parse(body));
      expect(events).toMatchObject([
        { event_action: 'trigger', routing_key: SECRET },
        { event_action: 'resolve', dedup_key: events[0].dedup_key },
      ]);
    });

    it('are tested with a problem and its end where incidents would stay open', async () => {
      const server = await hookServer();
      const { mine } = service();
      const url = server.url;
      const { json: made } = await mine.post(CHANNELS, {
        type: 'INCIDENT_IO',
        config: { url, token: SECRET },
      });
      const tested = await mine.post(`${CHANNELS}/${made.id}/test`);
      expect(tested.json).toEqual({ delivered: true, status: 200, error: null });
      const [begin, end] = server.requests.map(({ body }) => JSON.parse(body));
      expect([begin.status, end.status]).toEqual(['firing', 'resolved']);
      expect(end.deduplication_key).toBe(begin.deduplication_key);
    });
  });
});
