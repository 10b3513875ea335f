import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { createSecretBox, KEY_BYTES } from '../../../../../src/runtime/secret-box.ts';
import { readOutgoingConfig } from '../../../../../src/service/outgoing/outgoing-config.ts';
import { claimMessages } from '../../../../../src/service/status-pages/subscriptions/messages/deliveries.sql.ts';
import { databases } from '../../../../support/database/databases.ts';
import { eventually } from '../../../../support/eventually.ts';
import { type HookRequest, hookServer } from '../../../../support/servers/hook-server.ts';
import { httpProxy } from '../../../../support/servers/http-proxy.ts';
import { mailServer, type ReceivedMail } from '../../../../support/servers/mail-server.ts';
import {
  HOSTILE,
  type TestService,
  useAccounts,
  useRunningService,
} from '../../../../support/service/service-fixture.ts';
import {
  ALL,
  CLIENT,
  confirmed,
  confirming,
  mailText,
  makePage,
  openIncident,
  PUBLIC_URL,
  type Replica,
  replicaOf,
  type TestPage,
  tokenIn,
} from '../../../../support/status-pages/subscriptions.ts';

const DAY_MS = 86_400_000;
const NEVER = new AbortController().signal;

const subscribersPath = ({ pageId }: TestPage): string =>
  `/v1/status-pages/${pageId}/subscribers?limit=100`;

