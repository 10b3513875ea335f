import { createHash, randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { insertAccount } from '../../../../../src/service/accounts/sql.ts';
import { databases } from '../../../../support/database/databases.ts';
import type { Reply } from '../../../../support/service/service-app.ts';
import {
  startReplica,
  useAccounts,
  useRunningService,
} from '../../../../support/service/service-fixture.ts';
import { type Browser, openBrowser } from '../../../../support/users/browser.ts';

const PASSWORD = 'correct horse battery';

describe.each(databases)('on %s', (kind) => {
  describe('the pages for getting in', () => {
    const running = useRunningService(kind);
    const browserOf = (): Browser => openBrowser(running().app.port);
    beforeEach(async () => {
      for (const table of ['users', 'one_time_links', 'accounts', 'sign_in_failures']) {
        await running().store.query(`delete from ${table}`);
      }
    });

    const setUp = async () => {
      const token = (await running().features.setup.newLink()) ?? '';
      const browser = browserOf();
      const fields = { email: 'First@Example.com', password: PASSWORD };
      return { token, browser, reply: await browser.submit(`/setup/${token}`, fields) };
    };

    it('let somebody become the first user, an admin of a new account, once', async () => {
      const { token, browser, reply } = await setUp();
      expect([reply.status, reply.headers.location]).toEqual([303, '/']);
      const page = await browser.ask('/account');
      expect(shownOn(page)).toContain('Signed in as first@example.com , in one browser');
      expect(shownOn(page)).toContain('Main role admin');
      const again = await browserOf().submit(`/setup/${token}`, {
        email: 'b@example.com',
        password: PASSWORD,
      });
      expect(again.status).toBe(404);
      expect(shownOn(again)).toContain('This link was used already');
      expect(await running().features.setup.newLink()).toBeNull();
      expect(await running().store.query('select email from users')).toHaveLength(1);
      expect(await running().store.query('select id from accounts')).toHaveLength(1);
    });

    it('make one first user where the links of two replicas are used at once', async () => {
      const { setup } = running().features;
      const tokens = [await setup.newLink(), await setup.newLink()];
      const replies = await Promise.all(
        tokens.map((token, n) =>
          browserOf().submit(`/setup/${token}`, { email: `${n}@a.test`, password: PASSWORD }),
        ),
      );
      expect(replies.map(({ status }) => status).sort()).toEqual([303, 404]);
      expect(await running().store.query('select email from users')).toHaveLength(1);
      expect(await running().store.query('select id from accounts')).toHaveLength(1);
    });

    it('refuse a setup link after a day, and offer none where there are several accounts', async () => {
      const { setup } = running().features;
      const token = await setup.newLink();
      expect((await browserOf().ask(`/setup/${token}`)).status).toBe(200);
      running().clock.spend(86_400_001);
      expect((await browserOf().ask(`/setup/${token}`)).status).toBe(404);
      await running().store.query(
        `insert into accounts (id, name) values ('one', 'One'), ('two', 'Two')`,
      );
      expect(await setup.newLink()).toBeNull();
    });

    it('offer no setup link where an account of more than a day has an admin key', async () => {
      const { store, clock, features } = running();
      const { setup, apiKeys } = features;
      const HOUR_MS = 3_600_000;
      const id = randomUUID();
      await insertAccount(store, { id, name: 'Main', createdAtMs: clock.wallMs() - 23 * HOUR_MS });
      await apiKeys.create(id, { name: 'reader', role: 'read' });
      const key = await apiKeys.create(id, { name: 'First key', role: 'admin' });
      const token = await setup.newLink();
      expect((await browserOf().ask(`/setup/${token}`)).status).toBe(200);
      clock.spend(HOUR_MS + 1);
      expect(await setup.newLink()).toBeNull();
      expect((await browserOf().ask(`/setup/${token}`)).status).toBe(404);
      const fields = { email: 'a@example.com', password: PASSWORD };
      expect((await browserOf().submit(`/setup/${token}`, fields)).status).toBe(404);
      expect(await store.query('select id from users')).toEqual([]);
      // Without an admin key there is no other access.
      await store.query('update api_keys set revoked_at = created_at where id = $1', [
        key.apiKey.id,
      ]);
      expect((await browserOf().submit(`/setup/${token}`, fields)).status).toBe(303);
    });

    it('offer the owner of a terminal a setup link at any age of the account, while there is no user', async () => {
      const { store, clock, features } = running();
      const { setup, apiKeys } = features;
      const DAY_MS = 86_400_000;
      const id = randomUUID();
      await insertAccount(store, { id, name: 'Main', createdAtMs: clock.wallMs() - 9 * DAY_MS });
      await apiKeys.create(id, { name: 'First key', role: 'admin' });
      expect(await setup.newLink('log')).toBeNull();
      const expired = await setup.newLink('owner');
      clock.spend(DAY_MS + 1);
      expect((await browserOf().ask(`/setup/${expired}`)).status).toBe(404);
      const token = await setup.newLink('owner');
      const fields = { email: 'a@example.com', password: PASSWORD };
      expect((await browserOf().submit(`/setup/${token}`, fields)).status).toBe(303);
      expect((await browserOf().submit(`/setup/${token}`, fields)).status).toBe(404);
      expect(await setup.newLink('owner')).toBeNull();
      expect(await store.query('select account_id, role from memberships')).toEqual([
        { accountId: id, role: 'admin' },
      ]);
    });

    it('say what is wrong with the fields, and keep what was typed but the password', async () => {
      const token = (await running().features.setup.newLink()) ?? '';
      const submit = (fields: Record<string, string>) =>
        browserOf().submit(`/setup/${token}`, fields);
      const short = await submit({ email: 'a@example.com', password: 'short' });
      expect(short.status).toBe(400);
      expect(shownOn(short)).toContain('The password must have at least 8 characters');
      expect(short.text).toContain('value="a@example.com"');
      expect(short.text).not.toContain('value="short"');
      const none = await submit({ password: PASSWORD });
      expect(shownOn(none)).toContain('The email is missing');
      const hostile = await submit({ email: '"><script>alert(1)</script>', password: PASSWORD });
      expect(hostile.text).not.toContain('<script>');
      expect((await submit({ email: 'a@example.com', password: PASSWORD })).status).toBe(303);
    });

    it('let a user choose a new password by a link that the operator made, once', async () => {
      const { browser } = await setUp();
      const { store, features } = running();
      const { passwordLinks } = features;
      expect(await passwordLinks.create('nobody@example.com')).toBeNull();
      const earlier = await passwordLinks.create('first@example.com');
      const { token = '' } = (await passwordLinks.create('First@Example.com')) ?? {};
      const path = `/password/${token}`;
      expect((await browserOf().ask(`/password/${earlier?.token}`)).status).toBe(404);
      expect(shownOn(await browserOf().ask(path))).toContain('For first@example.com .');
      const short = await browserOf().submit(path, { password: 'short' });
      expect([short.status, shownOn(short)]).toEqual([
        400,
        expect.stringContaining('The password must have at least 8 characters'),
      ]);
      const password = 'another battery staple';
      const own = browserOf();
      const uses = await Promise.all([
        own.submit(path, { password }),
        browserOf().submit(path, { password: 'of somebody else' }),
      ]);
      expect(uses.map(({ status }) => status).sort()).toEqual([303, 404]);
      const given = uses[0]?.status === 303 ? password : 'of somebody else';
      // The earlier session has ended.
      expect((await browser.ask('/account')).status).toBe(303);
      const signIn = (text: string) =>
        browserOf().submit('/sign-in', { email: 'first@example.com', password: text });
      expect((await signIn(PASSWORD)).status).toBe(401);
      expect((await signIn(given)).status).toBe(303);
      expect(shownOn(await browserOf().ask(path))).toContain('This link was used already');
      const actions = await store.query<{ action: string }>(
        `select action, actor_kind from audit_log where action like 'password%' order by id`,
      );
      expect(actions).toEqual([
        { action: 'password-link', actorKind: 'operator' },
        { action: 'password-link', actorKind: 'operator' },
        { action: 'password-change', actorKind: 'user' },
      ]);
    });

    it('set one new password where a link is used at two replicas at once', async () => {
      await setUp();
      const { app, features, store } = running();
      const replica = await startReplica(running());
      const { token = '' } = (await features.passwordLinks.create('first@example.com')) ?? {};
      const passwords = ['of the first replica', 'of the other replica'];
      const uses = await Promise.all(
        [app, replica.app].map(({ port }, at) =>
          openBrowser(port).submit(`/password/${token}`, { password: passwords[at] ?? '' }),
        ),
      );
      expect(uses.map(({ status }) => status).sort()).toEqual([303, 404]);
      const signIns = await Promise.all(
        passwords.map((password) =>
          browserOf().submit('/sign-in', { email: 'first@example.com', password }),
        ),
      );
      // Only the password of the request that used the link works.
      expect(signIns.map(({ status }) => status)).toEqual(
        uses.map(({ status }) => (status === 303 ? 303 : 401)),
      );
      const changes = await store.query(`select from audit_log where action = 'password-change'`);
      expect(changes).toHaveLength(1);
    });

    it('end the link for a new password when the user changes the password', async () => {
      const { browser } = await setUp();
      const { token = '' } =
        (await running().features.passwordLinks.create('first@example.com')) ?? {};
      const change = (currentPassword: string) =>
        browser.submit('/account/password', { currentPassword, newPassword: `new ${PASSWORD}` });
      await change('not the password');
      expect((await browserOf().ask(`/password/${token}`)).status).toBe(200);
      await change(PASSWORD);
      expect((await browserOf().ask(`/password/${token}`)).status).toBe(404);
      const used = await browserOf().submit(`/password/${token}`, { password: 'of the link' });
      expect(used.status).toBe(404);
    });

    it('refuse a link for a new password after a day', async () => {
      await setUp();
      const { clock, features } = running();
      const { token = '' } = (await features.passwordLinks.create('first@example.com')) ?? {};
      clock.spend(86_399_000);
      expect((await browserOf().ask(`/password/${token}`)).status).toBe(200);
      clock.spend(2_000);
      expect((await browserOf().ask(`/password/${token}`)).status).toBe(404);
      const late = await browserOf().submit(`/password/${token}`, { password: 'too late for it' });
      expect(late.status).toBe(404);
    });

    it('sign in and out, and lead to the page that was asked for', async () => {
      const { browser } = await setUp();
      expect((await browser.submit('/sign-out', {})).headers.location).toBe('/sign-in');
      const away = await browser.ask('/account');
      expect([away.status, away.headers.location]).toEqual([303, '/sign-in?next=/account']);
      const wrong = await browser.submit('/sign-in', {
        email: 'first@example.com',
        password: 'no',
      });
      expect(wrong.status).toBe(401);
      expect(shownOn(wrong)).toContain('The email or the password is wrong');
      const given = { email: 'first@example.com', password: PASSWORD, next: '/docs/checks?a=b' };
      const done = await browser.submit('/sign-in', given);
      expect([done.status, done.headers.location]).toEqual([303, '/docs/checks?a=b']);
      expect((await browser.ask('/sign-in?next=/docs')).headers.location).toBe('/docs');
    });

    it.each([
      'https://evil.example',
      '//evil.example',
      '/\\evil.example',
      '/\t/evil.example',
      'javascript:alert(1)',
      '',
    ])('never lead to another site: %s', async (next) => {
      const { browser } = await setUp();
      const page = await browser.ask(`/sign-in?next=${encodeURIComponent(next)}`);
      expect(page.headers.location).toBe('/');
      const fields = { email: 'first@example.com', password: PASSWORD, next };
      expect((await browserOf().submit('/sign-in', fields)).headers.location).toBe('/');
    });

    it('change the password, and sign out everywhere', async () => {
      const { browser } = await setUp();
      const fields = { email: 'first@example.com', password: PASSWORD };
      const elsewhere = browserOf();
      await elsewhere.submit('/sign-in', fields);
      const change = (currentPassword: string) =>
        browser.submit('/account/password', { currentPassword, newPassword: 'another long one' });
      expect(shownOn(await change('wrong'))).toContain('The current password is wrong');
      expect((await change(PASSWORD)).status).toBe(303);
      expect((await elsewhere.ask('/account')).status).toBe(303);
      expect((await browser.ask('/account')).status).toBe(200);
      await elsewhere.submit('/sign-in', { ...fields, password: 'another long one' });
      expect(shownOn(await browser.ask('/account'))).toContain('in 2 browsers');
      await browser.submit('/sign-out', { everywhere: 'yes' });
      expect((await elsewhere.ask('/account')).status).toBe(303);
    });

    it('take no form of another site', async () => {
      const { browser } = await setUp();
      const evil = openBrowser(running().app.port, 'https://evil.example');
      evil.cookie = browser.cookie;
      const given = { email: 'first@example.com', password: PASSWORD };
      const signedIn = await evil.submit('/sign-in', given);
      expect([signedIn.status, signedIn.headers['set-cookie']]).toEqual([403, undefined]);
      expect((await evil.submit('/sign-out', {})).status).toBe(403);
      const change = { currentPassword: PASSWORD, newPassword: 'another long one' };
      expect((await evil.submit('/account/password', change)).status).toBe(403);
      expect((await browser.ask('/account')).status).toBe(200);
    });

    it('run no script, and may not be framed', async () => {
      const token = await running().features.setup.newLink();
      for (const path of [
        '/sign-in',
        `/setup/${token}`,
        '/setup/x',
        '/sign-in/x',
        '/invitations/x',
        '/password/x',
      ]) {
        const { text, headers } = await browserOf().ask(path);
        expect(text).not.toMatch(/<script|\son\w+=|style=/i);
        const style = /<style>(.*)<\/style>/s.exec(text)?.[1] ?? '';
        const hash = createHash('sha256').update(style).digest('base64');
        expect(headers['content-security-policy']).toBe(
          `default-src 'none'; style-src 'sha256-${hash}'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
        );
        // With no-referrer, browsers would not send the Origin of forms.
        expect(headers['referrer-policy']).toBe('same-origin');
        expect(headers['x-content-type-options']).toBe('nosniff');
        expect(headers['cache-control']).toBe('no-store');
      }
    });
  });

  describe('the page of an invitation', () => {
    const running = useRunningService(kind);
    const service = useAccounts(running);
    const browserOf = (): Browser => openBrowser(running().app.port);

    it('let an invited user choose a password, or join with the one that exists', async () => {
      const { mine, theirs } = service();
      const invite = async (account: typeof mine) => {
        const body = { email: 'new@example.com', role: 'write' };
        return new URL((await account.post('/v1/invitations', body)).json.url).pathname;
      };
      const path = await invite(mine);
      const browser = browserOf();
      expect(shownOn(await browser.ask(path))).toContain(
        'You are invited as new@example.com , with the role write',
      );
      expect((await browser.submit(path, { password: 'short' })).status).toBe(400);
      expect((await browser.submit(path, { password: PASSWORD })).headers.location).toBe('/');
      expect((await browser.ask(path)).status).toBe(404);
      running().clock.spend(1000);
      const second = await invite(theirs);
      const other = browserOf();
      expect((await other.ask(second)).text).toContain('current-password');
      expect((await other.submit(second, { password: 'not the one' })).status).toBe(401);
      const known = await browser.ask(second);
      expect(known.text).not.toContain('type="password"');
      expect((await browser.submit(second, {})).status).toBe(303);
      expect(shownOn(await browser.ask('/account'))).toMatch(/mine role write theirs role write/);
    });
  });
});

/** The text of a page. */
function shownOn({ text }: Reply): string {
  return text.replaceAll(/<style>.*<\/style>|<[^>]*>/gs, ' ').replaceAll(/\s+/g, ' ');
}
