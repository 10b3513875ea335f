import { afterEach, describe, expect, it } from 'vitest';
import { readOutgoingConfig } from '../../../../../src/service/outgoing/outgoing-config.ts';
import type { SubscriberKind } from '../../../../../src/service/status-pages/subscriptions/sql.ts';
import { databases } from '../../../../support/database/databases.ts';
import { eventually } from '../../../../support/eventually.ts';
import { hookServer } from '../../../../support/servers/hook-server.ts';
import { httpProxy } from '../../../../support/servers/http-proxy.ts';
import { mailServer } from '../../../../support/servers/mail-server.ts';
import { useAccounts, useRunningService } from '../../../../support/service/service-fixture.ts';
import {
  ALL,
  CLIENT,
  confirmed,
  confirming,
  makePage,
  openIncident,
  type Replica,
  replicaOf,
  type TestPage,
} from '../../../../support/status-pages/subscriptions.ts';

const DAY_MS = 86_400_000;
/** After the first attempt. */
const RETRIES = 6;
/** A webhook's failure that is not retried. */
const REDIRECT = 302;
const NEVER = new AbortController().signal;

describe.each(databases)('on %s', (kind) => {
  const running = useRunningService(kind);
  const service = useAccounts(running);
  afterEach(async () => {
    await running().store.query('delete from status_page_subscribers');
    await running().store.query('delete from status_page_announcements');
    await running().store.query('delete from status_page_subscribe_counts');
  });

  const subscribersOf = async ({ pageId }: TestPage) =>
    (await service().mine.get(`/v1/status-pages/${pageId}/subscribers?limit=100`)).json;

  /** Lets an update fail for good: moves the clock to each retry. */
  const failUpdate = async (
    { subscriptionCounts }: Replica,
    page: TestPage,
    to: SubscriberKind,
  ): Promise<void> => {
    const { clock, store } = running();
    const failed = () => subscriptionCounts().messages[to].failed;
    const before = failed();
    await openIncident(service(), page.serviceIds);
    while (failed() === before) {
      const [row] = await store.query<{ dueAt: Date }>(
        `select due_at from status_page_deliveries where state = 'waiting' and attempts > 0`,
      );
      const waitMs = (row?.dueAt.getTime() ?? 0) - clock.wallMs();
      await clock.stall(Math.max(0, waitMs));
    }
  };

  const subscribed = async (replica: Replica, page: TestPage, url: string): Promise<void> => {
    await replica.subscriptions.subscribeWebhook(page, { url, services: ALL }, CLIENT, NEVER);
  };

  it('two outages of the mail server 15 days apart remove no subscriber', async () => {
    const server = await mailServer();
    const page = await makePage(service());
    const healthy = replicaOf(service(), server);
    healthy.start();
    await confirmed(healthy, page, server.mails);
    await healthy.stop();

    // Nothing listens there.
    const away = replicaOf(service(), { port: 1 });
    away.start();
    for (let n = 0; n < 3; n += 1) await failUpdate(away, page, 'email');
    await running().clock.stall(15 * DAY_MS);
    for (let n = 0; n < 2; n += 1) await failUpdate(away, page, 'email');
    await away.stop();
    expect(away.subscriptionCounts().removed).toEqual({ bounced: 0, gone: 0, failing: 0 });
    expect(await subscribersOf(page)).toMatchObject([{ state: 'active', bounces: 0 }]);

    const again = replicaOf(service(), server);
    again.start();
    const before = server.mails.length;
    await openIncident(service(), page.serviceIds);
    await eventually(() => server.mails.length === before + 1);
  });

  it('a missing SMTP_URL removes no subscriber, however long it is missing', async () => {
    const server = await mailServer();
    const page = await makePage(service());
    const healthy = replicaOf(service(), server);
    healthy.start();
    await confirmed(healthy, page, server.mails);
    await healthy.stop();
    const without = replicaOf(service(), { port: null });
    without.start();
    for (let n = 0; n < 6; n += 1) {
      await failUpdate(without, page, 'email');
      await running().clock.stall(5 * DAY_MS);
    }
    expect(await subscribersOf(page)).toMatchObject([{ state: 'active', bounces: 0 }]);
  });

  it('an address that the mail server puts off for two weeks is removed after five messages', async () => {
    let isOff: boolean = false;
    const server = await mailServer({
      onRcptTo(_address, _session, callback) {
        const error = Object.assign(new Error('4.2.2 mailbox full'), { responseCode: 450 });
        callback(isOff ? error : null);
      },
    });
    const page = await makePage(service());
    const replica = replicaOf(service(), server);
    replica.start();
    await confirmed(replica, page, server.mails);
    isOff = true;
    for (let n = 0; n < 4; n += 1) await failUpdate(replica, page, 'email');
    await running().clock.stall(15 * DAY_MS);
    expect(await subscribersOf(page)).toHaveLength(1);
    await failUpdate(replica, page, 'email');
    expect(replica.subscriptionCounts().removed.failing).toBe(1);
    expect(await subscribersOf(page)).toEqual([]);
  });

  it('a webhook that fails steadily is retried, and removed after two weeks and five messages', async () => {
    let status: number | null = null;
    const server = await hookServer((request, response) => {
      if (status === null) confirming(request, response);
      else response.writeHead(status).end();
    });
    const replica = replicaOf(service(), { port: null });
    replica.start();
    const page = await makePage(service());
    await subscribed(replica, page, server.url);
    status = 500;
    await failUpdate(replica, page, 'webhook');
    expect(server.requests).toHaveLength(1 + 1 + RETRIES);
    status = REDIRECT;
    // Two weeks alone are not enough.
    await running().clock.stall(14 * DAY_MS);
    for (let n = 0; n < 3; n += 1) await failUpdate(replica, page, 'webhook');
    expect(await subscribersOf(page)).toHaveLength(1);
    await failUpdate(replica, page, 'webhook');
    expect(replica.subscriptionCounts().removed.failing).toBe(1);
    expect(await subscribersOf(page)).toEqual([]);
  });

  it('a webhook that a proxy no longer reaches is removed after two weeks and five messages', async () => {
    let isGone: boolean = false;
    const server = await hookServer(confirming);
    // Nothing listens at this port of 127.0.0.2: the proxy answers 502 to CONNECT.
    const proxy = await httpProxy({ resolve: () => (isGone ? '127.0.0.2' : '127.0.0.1') });
    const delivery = readOutgoingConfig({ HTTP_PROXY: proxy.url() });
    const replica = replicaOf(service(), { port: null }, { delivery });
    replica.start();
    const page = await makePage(service());
    await subscribed(replica, page, `http://localhost:${server.port}/hook`);
    expect(proxy.requests).toMatchObject([{ method: 'CONNECT' }]);
    isGone = true;
    for (let n = 0; n < 4; n += 1) await failUpdate(replica, page, 'webhook');
    await running().clock.stall(15 * DAY_MS);
    expect(await subscribersOf(page)).toHaveLength(1);
    await failUpdate(replica, page, 'webhook');
    expect(replica.subscriptionCounts().removed.failing).toBe(1);
    expect(await subscribersOf(page)).toEqual([]);
    expect(server.requests).toHaveLength(1);
  });

  it('a message that arrives begins the two weeks and the count of a webhook anew', async () => {
    let isDown: boolean = false;
    const server = await hookServer((request, response) => {
      if (isDown) response.writeHead(REDIRECT).end();
      else confirming(request, response);
    });
    const replica = replicaOf(service(), { port: null });
    replica.start();
    const page = await makePage(service());
    await subscribed(replica, page, server.url);
    isDown = true;
    for (let n = 0; n < 4; n += 1) await failUpdate(replica, page, 'webhook');
    isDown = false;
    await openIncident(service(), page.serviceIds);
    await eventually(() => replica.subscriptionCounts().messages.webhook.sent === 1);
    isDown = true;
    await running().clock.stall(15 * DAY_MS);
    for (let n = 0; n < 4; n += 1) await failUpdate(replica, page, 'webhook');
    await running().clock.stall(13 * DAY_MS);
    await failUpdate(replica, page, 'webhook');
    expect(await subscribersOf(page)).toHaveLength(1);
  });

  it('what the previous release wrote for failures of the service does not count', async () => {
    const server = await hookServer((request, response) => {
      if (request.body.includes('subscription.challenge')) confirming(request, response);
      else response.writeHead(REDIRECT).end();
    });
    const replica = replicaOf(service(), { port: null });
    replica.start();
    const page = await makePage(service());
    await subscribed(replica, page, server.url);
    const { store, clock } = running();
    await store.query('update status_page_subscribers set failing_since = $1', [
      new Date(clock.wallMs() - 30 * DAY_MS),
    ]);
    for (let n = 0; n < 5; n += 1) await failUpdate(replica, page, 'webhook');
    expect(await subscribersOf(page)).toHaveLength(1);
  });
});
