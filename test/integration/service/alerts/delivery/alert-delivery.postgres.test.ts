import { createHmac, randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { network } from '../../../../../src/runtime/config/parsers.ts';
import { readProxies } from '../../../../../src/runtime/net/proxy/proxy-variables.ts';
import { claimDeliveries } from '../../../../../src/service/alerts/delivery/claims.sql.ts';
import { NOTICE_VARIABLES } from '../../../../../src/service/alerts/senders/notice-variables.ts';
import { databases } from '../../../../support/database/databases.ts';
import { eventually } from '../../../../support/eventually.ts';
import { hookServer, statuses } from '../../../../support/servers/hook-server.ts';
import { httpProxy } from '../../../../support/servers/http-proxy.ts';
import { answering, rawServer, response } from '../../../../support/servers/http-servers.ts';
import { refusingPort } from '../../../../support/servers/tcp-servers.ts';
import {
  CHANNELS,
  deliveriesWhen,
  makeCheck,
  makeWebhook,
  noticeOf,
  put,
  startWorker,
  whenAll,
} from '../../../../support/service/alert-deliveries.ts';
import {
  HOSTILE,
  type TestService,
  useAccounts,
  useRunningService,
} from '../../../../support/service/service-fixture.ts';

const DAY_MS = 86_400_000;

/** Every notice is delivered in order and at least once, whatever the receiver does. */
describe.each(databases)('on %s', (kind) => {
  describe('the delivery of notices', () => {
    const running = useRunningService(kind);
    const service = useAccounts(running);
    // Removes deliveries that are left, so that the workers of the next test do not send them.
    afterEach(() => running().store.query('delete from alert_deliveries'));

    /** Claims due deliveries, as a process that ends before it sends them. */
    const abandon = ({ store, clock }: TestService, leaseMs: number) =>
      claimDeliveries(store, {
        owner: randomUUID(),
        atMs: clock.wallMs(),
        leaseMs,
        limit: 100,
        perChannel: 100,
        perAccount: 100,
        maxCarried: 100,
        busyChannels: {},
        busyAccounts: {},
        notForRepeats: { room: 0, perChannel: 0, perAccount: 0 },
      });

    it('sends a webhook every variable, signed', async () => {
      const server = await hookServer();
      await makeCheck(service(), 'home');
      const id = await makeWebhook(service(), {
        url: `${server.url}?a=1`,
        webhookSecret: 'secret',
        headers: [{ key: 'X-Team', value: 'ops', locked: true }],
        queryParameters: [{ key: 'b', value: 'x y&z' }],
      });
      startWorker(service());
      const notice = noticeOf(service());
      await put(service(), notice);
      const [sent] = await deliveriesWhen(service(), id, whenAll('sent'));
      const [request, ...others] = server.requests;
      expect(others).toEqual([]);
      expect(request).toMatchObject({ method: 'POST', path: '/hook?a=1&b=x+y%26z' });
      const body = request?.body ?? '';
      expect(JSON.parse(body)).toEqual({
        ALERT_TITLE: 'A check has failed',
        ALERT_TYPE: 'ALERT_FAILURE',
        ALERT_ID: notice.alertId,
        ALERT_TIME: new Date(notice.atMs).toISOString(),
        DELIVERY_ID: sent.id,
        REMINDER: 0,
        ACKNOWLEDGE_LINK: expect.stringMatching(/^https:\/\/vedette\.test\/acknowledge\/\S+$/),
        ACKNOWLEDGED_BY: null,
        ESCALATED_AFTER_MINUTES: null,
        CHECK_ID: 'home',
        CHECK_NAME: 'A check',
        CHECK_TYPE: 'URL',
        GROUP_NAME: null,
        TAGS: ['shop', 'eu'],
        RUN_LOCATION: 'eu-west-1',
        RESPONSE_TIME: 123.4,
        STATUS_CODE: null,
        ERROR_MESSAGE: 'The connection was refused',
        RESULT_LINK: 'https://vedette.test/checks/home/results/result-1',
        STARTED_AT: new Date(notice.startedAtMs).toISOString(),
        SSL_DAYS_REMAINING: null,
        FLAPPING: null,
        WAITING_CHECKS: [],
        NOTICE_COUNT: 1,
        NOTICE_LIST: [],
        ALERT_TEXT: expect.stringMatching(/^The connection was refused\nLocation: eu-west-1\n/),
        SINCE: null,
        LASTED: null,
        ERROR_CODE: null,
        ERROR_PHASE: null,
        WHAT_TO_TRY: null,
        LAST_PASSED: null,
      });
      expect(Object.keys(JSON.parse(body))).toEqual(NOTICE_VARIABLES.map(({ name }) => name));
      expect(request?.headers).toMatchObject({
        'content-type': 'application/json',
        'x-team': 'ops',
        'x-service-delivery': sent.id,
        'x-service-signature': createHmac('sha256', 'secret').update(body).digest('hex'),
        'x-service-timestamp': String(Math.floor(service().clock.wallMs() / 1000)),
      });
      const now = new Date(service().clock.wallMs()).toISOString();
      expect(sent).toEqual({
        id: expect.any(String),
        channel: { id, type: 'WEBHOOK', name: 'Hook' },
        checkId: 'home',
        checkName: notice.check.name,
        reason: 'It was subscribed to the check.',
        location: null,
        problem: null,
        alertId: notice.alertId,
        messageCount: 1,
        waitsFor: null,
        alertType: 'ALERT_FAILURE',
        escalatedAfterMinutes: null,
        reminder: 0,
        state: 'sent',
        attempts: 1,
        lastStatus: 200,
        lastError: null,
        lastAnswer: 'ok',
        created_at: now,
        lastAttemptAt: now,
        nextAttemptAt: null,
        finishedAt: now,
      });
    });

    it('sends a delivery again on request, under the same id and with all of its attempts', async () => {
      const { mine, theirs } = service();
      let status = 400;
      const server = await hookServer((_, answer) => answer.writeHead(status).end('no'));
      await makeCheck(service(), 'home');
      const id = await makeWebhook(service(), { url: server.url });
      const { clock } = service();
      startWorker(service());
      await put(service(), noticeOf(service()));
      const isWaitingAfter = (attempts: number) =>
        deliveriesWhen(
          service(),
          id,
          ([row]) => row?.attempts === attempts && row.state === 'waiting',
        );
      const [waiting] = await isWaitingAfter(1);
      const path = `${CHANNELS}/${id}/deliveries/${waiting.id}/resend`;
      const early = await mine.post(path, {});
      expect([early.status, early.json.message]).toEqual([
        409,
        expect.stringContaining('still pending'),
      ]);
      for (const attempts of [2, 3, 4, 5]) {
        await clock.advance(20_000);
        await isWaitingAfter(attempts);
      }
      await clock.advance(20_000);
      await deliveriesWhen(service(), id, whenAll('failed'));
      const failed = server.requests.length;
      status = 200;
      const again = await mine.post(path, {});
      expect([again.status, again.json]).toMatchObject([
        200,
        { id: waiting.id, state: 'waiting', attempts: 0, finishedAt: null },
      ]);
      const [sent] = await deliveriesWhen(service(), id, whenAll('sent'));
      expect(sent).toMatchObject({ id: waiting.id, attempts: 1, lastStatus: 200 });
      expect(server.requests.slice(failed).map(({ headers }) => headers)).toMatchObject([
        { 'x-service-delivery': waiting.id },
      ]);
      expect((await theirs.post(path, {})).status).toBe(404);
      expect((await mine.post(path.replace(waiting.id, randomUUID()), {})).status).toBe(404);
    });

    it('masks the secrets that a receiver echoes', async () => {
      const server = await hookServer(({ path, headers }, answer) => {
        answer.end(`${path} ${headers['x-team']} ${headers['x-open']}`);
      });
      await makeCheck(service(), 'home');
      const id = await makeWebhook(service(), {
        url: server.url,
        headers: [
          { key: 'X-Team', value: 'locked-value', locked: true },
          { key: 'X-Open', value: 'open-value' },
        ],
        queryParameters: [{ key: 'b', value: 'x y&zz', locked: true }],
      });
      startWorker(service());
      await put(service(), noticeOf(service()));
      const [row] = await deliveriesWhen(service(), id, whenAll('sent'));
      expect(server.requests[0]?.headers['x-team']).toBe('locked-value');
      expect(row.lastAnswer).toBe('/hook?b=******** ******** open-value');
    });

    it('is retried where the secrets of the channel cannot be read', async () => {
      const server = await hookServer();
      await makeCheck(service(), 'home');
      const id = await makeWebhook(service(), { url: server.url, webhookSecret: 'secret' });
      const { clock } = service();
      const worker = startWorker(service(), {}, null);
      await put(service(), noticeOf(service()));
      const [row] = await deliveriesWhen(service(), id, ([{ lastError }]) => lastError !== null);
      expect(row).toMatchObject({ state: 'waiting', attempts: 1 });
      expect(row.lastError).toContain('ENCRYPTION_KEY');
      expect(server.requests).toEqual([]);
      await worker.stop();
      startWorker(service());
      await clock.advance(20_000);
      await deliveriesWhen(service(), id, whenAll('sent'));
    });

    it('renders the template as valid JSON for any name of a check', async () => {
      const server = await hookServer();
      await makeCheck(service(), 'home');
      const id = await makeWebhook(service(), {
        url: server.url,
        method: 'PUT',
        template: '{"name": "{{CHECK_NAME}}", "tags": {{json TAGS}}, "up": false }',
      });
      startWorker(service());
      await put(service(), noticeOf(service(), { check: { name: HOSTILE } }));
      await deliveriesWhen(service(), id, whenAll('sent'));
      const [{ method, body } = { method: '', body: '' }] = server.requests;
      expect(method).toBe('PUT');
      expect(JSON.parse(body)).toEqual({ name: HOSTILE, tags: ['shop', 'eu'], up: false });
    });

    it('sends the default body where the template fails, and logs why', async () => {
      const server = await hookServer();
      await makeCheck(service(), 'home');
      // The template renders too much only with long values.
      const template = `"${'{{CHECK_NAME}}'.repeat(200)}"`;
      const id = await makeWebhook(service(), { url: server.url, template });
      startWorker(service());
      await put(service(), noticeOf(service(), { check: { name: 'n'.repeat(2000) } }));
      const [sent] = await deliveriesWhen(service(), id, whenAll('sent'));
      expect(sent.lastError).toContain('the default body was sent, since the template failed');
      expect(JSON.parse(server.requests[0]?.body ?? '')).toMatchObject({ CHECK_ID: 'home' });
    });

    it('of a GET has no body, and signs the empty body', async () => {
      const server = await hookServer();
      await makeCheck(service(), 'home');
      const config = { url: server.url, method: 'GET', webhookSecret: 's' };
      const id = await makeWebhook(service(), config);
      startWorker(service());
      await put(service(), noticeOf(service()));
      await deliveriesWhen(service(), id, whenAll('sent'));
      expect(server.requests[0]).toMatchObject({
        method: 'GET',
        body: '',
        headers: { 'x-service-signature': createHmac('sha256', 's').update('').digest('hex') },
      });
      expect(server.requests[0]?.headers).not.toHaveProperty('content-type');
    });

    it('retries five times, 20 s apart, then fails, and then sends the recovery', async () => {
      const { clock } = service();
      const server = await hookServer(({ body }, answer) => {
        answer.writeHead(body.includes('RECOVERY') ? 200 : 500).end('no');
      });
      await makeCheck(service(), 'home');
      const id = await makeWebhook(service(), { url: server.url });
      startWorker(service());
      await put(service(), noticeOf(service()));
      await put(service(), noticeOf(service(), { alertType: 'ALERT_RECOVERY' }));
      for (let attempt = 1; attempt <= 5; attempt += 1) {
        const [recovery, failure] = await deliveriesWhen(
          service(),
          id,
          ([, { state, attempts }]) => state === 'waiting' && attempts === attempt,
        );
        expect(failure).toMatchObject({
          lastStatus: 500,
          lastError: 'the answer was the status 500',
          lastAnswer: 'no',
          nextAttemptAt: new Date(clock.wallMs() + 20_000).toISOString(),
        });
        expect(recovery).toMatchObject({ state: 'waiting', attempts: 0 });
        await clock.advance(19_999);
        expect(server.requests).toHaveLength(attempt);
        await clock.advance(1);
      }
      const [recovery, failure] = await deliveriesWhen(
        service(),
        id,
        ([{ state }]) => state === 'sent',
      );
      expect(failure).toMatchObject({ state: 'failed', attempts: 6, nextAttemptAt: null });
      expect(recovery).toMatchObject({ attempts: 1 });
      const types = server.requests.map(({ body }) => JSON.parse(body).ALERT_TYPE);
      expect(types).toEqual([...Array(6).fill('ALERT_FAILURE'), 'ALERT_RECOVERY']);
      const ids = new Set(
        server.requests.slice(0, 6).map(({ headers }) => headers['x-service-delivery']),
      );
      expect([...ids]).toEqual([failure.id]);
    });

    it('of other checks and channels does not wait for a retry', async () => {
      const broken = await hookServer(({ body }, answer) => {
        answer.writeHead(body.includes('"home"') ? 503 : 200).end();
      });
      const sound = await hookServer();
      await makeCheck(service(), 'home');
      await makeCheck(service(), 'shop');
      const one = await makeWebhook(service(), { url: broken.url }, ['home', 'shop']);
      const other = await makeWebhook(service(), { url: sound.url });
      startWorker(service());
      await put(service(), noticeOf(service()), noticeOf(service(), { check: { id: 'shop' } }));
      await deliveriesWhen(service(), other, whenAll('sent'));
      const rows = await deliveriesWhen(service(), one, (all) =>
        all.every(
          ({ attempts, state }: Record<string, unknown>) => attempts === 1 && state !== 'sending',
        ),
      );
      expect(rows.map((row: Record<string, unknown>) => [row.checkId, row.state])).toEqual([
        ['shop', 'sent'],
        ['home', 'waiting'],
      ]);
    });

    it('waits for the delay of Retry-After, up to its limit', async () => {
      const { clock } = service();
      const waits = ['90', '999999', '1', 'tomorrow'];
      for (const [number, wait] of waits.entries()) {
        const server = await rawServer(
          answering(response('429 Too Many Requests', '', `Retry-After: ${wait}`)),
        );
        await makeCheck(service(), `c${number}`);
        const id = await makeWebhook(service(), { url: server.url() }, [`c${number}`]);
        const worker = startWorker(service());
        await put(service(), noticeOf(service(), { check: { id: `c${number}` } }));
        const [row] = await deliveriesWhen(service(), id, ([{ lastStatus }]) => lastStatus === 429);
        const seconds = (Date.parse(row.nextAttemptAt) - clock.wallMs()) / 1000;
        expect(`${wait}: ${seconds}`).toBe(`${wait}: ${[90, 300, 20, 20][number]}`);
        await worker.stop();
      }
    });

    it.each([
      ['refuses', 'the connection was refused (ECONNREFUSED)'],
      ['tears down', 'ended before an answer came'],
    ])('is retried for a receiver that %s', async (how, error) => {
      const server = await rawServer(async (peer) => {
        await peer.request();
        peer.close();
      });
      const url = how === 'refuses' ? 'http://127.0.0.1:1/' : server.url();
      await makeCheck(service(), 'home');
      const id = await makeWebhook(service(), { url });
      startWorker(service());
      await put(service(), noticeOf(service()));
      const [row] = await deliveriesWhen(service(), id, ([{ lastError }]) => lastError !== null);
      expect(row).toMatchObject({ state: 'waiting', attempts: 1, lastStatus: null });
      expect(row.lastError).toContain(error);
    });

    it('is repeated after 20 s where the proxy was away, and then goes through it', async () => {
      const { clock } = service();
      const server = await hookServer();
      const away = await refusingPort();
      onTestFinished(() => away.close());
      await makeCheck(service(), 'home');
      const url = `http://localhost:${server.port}/hook`;
      const id = await makeWebhook(service(), { url });
      const through = (proxyUrl: string) =>
        startWorker(service(), { proxies: readProxies({ HTTP_PROXY: proxyUrl }) });
      const first = through(`http://ann:s3cret@127.0.0.1:${away.port}`);
      await put(service(), noticeOf(service()));
      const [row] = await deliveriesWhen(service(), id, ([{ lastError }]) => lastError !== null);
      expect(row).toMatchObject({
        state: 'waiting',
        attempts: 1,
        lastStatus: null,
        lastError:
          'no connection to the proxy of HTTP_PROXY: the connection was refused (ECONNREFUSED)',
        nextAttemptAt: new Date(clock.wallMs() + 20_000).toISOString(),
      });
      await first.stop();
      expect(JSON.stringify(first.logs.records())).not.toMatch(/s3cret|YW5u/);

      const proxy = await httpProxy();
      through(proxy.url());
      await clock.advance(20_000);
      const [sent] = await deliveriesWhen(service(), id, whenAll('sent'));
      expect(sent).toMatchObject({ attempts: 2, lastError: null });
      expect(server.requests).toHaveLength(1);
      expect(proxy.requests).toMatchObject([{ method: 'CONNECT' }]);
    });

    it('is retried after 20 s without an answer', async () => {
      const { clock } = service();
      const server = await rawServer(async (peer) => {
        await peer.request();
        await peer.closed;
      });
      await makeCheck(service(), 'home');
      const id = await makeWebhook(service(), { url: server.url() });
      startWorker(service());
      await put(service(), noticeOf(service()));
      await eventually(() => server.requests.length === 1);
      await clock.advance(20_000);
      const [row] = await deliveriesWhen(service(), id, ([{ state }]) => state === 'waiting');
      expect(row).toMatchObject({ lastStatus: null, lastError: 'no answer came in time' });
      await server.idle();
    });

    it('does not follow a redirect', async () => {
      const elsewhere = await hookServer();
      const server = await hookServer((_, answer) => {
        answer.writeHead(307, { location: elsewhere.url }).end();
      });
      await makeCheck(service(), 'home');
      const id = await makeWebhook(service(), { url: server.url });
      startWorker(service());
      await put(service(), noticeOf(service()));
      const [row] = await deliveriesWhen(service(), id, whenAll('failed'));
      expect(row).toMatchObject({ lastStatus: 307, attempts: 1 });
      expect(row.lastError).toContain('which is not followed');
      expect(elsewhere.requests).toEqual([]);
    });

    it('reads only the start of an endless answer, and logs 200 characters of it', async () => {
      const server = await hookServer((_, answer) => {
        const more = (): void => {
          while (!answer.destroyed && answer.write('x'.repeat(1000)));
        };
        answer.on('drain', more);
        more();
      });
      await makeCheck(service(), 'home');
      const id = await makeWebhook(service(), { url: server.url });
      startWorker(service());
      await put(service(), noticeOf(service()));
      const [row] = await deliveriesWhen(service(), id, whenAll('sent'));
      expect(row.lastAnswer).toBe('x'.repeat(200));
      await eventually(() => server.open === 0);
    });

    it('shows answers only to admins, and cuts no character in half', async () => {
      const server = await hookServer((_, answer) => {
        answer.end(`a${'😀'.repeat(300)}`);
      });
      await makeCheck(service(), 'home');
      const id = await makeWebhook(service(), { url: server.url });
      startWorker(service());
      await put(service(), noticeOf(service()));
      const [row] = await deliveriesWhen(service(), id, whenAll('sent'));
      expect(row.lastAnswer).toBe(`a${'😀'.repeat(199)}`);
      for (const role of ['read', 'run', 'write'] as const) {
        const client = await service().clientWith(role);
        const { json } = await client.get(`${CHANNELS}/${id}/deliveries`);
        expect(json).toEqual([{ ...row, lastAnswer: null }]);
      }
      // As the log kept it once.
      const long = 'y'.repeat(4096);
      await service().store.query('update alert_deliveries set last_answer = $1', [long]);
      const [old] = await deliveriesWhen(service(), id, whenAll('sent'));
      expect(old.lastAnswer).toBe('y'.repeat(200));
    });

    it('does not reach denied networks by address or by name', async () => {
      const server = await hookServer();
      const deny = ['127.0.0.0/8', '::1'].flatMap((text) => {
        const parsed = network(text);
        return parsed.ok ? [parsed.value] : [];
      });
      startWorker(service(), { deny });
      const hosts = [
        ...['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]', '[::127.0.0.1]'],
        ...['[64:ff9b::127.0.0.1]', '[2002:7f00:1::]'],
      ];
      for (const [number, host] of hosts.entries()) {
        await makeCheck(service(), `c${number}`);
        const url = `http://${host}:${server.port}/`;
        const id = await makeWebhook(service(), { url }, [`c${number}`]);
        await put(service(), noticeOf(service(), { check: { id: `c${number}` } }));
        const [row] = await deliveriesWhen(service(), id, whenAll('failed'));
        expect(row.lastError).toContain('DELIVERY_DENY');
      }
      expect(server.requests).toEqual([]);
    });

    it('is sent again after the lease where a process did not finish it', async () => {
      const server = await hookServer();
      await makeCheck(service(), 'home');
      const id = await makeWebhook(service(), { url: server.url });
      await put(service(), noticeOf(service()));
      const [taken] = await abandon(service(), 0);
      startWorker(service());
      const [row] = await deliveriesWhen(service(), id, whenAll('sent'));
      expect(row).toMatchObject({ id: taken?.id, attempts: 2 });
      expect(server.requests.map(({ headers }) => headers['x-service-delivery'])).toEqual([row.id]);
    });

    it('is not claimed during the lease of another process, and later notices of the check wait', async () => {
      const server = await hookServer();
      await makeCheck(service(), 'home');
      await makeCheck(service(), 'shop');
      const id = await makeWebhook(service(), { url: server.url }, ['home', 'shop']);
      await put(service(), noticeOf(service()));
      await abandon(service(), 60_000);
      await put(
        service(),
        noticeOf(service(), { alertType: 'ALERT_RECOVERY' }),
        noticeOf(service(), { check: { id: 'shop' } }),
      );
      startWorker(service());
      const rows = await deliveriesWhen(service(), id, ([{ state }]) => state === 'sent');
      expect(rows.map((row: Record<string, unknown>) => [row.checkId, row.state])).toEqual([
        ['shop', 'sent'],
        ['home', 'waiting'],
        ['home', 'sending'],
      ]);
      // The process that claimed it ends now.
      await service().store.query('update alert_deliveries set lease_until = now()');
      // The worker may not wait yet, so time advances until it claims again.
      while (server.requests.length < 3) await service().clock.advance(500);
      await deliveriesWhen(service(), id, whenAll('sent'));
      expect(server.requests.map(({ body }) => JSON.parse(body).ALERT_TYPE)).toEqual([
        'ALERT_FAILURE',
        'ALERT_FAILURE',
        'ALERT_RECOVERY',
      ]);
    });

    it('sends each notice once with two processes', async () => {
      const server = await hookServer();
      const checkIds = Array.from({ length: 10 }, (_, number) => `c${number}`);
      for (const id of checkIds) await makeCheck(service(), id);
      const channels: number[] = [];
      for (let number = 0; number < 4; number += 1) {
        channels.push(await makeWebhook(service(), { url: server.url }, checkIds));
      }
      startWorker(service());
      startWorker(service());
      const types = ['ALERT_FAILURE', 'ALERT_RECOVERY'] as const;
      for (const alertType of types) {
        const notices = checkIds.map((id) => noticeOf(service(), { alertType, check: { id } }));
        await put(service(), ...notices);
      }
      for (const id of channels) {
        const rows = await deliveriesWhen(service(), id, whenAll('sent'));
        expect(rows).toHaveLength(20);
        for (const row of rows) expect(row.attempts).toBe(1);
      }
      expect(server.requests).toHaveLength(80);
      const seen = server.requests.map(({ headers }) => headers['x-service-delivery']);
      expect(new Set(seen).size).toBe(80);
    });

    it('to other receivers does not wait for a slow one', async () => {
      const slow = await rawServer(async (peer) => {
        await peer.request();
        await peer.closed;
      });
      const quick = await hookServer();
      const checkIds = Array.from({ length: 12 }, (_, number) => `c${number}`);
      for (const id of checkIds) await makeCheck(service(), id);
      const slowId = await makeWebhook(service(), { url: slow.url() }, checkIds);
      const quickId = await makeWebhook(service(), { url: quick.url }, checkIds);
      const worker = startWorker(service());
      await put(service(), ...checkIds.map((id) => noticeOf(service(), { check: { id } })));
      const rows = await deliveriesWhen(service(), quickId, whenAll('sent'));
      expect(rows).toHaveLength(12);
      await eventually(() => slow.requests.length === 4);
      const states = await deliveriesWhen(service(), slowId, () => true);
      expect(states.filter((row: { state: string }) => row.state === 'sending')).toHaveLength(4);
      // A stop waits for these for a while, then releases them for the next process.
      const stopped = worker.stop();
      await eventually(() => service().clock.nextTimerInMs === 3_000);
      await service().clock.advance(3_000);
      await stopped;
      const left = await deliveriesWhen(service(), slowId, () => true);
      expect(left.map((row: { state: string }) => row.state)).toEqual(Array(12).fill('waiting'));
      expect(left.filter((row: { attempts: number }) => row.attempts === 1)).toHaveLength(4);
      await slow.idle();
      await service().mine.delete(`${CHANNELS}/${slowId}`);
    });

    it('continues after the database was unavailable', async () => {
      const { store } = service();
      const server = await hookServer();
      await makeCheck(service(), 'home');
      const id = await makeWebhook(service(), { url: server.url });
      await store.query('alter table alert_deliveries rename to gone');
      const worker = startWorker(service());
      await eventually(() => worker.logs.records().length > 0);
      await store.query('alter table gone rename to alert_deliveries');
      await put(service(), noticeOf(service()));
      await deliveriesWhen(service(), id, whenAll('sent'));
      expect(worker.logs.records()).toHaveLength(1);
      expect(worker.logs.records()[0]?.msg).toContain('could not send notices: ');
    });

    it('is stored once for each subscribed channel that wants the notice', async () => {
      const { mine } = service();
      await makeCheck(service(), 'home');
      const hooks = { type: 'WEBHOOK', config: { name: 'h', url: 'http://127.0.0.1:1/' } };
      const add = async (fields: object): Promise<number> => {
        const subscriptions = [{ checkId: 'home' }];
        return (await mine.post(CHANNELS, { ...hooks, subscriptions, ...fields })).json.id;
      };
      const standard = await add({});
      const silent = await add({ subscriptions: [{ checkId: 'home', activated: false }] });
      const elsewhere = await add({ subscriptions: [] });
      const degraded = await add({ sendFailure: false, sendRecovery: false, sendDegraded: true });
      const notices = (['ALERT_FAILURE', 'ALERT_DEGRADED', 'ALERT_RECOVERY'] as const).map(
        (alertType) => noticeOf(service(), { alertType }),
      );
      await put(service(), ...notices);
      await put(service(), ...notices);
      const put1 = async (id: number): Promise<string[]> =>
        (await deliveriesWhen(service(), id, () => true)).map(
          ({ alertType }: { alertType: string }) => alertType,
        );
      expect(await put1(standard)).toEqual(['ALERT_RECOVERY', 'ALERT_FAILURE']);
      expect(await put1(silent)).toEqual([]);
      expect(await put1(elsewhere)).toEqual([]);
      expect(await put1(degraded)).toEqual(['ALERT_DEGRADED']);
    });

    it('skips reminders while an earlier notice is pending', async () => {
      const server = await hookServer();
      await makeCheck(service(), 'home');
      await makeCheck(service(), 'shop');
      const id = await makeWebhook(service(), { url: server.url }, ['home', 'shop']);
      const notice = noticeOf(service());
      const remind = (reminder: number, of = notice) => put(service(), { ...of, reminder });
      await put(service(), notice);
      for (const reminder of [1, 2, 3]) await remind(reminder);
      // Reminders of another check and notices that are no reminders are stored.
      await remind(1, noticeOf(service(), { check: { id: 'shop' } }));
      await put(service(), noticeOf(service(), { alertType: 'ALERT_FAILURE_DEGRADED' }));
      startWorker(service());
      await deliveriesWhen(service(), id, whenAll('sent'));
      await remind(4);
      const isDone = (rows: readonly { state: string }[]) =>
        rows.length === 4 && whenAll('sent')(rows);
      const rows = await deliveriesWhen(service(), id, isDone);
      expect(
        rows.map((row: Record<string, unknown>) => `${row.checkId} ${row.reminder}`).toReversed(),
      ).toEqual(['home 0', 'shop 1', 'home 0', 'home 4']);
    });

    it('notifies each channel once of each certificate, by its own threshold', async () => {
      const { clock } = service();
      await makeCheck(service(), 'home');
      const url = 'http://127.0.0.1:1/';
      const early = await makeWebhook(service(), { url });
      const late = await makeWebhook(service(), { url });
      await service().mine.patch(`${CHANNELS}/${late}`, { sslExpiryThreshold: 7 });
      const deliveriesTo = async (id: number): Promise<number> =>
        (await deliveriesWhen(service(), id, () => true)).length;
      const see = async (sslDaysRemaining: number): Promise<readonly number[]> => {
        const alertType = 'ALERT_SSL';
        await put(service(), noticeOf(service(), { alertType, sslDaysRemaining }));
        clock.stepWall(DAY_MS);
        return [await deliveriesTo(early), await deliveriesTo(late)];
      };
      expect(await see(9)).toEqual([1, 0]);
      expect(await see(8)).toEqual([1, 0]);
      expect(await see(7)).toEqual([1, 1]);
      expect(await see(6)).toEqual([1, 1]);
      // It was renewed, and is near its end again.
      clock.stepWall(60 * DAY_MS);
      expect(await see(9)).toEqual([2, 1]);
      clock.stepWall(DAY_MS);
      expect(await see(7)).toEqual([2, 2]);
      clock.stepWall(-67 * DAY_MS);
    });

    it('is deleted past the retention', async () => {
      const { clock, features } = service();
      const server = await hookServer(statuses(200));
      await makeCheck(service(), 'home');
      const id = await makeWebhook(service(), { url: server.url });
      const worker = startWorker(service());
      await put(service(), noticeOf(service()));
      await deliveriesWhen(service(), id, whenAll('sent'));
      await worker.stop();
      await put(service(), noticeOf(service()));
      const stop = new AbortController();
      clock.stepWall(32 * DAY_MS);
      const keeping = features.alertDeliveries.maintain(stop.signal);
      const left = await deliveriesWhen(service(), id, (rows) => rows.length === 1);
      expect(left[0].state).toBe('waiting');
      stop.abort();
      await keeping;
      clock.stepWall(-32 * DAY_MS);
    });

    it('is kept past the retention while its check fails: the recovery is sent to who got it', async () => {
      const { clock, features, mine, store } = service();
      const server = await hookServer(statuses(200));
      await makeCheck(service(), 'home');
      await makeCheck(service(), 'shop');
      const id = await makeWebhook(service(), { url: server.url }, ['home', 'shop']);
      await store.query(
        `insert into check_alert_states (account_id, check_id, condition, body)
         values ($1, 'home', 'failing', '{}')`,
        [mine.accountId],
      );
      startWorker(service());
      const failure = noticeOf(service());
      // The check was degraded and failing in alternation: only the last state counts.
      await put(service(), noticeOf(service()), failure);
      await put(service(), noticeOf(service(), { check: { id: 'shop' } }));
      await deliveriesWhen(service(), id, whenAll('sent'));
      await put(service(), { ...failure, reminder: 1 });
      await deliveriesWhen(service(), id, (rows) => rows.length === 4 && whenAll('sent')(rows));
      const stop = new AbortController();
      clock.stepWall(32 * DAY_MS);
      const keeping = features.alertDeliveries.maintain(stop.signal);
      const left = await deliveriesWhen(service(), id, (rows) => rows.length === 1);
      expect(left[0]).toMatchObject({ checkId: 'home', alertId: failure.alertId, reminder: 0 });
      stop.abort();
      await keeping;
      clock.stepWall(-32 * DAY_MS);
    });
  });
});