describe.each(databases)('on %s', (kind) => {
  const running = useRunningService(kind);
  const service = useAccounts(running);
  afterEach(async () => {
    await running().store.query('delete from status_page_subscribers');
    await running().store.query('delete from status_page_announcements');
    await running().store.query('delete from status_page_subscribe_counts');
  });

  const to = (mails: readonly ReceivedMail[]): readonly string[] =>
    mails.flatMap((mail) => mail.to).sort();
  const rowsOf = async ({ mine }: TestService, page: TestPage) =>
    (await mine.get(subscribersPath(page))).json;

  describe('a subscription by email', () => {
    it('begins when the address is confirmed, and sends updates from then on', async () => {
      const server = await mailServer();
      const replica = replicaOf(service(), server);
      replica.start();
      const page = await makePage(service());
      const { subscriptions } = replica;
      await subscriptions.subscribeEmail(
        page,
        { email: ' Ann@Example.com ', services: ALL },
        CLIENT,
      );
      await eventually(() => server.mails.length === 1);
      const [mail] = server.mails;
      expect(mail?.to).toEqual(['ann@example.com']);
      expect(mailText(mail as ReceivedMail)).toContain(
        'Subject: Confirm your subscription to Acme',
      );
      const token = tokenIn(mail);
      expect(await subscriptions.find(page, token)).toMatchObject({ isConfirmed: false });

      await openIncident(service(), page.serviceIds);
      await service().clock.stall(1);
      expect(await subscriptions.confirm(page, token)).toEqual({
        kind: 'email',
        address: 'ann@example.com',
        isConfirmed: true,
        serviceIds: null,
      });
      const incident = await openIncident(service(), page.serviceIds, { name: 'Later' });
      await eventually(() => server.mails.length === 2);
      const text = mailText(server.mails[1] as ReceivedMail);
      expect(text).toContain('Subject: [Acme] Investigating: Later');
      expect(text).toContain('We look into it.');
      expect(text).toContain('Shop, Search');
      expect(text).toContain(`${page.base}/incidents/${incident.id}`);
      expect(text).toContain(`List-Unsubscribe: <${page.base}/subscriptions/${token}/unsubscribe>`);
      expect(text).toContain('List-Unsubscribe-Post: List-Unsubscribe=One-Click');
    });

    it('ends by its token, and leaves nothing of the address', async () => {
      const server = await mailServer();
      const replica = replicaOf(service(), server);
      replica.start();
      const page = await makePage(service());
      const token = await confirmed(replica, page, server.mails);
      await replica.subscriptions.unsubscribe(page, token);
      await replica.subscriptions.unsubscribe(page, token);
      expect(await replica.subscriptions.find(page, token)).toBeNull();
      const { store } = running();
      const counted = `select (select count(*) from status_page_subscribers) as subscribers,
        (select count(*) from status_page_deliveries) as deliveries`;
      expect(await store.query(counted)).toEqual([{ subscribers: 0, deliveries: 0 }]);
    });

    it('is stored encrypted, and found without decrypting', async () => {
      const server = await mailServer();
      const replica = replicaOf(service(), server);
      replica.start();
      const page = await makePage(service());
      const token = await confirmed(replica, page, server.mails);
      const rows = await running().store.query('select * from status_page_subscribers');
      const stored = rows.map((row) => Object.values(row).map(String).join(' ')).join(' ');
      expect(rows).toHaveLength(1);
      expect(stored).not.toContain('ann');
      expect(stored).not.toContain(token);
      expect(JSON.stringify(replica.logs.records())).not.toContain('ann@');
    });

    it('survives the replacement of the key', async () => {
      const server = await mailServer();
      const [before, after] = [randomBytes(KEY_BYTES), randomBytes(KEY_BYTES)];
      const first = replicaOf(service(), server, { secrets: createSecretBox([before]) });
      first.start();
      const page = await makePage(service());
      const token = await confirmed(first, page, server.mails);
      await first.stop();
      const both = createSecretBox([after, before]);
      const second = replicaOf(service(), server, { secrets: both });
      const again = { email: 'ann@example.com', services: ALL };
      await second.subscriptions.subscribeEmail(page, again, CLIENT);
      second.start();
      await eventually(() => server.mails.length === 2);
      const isSealedAnew = async (): Promise<boolean> => {
        const rows = await running().store.query<{ sealed: Buffer }>(
          'select sealed from status_page_subscribers',
        );
        return rows.length === 1 && rows.every(({ sealed }) => both.isOfNewestKey(sealed));
      };
      while (!(await isSealedAnew())) await service().clock.advance(0);
      await second.stop();
      const third = replicaOf(service(), server, { secrets: createSecretBox([after]) });
      third.start();
      expect(await third.subscriptions.find(page, token)).toMatchObject({
        address: 'ann@example.com',
      });
      await third.subscriptions.subscribeEmail(page, again, CLIENT);
      await eventually(() => server.mails.length === 3);
      expect(mailText(server.mails[2] as ReceivedMail)).toContain('You are subscribed to Acme');
    });

    it('sends another mail to an address that is subscribed, and changes nothing', async () => {
      const server = await mailServer();
      const replica = replicaOf(service(), server);
      replica.start();
      const page = await makePage(service());
      const token = await confirmed(replica, page, server.mails);
      const again = { email: 'ANN@example.com', services: [page.serviceIds[0] ?? ''] };
      await replica.subscriptions.subscribeEmail(page, again, CLIENT);
      await eventually(() => server.mails.length === 2);
      expect(mailText(server.mails[1] as ReceivedMail)).toContain('You are subscribed to Acme');
      expect(tokenIn(server.mails[1])).toBe(token);
      expect(await replica.subscriptions.find(page, token)).toMatchObject({ serviceIds: null });
      expect(await rowsOf(service(), page)).toHaveLength(1);
    });

    it('cannot be managed with a token of another page', async () => {
      const server = await mailServer();
      const replica = replicaOf(service(), server);
      replica.start();
      const page = await makePage(service());
      const other = await makePage(service());
      const token = await confirmed(replica, page, server.mails);
      expect(await replica.subscriptions.find(other, token)).toBeNull();
      await replica.subscriptions.unsubscribe(other, token);
      expect(await replica.subscriptions.find(page, token)).not.toBeNull();
    });

    it('that nobody confirms within a day is gone', async () => {
      const server = await mailServer();
      const replica = replicaOf(service(), server);
      replica.start();
      const page = await makePage(service());
      const given = { email: 'ann@example.com', services: ALL };
      await replica.subscriptions.subscribeEmail(page, given, CLIENT);
      await eventually(() => server.mails.length === 1);
      const token = tokenIn(server.mails[0]);
      await service().clock.stall(DAY_MS + 1);
      expect(await replica.subscriptions.confirm(page, token)).toBeNull();
      // About every hour.
      await service().clock.stall(3_600_000);
      while ((await rowsOf(service(), page)).length > 0) await service().clock.advance(0);
    });

    it('is deleted with its page', async () => {
      const server = await mailServer();
      const replica = replicaOf(service(), server);
      replica.start();
      const page = await makePage(service());
      await confirmed(replica, page, server.mails);
      await service().mine.delete(`/v1/status-pages/${page.pageId}`);
      const rows = await running().store.query('select 1 as one from status_page_subscribers');
      expect(rows).toEqual([]);
    });

    it('is not offered without SMTP_URL, without a key, or without a trusted address', async () => {
      const page = await makePage(service());
      const given = { email: 'ann@example.com', services: ALL };
      const problems = [
        [replicaOf(service(), { port: null }), page, 'SMTP_URL'],
        [replicaOf(service(), { port: 1 }, { secrets: null }), page, 'ENCRYPTION_KEY'],
        [replicaOf(service(), { port: 1 }, { publicUrl: null }), page, 'PUBLIC_URL'],
      ] as const;
      for (const [{ subscriptions }, of, problem] of problems) {
        expect(subscriptions.emailProblem(of)).toContain(problem);
        await expect(subscriptions.subscribeEmail(of, given, CLIENT)).rejects.toMatchObject({
          status: 409,
        });
      }
    });
  });

  describe('the throttle', () => {
    it('sends at most three mails a day to a mailbox, and answers the same beyond', async () => {
      const server = await mailServer();
      const replica = replicaOf(service(), server);
      replica.start();
      const pages = [await makePage(service()), await makePage(service())];
      const subscribe = async (n: number): Promise<void> => {
        const email = `ann+${n}@example.com`;
        const page = pages[n % 2] as TestPage;
        await replica.subscriptions.subscribeEmail(page, { email, services: ALL }, CLIENT);
      };
      for (let n = 0; n < 6; n += 1) await subscribe(n);
      await eventually(() => server.mails.length === 3);
      expect(replica.subscriptionCounts().refused.email).toBe(3);
      await service().clock.stall(DAY_MS);
      await subscribe(6);
      await eventually(() => server.mails.length === 4);
      expect(server.mails).toHaveLength(4);
    });

    it('refuses a client after 20 requests in an hour, and no other', async () => {
      const server = await mailServer();
      const { subscriptions } = replicaOf(service(), server);
      const page = await makePage(service());
      const subscribe = (n: number, client = CLIENT) =>
        subscriptions.subscribeEmail(page, { email: `a${n}@example.com`, services: ALL }, client);
      for (let n = 0; n < 20; n += 1) await subscribe(n);
      await expect(subscribe(20)).rejects.toMatchObject({
        status: 429,
        headers: { 'retry-after': '3600' },
      });
      await subscribe(21, '203.0.113.8');
      await service().clock.stall(3_600_000);
      await subscribe(22);
    });

    it('refuses a page after 500 requests in an hour, whoever sends them', async () => {
      const { subscriptions, subscriptionCounts } = replicaOf(service(), { port: 1 });
      const page = await makePage(service());
      const request = (n: number): Promise<unknown> =>
        subscriptions.subscribeEmail(
          page,
          { email: `ann${n}@example.com`, services: ALL },
          `198.51.100.${n}`,
        );
      for (let n = 0; n < 2; n += 1) await request(n);
      // Only the page, its account and the service have two by now: each came from another client.
      const { store } = running();
      await store.query(
        'update status_page_subscribe_counts set requests = 498 where requests = 2',
      );
      for (let n = 2; n < 4; n += 1) await request(n);
      await expect(request(4)).rejects.toMatchObject({ status: 429 });
      expect(subscriptionCounts().refused.page).toBe(1);
    });
  });

  describe('the limits of the operator', () => {
    const limited = (limits: { readonly perAccountDay: number; readonly perHour: number }) =>
      replicaOf(service(), { port: 1 }, { limits });
    const request = ({ subscriptions }: Replica, page: TestPage, n: number): Promise<void> =>
      subscriptions.subscribeEmail(
        page,
        { email: `ann${n}@example.com`, services: ALL },
        `198.51.100.${n}`,
      );

    it('refuse an account after its requests of a day, whichever of its pages they are for', async () => {
      const replica = limited({ perAccountDay: 4, perHour: 100 });
      const pages = [await makePage(service()), await makePage(service())];
      for (let n = 0; n < 4; n += 1) await request(replica, pages[n % 2] as TestPage, n);
      for (const page of pages) {
        await expect(request(replica, page, 5)).rejects.toMatchObject({
          status: 429,
          headers: { 'retry-after': '86400' },
        });
      }
      expect(replica.subscriptionCounts().refused.account).toBe(2);
      const foreign = await makePage({ ...service(), mine: service().theirs });
      await request(replica, foreign, 6);
      await service().clock.stall(DAY_MS);
      await request(replica, pages[0] as TestPage, 7);
    });

    it('refuse everybody after the requests of an hour to the whole service', async () => {
      const replica = limited({ perAccountDay: 100, perHour: 2 });
      const page = await makePage(service());
      const foreign = await makePage({ ...service(), mine: service().theirs });
      await request(replica, page, 0);
      await request(replica, foreign, 1);
      await expect(request(replica, foreign, 2)).rejects.toMatchObject({ status: 429 });
      expect(replica.subscriptionCounts().refused.service).toBe(1);
      await service().clock.stall(3_600_000);
      await request(replica, page, 3);
    });
  });

  describe('an announced update', () => {
    it('goes to subscribers of all services, and of one that the incident names', async () => {
      const server = await mailServer();
      const replica = replicaOf(service(), server);
      replica.start();
      const page = await makePage(service());
      const [shop = '', search = ''] = page.serviceIds;
      await confirmed(replica, page, server.mails, 'all@example.com');
      await confirmed(replica, page, server.mails, 'shop@example.com', [shop]);
      const token = await confirmed(replica, page, server.mails, 'search@example.com', [search]);
      const before = server.mails.length;
      await openIncident(service(), [shop]);
      await eventually(() => server.mails.length === before + 2);
      expect(to(server.mails.slice(before))).toEqual(['all@example.com', 'shop@example.com']);
      await replica.subscriptions.changeServices(page, token, [shop, search]);
      await openIncident(service(), [shop]);
      await eventually(() => server.mails.length === before + 5);
      const wrong = replica.subscriptions.changeServices(page, token, [randomUUID()]);
      await expect(wrong).rejects.toMatchObject({ status: 400 });
    });

    it('goes out once to each subscriber, whichever of two replicas sends it', async () => {
      const server = await mailServer();
      const first = replicaOf(service(), server);
      const second = replicaOf(service(), server);
      first.start();
      const page = await makePage(service());
      const addresses = Array.from({ length: 18 }, (_, n) => `s${n + 10}@example.com`);
      for (const address of addresses) await confirmed(first, page, server.mails, address);
      second.start();
      const before = server.mails.length;
      const incident = await openIncident(service(), page.serviceIds);
      await eventually(() => server.mails.length === before + addresses.length);
      const path = `/v1/status-pages/incidents/${incident.id}/incident-updates`;
      await service().mine.post(path, {
        status: 'RESOLVED',
        description: 'It works.',
        notifySubscribers: true,
      });
      await eventually(() => server.mails.length === before + 2 * addresses.length);
      await Promise.all([first.stop(), second.stop()]);
      const sent = server.mails.slice(before);
      const ofStatus = (status: string) =>
        to(sent.filter((mail) => mailText(mail).includes(`Subject: [Acme] ${status}`)));
      expect(ofStatus('Investigating')).toEqual(addresses);
      expect(ofStatus('Resolved')).toEqual(addresses);
      const counts = [first, second].map((each) => each.subscriptionCounts().messages.email.sent);
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(3 * addresses.length);
    });

    it('is sent by another process where one ends between claim and send', async () => {
      const server = await mailServer();
      const first = replicaOf(service(), server);
      first.start();
      const page = await makePage(service());
      await confirmed(first, page, server.mails);
      await first.stop();
      await openIncident(service(), page.serviceIds);
      const fanning = replicaOf(service(), { port: 1 });
      // A process that creates the deliveries and cannot send them.
      fanning.start();
      const { store, clock } = running();
      const open = () =>
        store.query(`select attempts from status_page_deliveries where finished_at is null`);
      const isTried = async () => (await open()).some(({ attempts }) => attempts !== 0);
      while (!(await isTried())) await clock.advance(0);
      await fanning.stop();
      await clock.advance(60_000);
      const claim = { kind: 'email', owner: randomUUID(), leaseMs: 0, limit: 10 } as const;
      const claimed = await claimMessages(store, {
        ...claim,
        atMs: clock.wallMs(),
        perAccount: 10,
        busyAccounts: {},
      });
      expect(claimed).toMatchObject([{ attempt: 2 }]);
      replicaOf(service(), server).start();
      await eventually(() => server.mails.length === 2);
      expect(mailText(server.mails[1] as ReceivedMail)).toContain('Payments fail');
    });

    it('is not sent once it is deleted, or notifies nobody any more', async () => {
      const server = await mailServer();
      const replica = replicaOf(service(), server);
      replica.start();
      const page = await makePage(service());
      await confirmed(replica, page, server.mails);
      await replica.stop();
      const { mine } = service();
      const path = '/v1/status-pages/incidents';
      const hidden = await openIncident(service(), page.serviceIds, { name: 'Hidden' });
      await mine.delete(`${path}/${hidden.id}`);
      const muted = await openIncident(service(), page.serviceIds, { name: 'Muted' });
      const [update] = muted.incidentUpdates;
      await mine.patch(`${path}/${muted.id}/incident-updates/${update.id}`, {
        notifySubscribers: false,
      });
      await openIncident(service(), page.serviceIds, { name: 'Sent' });
      replicaOf(service(), server).start();
      await eventually(() => server.mails.length === 2);
      expect(mailText(server.mails[1] as ReceivedMail)).toContain('Investigating: Sent');
      await mine.patch(`${path}/${muted.id}/incident-updates/${update.id}`, {
        notifySubscribers: true,
      });
      const path2 = `${path}/${muted.id}/incident-updates`;
      const next = { status: 'RESOLVED', description: 'Over.', notifySubscribers: true };
      await mine.post(path2, next);
      await eventually(() => server.mails.length >= 3);
    });

    it('of a draft goes out when it is published', async () => {
      const server = await mailServer();
      const replica = replicaOf(service(), server);
      replica.start();
      const page = await makePage(service());
      await confirmed(replica, page, server.mails);
      const draft = await openIncident(service(), page.serviceIds, {
        name: 'Draft',
        isDraft: true,
      });
      await openIncident(service(), page.serviceIds, { name: 'Open' });
      await eventually(() => server.mails.length === 2);
      await service().mine.patch(`/v1/status-pages/incidents/${draft.id}`, { isDraft: false });
      await eventually(() => server.mails.length === 3);
      const subjects = server.mails.map((mail) => /^Subject: (.*?)\r?$/m.exec(mailText(mail))?.[1]);
      expect(subjects.slice(1)).toEqual([
        '[Acme] Investigating: Open',
        '[Acme] Investigating: Draft',
      ]);
    });

    it('of a check that fails and recovers goes out, if its triggerIncident says so', async () => {
      const server = await mailServer();
      const replica = replicaOf(service(), server);
      replica.start();
      const page = await makePage(service());
      await confirmed(replica, page, server.mails);
      const { features, store, clock, mine } = service();
      const failAndRecover = async (name: string, notifySubscribers: boolean): Promise<void> => {
        const checkId = randomUUID();
        const trigger = {
          serviceId: page.serviceIds[0] ?? '',
          name,
          severity: 'MAJOR',
          description: 'The check fails.',
          notifySubscribers,
        } as const;
        const atMs = clock.wallMs();
        const { incidentTrigger } = features;
        await store.transaction(async (tx) => {
          await incidentTrigger.opened(tx, mine.accountId, { checkId, trigger, atMs });
          // With another notice of the same failure.
          await incidentTrigger.opened(tx, mine.accountId, { checkId, trigger, atMs });
        });
        await store.transaction((tx) =>
          incidentTrigger.resolved(tx, mine.accountId, { checkId, atMs }),
        );
      };
      await failAndRecover('Quiet', false);
      await failAndRecover('Loud', true);
      await eventually(() => server.mails.length === 3);
      const subjects = server.mails.map((mail) => /^Subject: (.*?)\r?$/m.exec(mailText(mail))?.[1]);
      // Both are announced at the same instant here, and are sent side by side.
      const announced = ['[Acme] Investigating: Loud', '[Acme] Resolved: Loud'];
      expect(subjects.slice(1).sort()).toEqual(announced);
    });

    it('cannot add headers or HTML to a mail', async () => {
      const server = await mailServer();
      const replica = replicaOf(service(), server);
      replica.start();
      const name = 'Acme\r\nBcc: everybody@example.com\r\n\r\n<script>';
      const page = await makePage(service(), [HOSTILE, name], { name });
      await confirmed(replica, page, server.mails);
      await openIncident(service(), page.serviceIds, { name: HOSTILE }, { description: HOSTILE });
      await openIncident(service(), page.serviceIds, { name }, { description: name });
      await eventually(() => server.mails.length === 3);
      for (const mail of server.mails) {
        expect(mail.to).toEqual(['ann@example.com']);
        const [head = ''] = mail.source.split('\r\n\r\n');
        expect(head).not.toMatch(/^bcc:/im);
        const html = mailText(mail).split('<!doctype html>')[1];
        expect(html).toContain('&lt;');
        expect(html).not.toContain('<script>');
        expect(html).not.toContain('<b>');
      }
    });
  });

  describe('an address that refuses messages', () => {
    const refusing = () => {
      const refused = new Set<string>();
      return mailServer({
        onRcptTo: ({ address }, _session, callback) => {
          const error = Object.assign(new Error('no such user'), { responseCode: 550 });
          callback(refused.has(address) ? error : null);
        },
      }).then((server) => ({ ...server, mails: server.mails, refused }));
    };

    it('rests for a day, and is removed after three refusals in a row', async () => {
      const { clock } = service();
      const server = await refusing();
      const replica = replicaOf(service(), server);
      replica.start();
      const page = await makePage(service());
      await confirmed(replica, page, server.mails);
      server.refused.add('ann@example.com');
      const bounced = () => replica.subscriptionCounts().messages.email.bounced;
      await openIncident(service(), page.serviceIds);
      await eventually(() => bounced() === 1);
      expect(await rowsOf(service(), page)).toMatchObject([{ state: 'suspended', bounces: 1 }]);
      await openIncident(service(), page.serviceIds);
      // Otherwise the day would have passed when the second update is announced.
      const unannounced = () =>
        running().store.query('select 1 from status_page_announcements where finished_at is null');
      while ((await unannounced()).length > 0) await clock.advance(0);
      await clock.stall(DAY_MS);
      await openIncident(service(), page.serviceIds);
      await eventually(() => bounced() === 2);
      await clock.stall(DAY_MS);
      await openIncident(service(), page.serviceIds);
      await eventually(() => bounced() === 3);
      expect(await rowsOf(service(), page)).toEqual([]);
      expect(replica.subscriptionCounts().removed.bounced).toBe(1);
    });

    it('that was not confirmed is removed at once', async () => {
      const server = await refusing();
      server.refused.add('ann@example.com');
      const replica = replicaOf(service(), server);
      replica.start();
      const page = await makePage(service());
      const given = { email: 'ann@example.com', services: ALL };
      await replica.subscriptions.subscribeEmail(page, given, CLIENT);
      await eventually(() => replica.subscriptionCounts().removed.bounced === 1);
      expect(await rowsOf(service(), page)).toEqual([]);
    });
  });

  describe('a subscription by webhook', () => {
    const subscribed = async (
      { subscriptions }: Replica,
      page: TestPage,
      url: string,
    ): Promise<{ readonly secret: string; readonly token: string }> =>
      await subscriptions.subscribeWebhook(page, { url, services: ALL }, CLIENT, NEVER);

    it('begins when the endpoint answers the challenge, and gets signed updates', async () => {
      const server = await hookServer(confirming);
      const replica = replicaOf(service(), { port: null });
      replica.start();
      const page = await makePage(service());
      const { secret, token } = await subscribed(replica, page, server.url);
      const incident = await openIncident(service(), page.serviceIds);
      await eventually(() => server.requests.length === 2);
      const { headers, body } = server.requests[1] as HookRequest;
      expect(headers['x-service-signature']).toBe(
        createHmac('sha256', secret).update(body).digest('hex'),
      );
      expect(JSON.parse(body)).toEqual({
        type: 'incident.update',
        id: headers['x-service-delivery'],
        page: { name: 'Acme', url: page.base },
        incident: {
          id: incident.id,
          name: 'Payments fail',
          severity: 'MAJOR',
          status: 'INVESTIGATING',
          services: [
            { id: page.serviceIds[0], name: 'Shop' },
            { id: page.serviceIds[1], name: 'Search' },
          ],
          startedAt: incident.created_at,
          url: `${page.base}/incidents/${incident.id}`,
        },
        update: {
          status: 'INVESTIGATING',
          description: 'We look into it.',
          at: incident.incidentUpdates[0].created_at,
        },
        unsubscribeUrl: `${PUBLIC_URL}/status/${page.url}/subscriptions/${token}/unsubscribe`,
      });
      await expect(subscribed(replica, page, server.url)).rejects.toMatchObject({ status: 409 });
    });

    it('is refused where the endpoint does not answer the challenge', async () => {
      const server = await hookServer(({ body }, response) => response.end(`you sent ${body}`));
      const replica = replicaOf(service(), { port: null });
      const page = await makePage(service());
      await expect(subscribed(replica, page, server.url)).rejects.toMatchObject({ status: 400 });
      expect(replica.subscriptionCounts().refused.challenge).toBe(1);
      expect(await rowsOf(service(), page)).toEqual([]);
    });

    it('is refused where the endpoint repeats whatever it gets', async () => {
      const server = await hookServer(({ body }, response) => response.end(body));
      const replica = replicaOf(service(), { port: null });
      const page = await makePage(service());
      await expect(subscribed(replica, page, server.url)).rejects.toMatchObject({ status: 400 });
      expect(replica.subscriptionCounts().refused.challenge).toBe(1);
      expect(await rowsOf(service(), page)).toEqual([]);
    });

    it('is asked for by three slow webhooks of a client at once, which keep no other client out', async () => {
      const slow = await hookServer(() => {});
      const quick = await hookServer(confirming);
      const { subscriptions } = replicaOf(service(), { port: null });
      const page = await makePage(service());
      const gone = new AbortController();
      const ask = (url: string, client: string, signal = NEVER): Promise<unknown> =>
        subscriptions.subscribeWebhook(page, { url, services: ALL }, client, signal);
      const waiting = [1, 2, 3].map((number) => ask(`${slow.url}/${number}`, CLIENT, gone.signal));
      await eventually(() => slow.requests.length === 3);
      await expect(ask(quick.url, CLIENT)).rejects.toMatchObject({ status: 503 });
      await ask(quick.url, '203.0.113.99');
      gone.abort();
      const outcomes = await Promise.allSettled(waiting);
      expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
      await ask(`${quick.url}/another`, CLIENT);
    });

    it('is refused for an address that is not public, whatever DELIVERY_DENY and DELIVERY_ALLOW say', async () => {
      const server = await hookServer(confirming);
      const proxy = await httpProxy();
      const delivery = readOutgoingConfig({
        DELIVERY_DENY: '192.0.2.0/24',
        DELIVERY_ALLOW: '127.0.0.0/8, ::1, localhost',
        HTTP_PROXY: proxy.url(),
      });
      const own = { webhookGuard: undefined, delivery };
      const replica = replicaOf(service(), { port: null }, own);
      const page = await makePage(service());
      const urls = [server.url, server.url.replace('127.0.0.1', 'localhost'), 'http://[::1]:9/'];
      for (const url of urls) {
        await expect(subscribed(replica, page, url)).rejects.toMatchObject({ status: 400 });
      }
      expect(server.requests).toEqual([]);
      expect(proxy.requests).toEqual([]);
    });

    it('ends where the endpoint answers 410', async () => {
      const server = await hookServer((request, response) => {
        if (request.body.includes('subscription.challenge')) confirming(request, response);
        else response.writeHead(410).end();
      });
      const replica = replicaOf(service(), { port: null });
      replica.start();
      const page = await makePage(service());
      await subscribed(replica, page, server.url);
      await openIncident(service(), page.serviceIds);
      await eventually(() => replica.subscriptionCounts().removed.gone === 1);
      expect(await rowsOf(service(), page)).toEqual([]);
    });

    it('is asked at most ten times an hour for a host', async () => {
      const server = await hookServer((_, response) => response.end('no'));
      const replica = replicaOf(service(), { port: null });
      const page = await makePage(service());
      for (let n = 0; n < 12; n += 1) {
        await expect(subscribed(replica, page, `${server.url}?${n}`)).rejects.toMatchObject({
          status: n < 10 ? 400 : 429,
        });
      }
      expect(server.requests).toHaveLength(10);
    });
  });

  describe('the subscribers of a page', () => {
    it('are listed for their account, with shortened addresses for all but admins', async () => {
      const server = await mailServer();
      const replica = replicaOf(service(), server);
      replica.start();
      const page = await makePage(service());
      const hook = await hookServer(confirming);
      await confirmed(replica, page, server.mails);
      const url = `${hook.url}/secret-path`;
      await replica.subscriptions.subscribeWebhook(page, { url, services: ALL }, CLIENT, NEVER);
      const addresses = async (client: TestService['mine']) =>
        (await client.get(subscribersPath(page))).json.map(
          ({ address }: { address: string }) => address,
        );
      expect(await addresses(service().mine)).toEqual(['ann@example.com', url]);
      expect(await addresses(await service().clientWith('write'))).toEqual([
        'a…@example.com',
        `http://127.0.0.1:${hook.port}/…`,
      ]);
      expect((await service().theirs.get(subscribersPath(page))).status).toBe(404);
    });

    it('are deleted by id, with an entry in the audit log that does not name them', async () => {
      const server = await mailServer();
      const replica = replicaOf(service(), server);
      replica.start();
      const page = await makePage(service());
      await confirmed(replica, page, server.mails);
      const [{ id }] = await rowsOf(service(), page);
      const path = `/v1/status-pages/${page.pageId}/subscribers/${id}`;
      expect((await service().theirs.delete(path)).status).toBe(404);
      expect((await (await service().clientWith('read')).delete(path)).status).toBe(403);
      expect((await service().mine.delete(path)).status).toBe(204);
      expect((await service().mine.delete(path)).status).toBe(404);
      const log = await service().mine.get('/v1/audit-log?limit=100');
      const [entry] = log.json;
      expect(entry).toMatchObject({ action: 'delete', kind: 'status-page-subscriber' });
      expect(log.text).not.toContain('ann@');
    });
  });
});
