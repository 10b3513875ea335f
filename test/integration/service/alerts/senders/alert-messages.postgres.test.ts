import { afterEach, describe, expect, it } from 'vitest';
import { readOutgoingConfig } from '../../../../../src/service/outgoing/outgoing-config.ts';
import { databases } from '../../../../support/database/databases.ts';
import { createSelfSigned } from '../../../../support/servers/certificates.ts';
import { hookServer, statuses } from '../../../../support/servers/hook-server.ts';
import { mailServer } from '../../../../support/servers/mail-server.ts';
import {
  deliveriesWhen,
  makeChannel,
  makeCheck,
  noticeOf,
  put,
  startWorker,
  whenAll,
} from '../../../../support/service/alert-deliveries.ts';
import {
  HOSTILE,
  useAccounts,
  useRunningService,
} from '../../../../support/service/service-fixture.ts';

const FROM = 'Vedette <alerts@vedette.test>';
const SUBSCRIBED = { subscriptions: [{ checkId: 'home' }] };

/** Notices by email, Slack and SMS, over real servers. */
describe.each(databases)('on %s', (kind) => {
  describe('notices to people', () => {
    const running = useRunningService(kind);
    const service = useAccounts(running);
    afterEach(() => running().store.query('delete from alert_deliveries'));

    const emailChannel = async (address = 'ops@example.com'): Promise<number> => {
      await makeCheck(service(), 'home');
      return makeChannel(service(), { type: 'EMAIL', config: { address }, ...SUBSCRIBED });
    };
    const smtpTo = (port: number, user = ''): ReturnType<typeof readOutgoingConfig> =>
      readOutgoingConfig({ SMTP_URL: `smtp://${user}127.0.0.1:${port}`, SMTP_FROM: FROM });

    it('go by email, as text and as HTML', async () => {
      const server = await mailServer();
      const id = await emailChannel();
      startWorker(service(), smtpTo(server.port));
      await put(service(), noticeOf(service(), { error: 'Expected <200>, got 503' }));
      const [row] = await deliveriesWhen(service(), id, whenAll('sent'));
      expect(row).toMatchObject({ attempts: 1, lastStatus: 250, lastError: null });
      const [mail, ...others] = server.mails;
      expect(others).toEqual([]);
      expect(mail).toMatchObject({ from: 'alerts@vedette.test', to: ['ops@example.com'] });
      const source = mail?.source ?? '';
      expect(headersOf(source)).toMatchObject({
        from: FROM,
        to: 'ops@example.com',
        subject: 'A check has failed: Expected <200>, got 503',
        'message-id': `<${row.id}@vedette.test>`,
        'x-service-delivery': row.id,
        'auto-submitted': 'auto-generated',
      });
      expect(source).toContain('Error: Expected <200>, got 503');
      expect(htmlOf(source)).toContain('Expected &lt;200&gt;, got 503');
    });

    it('cannot add headers by the name of a check', async () => {
      const server = await mailServer();
      const id = await emailChannel();
      startWorker(service(), smtpTo(server.port));
      const name =
        'Shop\r\nBcc: everybody@example.com\r\n\r\n.\r\nMAIL FROM:<x@y.z>\n\u2028<script>';
      await put(service(), noticeOf(service(), { check: { name } }));
      await put(service(), noticeOf(service(), { check: { name: HOSTILE } }));
      await deliveriesWhen(service(), id, whenAll('sent'));
      expect(server.mails).toHaveLength(2);
      for (const { to, source } of server.mails) {
        expect(to).toEqual(['ops@example.com']);
        expect(headersOf(source)).not.toHaveProperty('bcc');
        expect(htmlOf(source)).not.toContain('<script>');
      }
      const [{ source } = { source: '' }] = server.mails;
      expect(headersOf(source).subject).toContain('Shop Bcc: everybody@example.com');
    });

    it('authenticate, and are retried where the mail server refuses', async () => {
      const server = await mailServer({
        onAuth: ({ username, password }, _session, callback) => {
          if (username === 'us@er' && password === 'p/w') callback(null, { user: username });
          else callback(new Error('no'));
        },
        onRcptTo: ({ address }, _session, callback) => {
          const known = address !== 'nobody@example.com';
          callback(known ? null : Object.assign(new Error('no such user'), { responseCode: 550 }));
        },
      });
      const id = await emailChannel();
      const other = await emailChannel('nobody@example.com');
      const worker = startWorker(service(), smtpTo(server.port, 'us%40er:p%2Fw@'));
      await put(service(), noticeOf(service()));
      await deliveriesWhen(service(), id, whenAll('sent'));
      expect(server.mails[0]).toMatchObject({ user: 'us@er' });
      const [row] = await deliveriesWhen(
        service(),
        other,
        ([{ attempts, state }]) => attempts === 1 && state !== 'sending',
      );
      expect(row).toMatchObject({ state: 'waiting', lastStatus: 550 });
      expect(row.lastAnswer).toContain('no such user');
      await worker.stop();
      startWorker(service(), smtpTo(server.port, 'us%40er:wrong@'));
      await put(service(), noticeOf(service()));
      const [refused] = await deliveriesWhen(
        service(),
        id,
        ([{ lastError }]) => lastError !== null,
      );
      expect(refused.lastError).toContain('rejects the user or password of SMTP_URL');
      expect(refused.lastError).not.toContain('wrong');
    });

    it('are not sent to a mail server with an invalid certificate', async () => {
      const identity = await createSelfSigned();
      const server = await mailServer({ ...identity, secure: true });
      const id = await emailChannel();
      const url = `smtps://127.0.0.1:${server.port}`;
      startWorker(service(), readOutgoingConfig({ SMTP_URL: url, SMTP_FROM: FROM }));
      await put(service(), noticeOf(service()));
      const [row] = await deliveriesWhen(service(), id, ([{ lastError }]) => lastError !== null);
      expect(row).toMatchObject({ state: 'waiting', lastStatus: null });
      expect(server.mails).toEqual([]);
    });

    it('go to Slack with all markup escaped', async () => {
      const server = await hookServer();
      await makeCheck(service(), 'home');
      const id = await makeChannel(service(), {
        type: 'SLACK',
        config: { url: server.url },
        ...SUBSCRIBED,
      });
      startWorker(service());
      const error = `<!channel> & ${'<'.repeat(3000)}`;
      await put(service(), noticeOf(service(), { error, check: { name: '<@U1> shop' } }));
      await deliveriesWhen(service(), id, whenAll('sent'));
      const [request] = server.requests;
      expect(request?.headers['content-type']).toContain('application/json');
      const message = JSON.parse(request?.body ?? '');
      expect(message.text).toMatch(
        /^&lt;@U1&gt; shop has failed: &lt;!channel&gt; &amp; (?:&lt;)+…$/,
      );
      const objects = message.blocks.map((block: { readonly text: object }) => block.text);
      // An address in an error does not become a link.
      expect(objects).toMatchObject(Array(3).fill({ type: 'mrkdwn', verbatim: true }));
      const texts: readonly string[] = objects.map((each: { readonly text: string }) => each.text);
      expect(texts.join('\n').match(/<[^>]*>/g) ?? []).toEqual([
        expect.stringMatching(/^<https:\/\/vedette\.test\/acknowledge\/[^<>]+>$/),
        '<https://vedette.test/checks/home/results/result-1>',
      ]);
      expect(texts[2]).toContain('*Location:* eu-west-1');
      for (const text of texts) expect(text.length).toBeLessThanOrEqual(3000);
    });

    it('go to the SMS gateway in its form', async () => {
      const server = await hookServer();
      await makeCheck(service(), 'home');
      const number = '+4915112345678';
      const config = { number, name: 'Ops' };
      const id = await makeChannel(service(), { type: 'SMS', config, ...SUBSCRIBED });
      const gateway = { SMS_GATEWAY_URL: server.url, SMS_GATEWAY_AUTHORIZATION: 'Bearer token' };
      const first = startWorker(service(), readOutgoingConfig(gateway));
      await put(service(), noticeOf(service(), { error: `a "b"\n${'c'.repeat(1000)}` }));
      await deliveriesWhen(service(), id, whenAll('sent'));
      await first.stop();
      const form = {
        ...gateway,
        SMS_GATEWAY_CONTENT_TYPE: 'application/x-www-form-urlencoded',
        SMS_GATEWAY_BODY: 'To={{NUMBER}}&Body={{MESSAGE}}',
      };
      startWorker(service(), readOutgoingConfig(form));
      await put(service(), noticeOf(service(), { check: { name: 'A & B + C' }, error: null }));
      await deliveriesWhen(service(), id, whenAll('sent'));
      const [json, other] = server.requests;
      expect(json).toMatchObject({
        method: 'POST',
        headers: { authorization: 'Bearer token', 'content-type': 'application/json' },
      });
      const { to, message } = JSON.parse(json?.body ?? '');
      expect(to).toBe(number);
      expect(message).toMatch(/^A check has failed, eu-west-1: a "b" ccc/);
      // The page of this link shows the facts, too.
      expect(message).toMatch(/\.\.\. https:\/\/vedette\.test\/acknowledge\/\S+$/);
      expect(message.length).toBeLessThanOrEqual(303);
      expect(Object.fromEntries(new URLSearchParams(other?.body))).toEqual({
        To: number,
        Body: expect.stringMatching(
          /^A & B \+ C has failed, eu-west-1 https:\/\/vedette\.test\/acknowledge\/\S+$/,
        ),
      });
    });

    it('fail at once, with the reason, where nothing is configured for them', async () => {
      const email = await emailChannel();
      const config = { number: '+4915112345678', name: 'Ops' };
      const sms = await makeChannel(service(), { type: 'SMS', config, ...SUBSCRIBED });
      startWorker(service());
      await put(service(), noticeOf(service()));
      const [mail] = await deliveriesWhen(service(), email, whenAll('failed'));
      expect(mail).toMatchObject({ attempts: 1 });
      expect(mail.lastError).toContain('SMTP_URL');
      const [message] = await deliveriesWhen(service(), sms, whenAll('failed'));
      expect(message.lastError).toContain('SMS_GATEWAY_URL');
    });

    it('are sent at once by a test, which returns the outcome', async () => {
      const { mine } = service();
      const server = await hookServer(statuses(200, 404));
      const id = await makeChannel(service(), {
        type: 'WEBHOOK',
        config: { name: 'h', url: server.url, template: '{{CHECK_NAME}}' },
      });
      const path = `/v1/alert-channels/${id}/test`;
      const delivered = await mine.post(path);
      expect(delivered.status).toBe(200);
      expect(delivered.json).toEqual({ delivered: true, status: 200, error: null });
      expect((await mine.post(path)).json).toEqual({
        delivered: false,
        status: 404,
        error: 'the answer was the status 404',
      });
      expect(server.requests.map(({ body }) => body)).toEqual([
        'Test (no real failure)',
        'Test (no real failure)',
      ]);
      expect(await deliveriesWhen(service(), id, () => true)).toEqual([]);
      const email = await emailChannel();
      const unserved = await mine.post(`/v1/alert-channels/${email}/test`);
      expect(unserved.json).toMatchObject({ delivered: false, status: null });
      expect(unserved.json.error).toContain('SMTP_URL');
    });
  });
});

/** The HTML part. */
function htmlOf(source: string): string {
  const [, html = ''] = source.replaceAll('=\r\n', '').split('Content-Type: text/html');
  return html;
}

/** The head of a mail by lower-case names, long lines put together again. */
function headersOf(source: string): Readonly<Record<string, string>> {
  const [head = ''] = source.split('\r\n\r\n');
  const lines = head.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n');
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf(':');
      return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()];
    }),
  );
}
