import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { allowAll } from '../../../../../src/runtime/net/address-guard.ts';
import { createSecretBox, KEY_BYTES } from '../../../../../src/runtime/secret-box.ts';
import { readOutgoingConfig } from '../../../../../src/service/outgoing/outgoing-config.ts';
import { databases } from '../../../../support/database/databases.ts';
import { eventually } from '../../../../support/eventually.ts';
import { hookServer } from '../../../../support/servers/hook-server.ts';
import { mailServer } from '../../../../support/servers/mail-server.ts';
import type { Reply } from '../../../../support/service/service-app.ts';
import { useAccounts, useRunningService } from '../../../../support/service/service-fixture.ts';
import {
  makePage,
  PUBLIC_URL,
  replicaOf,
  tokenIn,
} from '../../../../support/status-pages/subscriptions.ts';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const secrets = createSecretBox([randomBytes(KEY_BYTES)]);

describe.each(databases)('on %s', (kind) => {
  // The mails of its forms are sent by a replica of the tests.
  const delivery = readOutgoingConfig({ SMTP_URL: 'smtp://127.0.0.1:1', SMTP_FROM: 'a@b.test' });
  const config = {
    leaseMs: 15_000,
    retentionDays: 30,
    staticIpv6s: [],
    publicUrl: PUBLIC_URL,
    delivery,
  };
  const running = useRunningService(kind, { secrets, config, subscriberGuard: allowAll });
  const service = useAccounts(running);
  afterEach(async () => {
    await running().store.query('delete from status_page_subscribers');
    await running().store.query('delete from status_page_subscribe_counts');
  });

  const ask = (path: string, body?: string, headers: Readonly<Record<string, string>> = FORM) =>
    running().app.ask(path, {
      key: null,
      ...(body === undefined ? {} : { method: 'POST', body, headers }),
    });
  const sending = () => {
    const own = { secrets };
    return mailServer().then((server) => {
      replicaOf(service(), server, own).start();
      return server;
    });
  };
  const html = ({ status, text, headers }: Reply) => {
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': expect.stringContaining("default-src 'none'"),
    });
    expect(headers).not.toHaveProperty('set-cookie');
    expect(text).not.toContain('<script');
    return { status, text };
  };

  it('the forms lead from an address to a subscription, its services and its end', async () => {
    const server = await sending();
    const page = await makePage(service(), ['Shop', 'Search & more']);
    const path = `/status/${page.url}`;
    const form = html(await ask(`${path}/subscribe`));
    expect(form.text).toContain('Search &amp; more');
    const [shop = ''] = page.serviceIds;
    const given = `email=ann%40example.com&scope=some&services=${shop}`;
    const asked = html(await ask(`${path}/subscribe`, given));
    expect(asked.status).toBe(202);
    expect(asked.text).toContain('Check your inbox');
    await eventually(() => server.mails.length === 1);
    const link = `${path}/subscriptions/${tokenIn(server.mails[0])}`;

    // A GET of a mail scanner confirms nothing.
    expect(html(await ask(link)).text).toContain('Confirm the subscription');
    expect(html(await ask(link)).text).toContain('Confirm the subscription');
    expect(html(await ask(`${link}/confirm`, '')).text).toContain('Your subscription');
    const changed = html(
      await ask(link, `scope=some&services=${page.serviceIds.join('&services=')}`),
    );
    expect(changed).toMatchObject({ status: 200, text: expect.stringContaining('Saved.') });
    expect(html(await ask(link, 'scope=some')).status).toBe(400);

    expect(html(await ask(`${link}/unsubscribe`)).text).toContain('<button');
    expect(html(await ask(link)).text).toContain('Your subscription');
    const left = html(await ask(`${link}/unsubscribe`, 'List-Unsubscribe=One-Click'));
    expect(left).toMatchObject({ status: 200, text: expect.stringContaining('unsubscribed') });
    expect((await ask(link)).status).toBe(404);
    expect((await ask(`${link}/unsubscribe`, '')).status).toBe(200);
  });

  it('an address cannot be confirmed once the page has 10,000 subscribers', async () => {
    const server = await sending();
    const page = await makePage(service());
    const path = `/status/${page.url}`;
    const links: string[] = [];
    for (const name of ['ann', 'bob']) {
      await ask(`${path}/subscribe`, `email=${name}%40example.com&scope=all`);
      await eventually(() => server.mails.length === links.length + 1);
      links.push(`${path}/subscriptions/${tokenIn(server.mails.at(-1))}`);
    }
    const [ann = '', bob = ''] = links;
    await running().store.query(
      `insert into status_page_subscribers (account_id, status_page_id, id, kind, sealed,
         address_digest, token_hash, base, confirmed_at, created_at)
       select account_id, status_page_id, gen_random_uuid()::text, kind, sealed,
         convert_to(g::text, 'UTF8'), convert_to(g::text, 'UTF8'), base, now(), created_at
       from status_page_subscribers, generate_series(1, 9999) g
       where id = (select min(id) from status_page_subscribers)`,
    );
    expect(html(await ask(`${ann}/confirm`, '')).text).toContain('Your subscription');
    const refused = html(await ask(`${bob}/confirm`, ''));
    expect(refused.status).toBe(409);
    expect(refused.text).toContain('has reached its limit of subscribers');
    expect(refused.text).toContain('Confirm the subscription');
    // It is confirmed already.
    expect(html(await ask(`${ann}/confirm`, '')).status).toBe(200);
  });

  it('the answer to an address is the same whether it is subscribed or not', async () => {
    const server = await sending();
    const page = await makePage(service());
    const path = `/status/${page.url}`;
    const subscribe = (email: string) =>
      ask(`${path}/subscribe`, `email=${encodeURIComponent(email)}&scope=all`);
    await subscribe('ann@example.com');
    await eventually(() => server.mails.length === 1);
    await ask(`${path}/subscriptions/${tokenIn(server.mails[0])}/confirm`, '');
    const [known, unknown] = [
      await subscribe('ann@example.com'),
      await subscribe('bob@example.com'),
    ];
    // Headers that differ between any two requests.
    const volatile = ['date', 'x-request-id', 'x-ratelimit-remaining', 'x-ratelimit-reset'];
    const shown = ({ status, text, headers }: Reply) => ({
      status,
      text,
      headers: Object.entries(headers).filter(([name]) => !volatile.includes(name)),
    });
    expect(shown(known)).toEqual(shown(unknown));
  });

  it('a page of another site cannot subscribe anybody', async () => {
    const page = await makePage(service());
    const path = `/status/${page.url}/subscribe`;
    const body = 'email=ann%40example.com';
    for (const headers of [{ origin: 'https://evil.test' }, { 'sec-fetch-site': 'cross-site' }]) {
      const reply = await ask(path, body, { ...FORM, ...headers });
      expect(reply.status).toBe(403);
    }
    const own = await ask(path, body, { ...FORM, origin: PUBLIC_URL });
    expect(own.status).toBe(202);
  });

  it.each([
    'ann',
    'ann@example.com\r\nBcc: bob@example.com',
    'ann@example.com\u0000',
    'ann@example.com,bob@example.com',
    '"<b>"@example.com',
    'änn@exämple.com',
    `${'a'.repeat(310)}@b.example`,
    'ann@[127.0.0.1]',
    ' ',
  ])('refuses the address %j and sends nothing', async (email) => {
    const page = await makePage(service());
    const path = `/status/${page.url}/subscribe`;
    const reply = await ask(path, `email=${encodeURIComponent(email)}`);
    expect(html(reply).status).toBe(400);
    expect(reply.text).toMatch(
      /<p class="card" role="alert"><strong>The (?:email address|form) must /,
    );
    const json = { 'content-type': 'application/json' };
    expect((await ask(path, JSON.stringify({ email }), json)).status).toBe(400);
    expect(await running().store.query('select 1 as one from status_page_subscribers')).toEqual([]);
  });

  it('programs subscribe webhooks by JSON, and get the key of signatures once', async () => {
    const server = await hookServer(({ body }, response) => {
      response.end(JSON.parse(body).challenge);
    });
    const page = await makePage(service());
    const path = `/status/${page.url}`;
    const json = { 'content-type': 'application/json' };
    const made = await ask(`${path}/subscribe`, JSON.stringify({ url: server.url }), json);
    expect(made.status).toBe(201);
    expect(made.json).toEqual({
      secret: expect.stringMatching(/^[\w-]{43}$/),
      unsubscribeUrl: expect.stringContaining(`${page.base}/subscriptions/`),
    });
    const leave = made.json.unsubscribeUrl.replace(PUBLIC_URL, '');
    expect((await ask(leave, '')).status).toBe(200);
    const again = await ask(`${path}/subscribe`, JSON.stringify({ url: server.url }), json);
    expect(again.status).toBe(201);
    for (const url of ['ftp://example.com', 'http://user:p@example.com', 'http://example.com:25']) {
      const wrong = await ask(`${path}/subscribe`, JSON.stringify({ url }), json);
      expect(wrong.status).toBe(400);
    }
  });

  it('a private page shows its forms to nobody, and lets its subscribers leave', async () => {
    const server = await sending();
    const page = await makePage(service());
    const path = `/status/${page.url}`;
    await ask(`${path}/subscribe`, 'email=ann%40example.com');
    await eventually(() => server.mails.length === 1);
    await service().mine.patch(`/v1/status-pages/${page.pageId}`, { isPrivate: true });
    const link = `${path}/subscriptions/${tokenIn(server.mails[0])}`;
    const unknown = `${path}/subscriptions/${'x'.repeat(43)}`;
    for (const [asked, body] of [
      [`${path}/subscribe`],
      [`${path}/subscribe`, 'email=a%40b.test'],
      [unknown],
      [`${unknown}/unsubscribe`, ''],
    ] as const) {
      const reply = await ask(asked, body);
      const missing = await ask(asked.replace(page.url, 'no-such-page'), body);
      // The form for a password names the address that was asked for.
      const text = reply.text.replaceAll(page.url, 'no-such-page');
      expect([reply.status, text]).toEqual([404, missing.text]);
    }
    expect((await ask(`${link}/unsubscribe`, 'List-Unsubscribe=One-Click')).status).toBe(200);
  });
});
