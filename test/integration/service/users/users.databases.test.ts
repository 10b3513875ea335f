import { randomBytes } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Role } from '../../../../src/model/enums.ts';
import { apiRoutes } from '../../../../src/service/api-routes.ts';
import type { Store } from '../../../../src/service/database/store.ts';
import { unavailable } from '../../../../src/service/errors.ts';
import { databases } from '../../../support/database/databases.ts';
import type { FakeClock } from '../../../support/fake-clock.ts';
import { type ServiceApp, startServiceApp } from '../../../support/service/service-app.ts';
import { TEST_PASSWORDS, testFeatures } from '../../../support/service/service-features.ts';
import {
  type Client,
  problemsIn,
  useAccounts,
  useRunningService,
} from '../../../support/service/service-fixture.ts';
import { type Browser, openBrowser } from '../../../support/users/browser.ts';

const PASSWORD = 'correct horse battery';
/** A change takes effect on other replicas after this at the latest. */
const CACHE_TTL_MS = 5000;

let people = 0;

describe.each(databases)('on %s', (kind) => {
  describe('users', () => {
    const running = useRunningService(kind);
    const service = useAccounts(running);

    const newEmail = (): string => {
      people += 1;
      return `person-${people}@example.com`;
    };
    const browserOf = (): Browser => openBrowser(running().app.port);
    const invite = async (account: Client, role: Role, email = newEmail()) => {
      const made = await account.post('/v1/invitations', { email, role });
      expect(made.status, made.text).toBe(201);
      const token = String(made.json.url).split('/').at(-1) ?? '';
      return { email, token, id: String(made.json.id), url: String(made.json.url) };
    };
    const accept = async (
      token: string,
      browser = browserOf(),
      password: string | null = PASSWORD,
    ) => {
      const body = password === null ? { token } : { token, password };
      return {
        browser,
        reply: await browser.ask('/v1/invitations/accept', { method: 'POST', body }),
      };
    };
    /** A user of the account, signed in. */
    const newUser = async (account: Client, role: Role) => {
      const { email, token } = await invite(account, role);
      const { browser, reply } = await accept(token);
      expect(reply.status, reply.text).toBe(204);
      const { json } = await browser.ask('/v1/session');
      return { email, browser, id: String(json.user.id) };
    };
    const signIn = async (email: string, password: string, browser = browserOf()) => {
      const body = { email, password };
      return { browser, reply: await browser.ask('/v1/session', { method: 'POST', body }) };
    };

    it('join by an invitation, whose link works once and is stored as a hash', async () => {
      const { mine, store } = service();
      const { email, token, url } = await invite(mine, 'write', ' Person@Example.com'.trim());
      expect(url).toBe(`http://127.0.0.1:${running().app.port}/invitations/${token}`);
      const rows = await store.query('select * from one_time_links where email = $1', [
        email.toLowerCase(),
      ]);
      expect(rows).toHaveLength(1);
      expect(JSON.stringify(rows)).not.toContain(token);
      const { browser, reply } = await accept(token);
      expect(reply.status).toBe(204);
      expect((await browser.ask('/v1/session')).json).toEqual({
        user: { id: expect.any(String), email: 'person@example.com' },
        accounts: [{ id: mine.accountId, name: 'mine', role: 'write' }],
      });
      expect((await accept(token)).reply.status).toBe(404);
      expect((await mine.get('/v1/invitations')).json).toEqual([]);
    });

    it('do not join by a link that has expired or was withdrawn', async () => {
      const { mine, clock } = service();
      const withdrawn = await invite(mine, 'read');
      expect((await mine.delete(`/v1/invitations/${withdrawn.id}`)).status).toBe(204);
      expect((await accept(withdrawn.token)).reply.status).toBe(404);
      const late = await invite(mine, 'read');
      clock.spend(8 * 86_400_000);
      expect((await accept(late.token)).reply.status).toBe(404);
      expect((await mine.get('/v1/invitations')).json).toEqual([]);
    });

    it('join once by a link that two browsers open at once', async () => {
      const { mine } = service();
      const { token } = await invite(mine, 'read');
      const replies = await Promise.all([accept(token), accept(token), accept(token)]);
      const joined = replies.filter(({ reply }) => reply.status === 204);
      expect(joined).toHaveLength(1);
      expect((await mine.get('/v1/users')).json).toHaveLength(1);
    });

    it.each([
      ['short', 'seven77'],
      ['long', 'x'.repeat(257)],
    ])('choose no password that is too %s', async (_what, password) => {
      const { mine } = service();
      const { token } = await invite(mine, 'read');
      const { reply } = await accept(token, browserOf(), password);
      expect(reply.status).toBe(400);
      expect(problemsIn(reply).join()).toMatch(/^body\.password must have at (least|most)/);
      expect((await accept(token)).reply.status).toBe(204);
    });

    it('get an error that a password is missing', async () => {
      const { mine } = service();
      const { token } = await invite(mine, 'read');
      const { reply } = await accept(token, browserOf(), null);
      expect(reply.status).toBe(400);
      expect(problemsIn(reply)).toEqual(['body.password is missing; it must be text']);
    });

    it('of two accounts join the second with their own password, or signed in', async () => {
      const { mine, theirs, clock } = service();
      const { email, browser } = await newUser(mine, 'read');
      clock.spend(1000);
      const second = await invite(theirs, 'admin', email);
      expect((await accept(second.token, browserOf(), 'another password')).reply.status).toBe(401);
      expect((await accept(second.token, browser, null)).reply.status).toBe(204);
      const { json } = await browser.ask('/v1/session');
      expect(json.accounts.map(({ role }: { role: string }) => role)).toEqual(['read', 'admin']);
      const as = (account: string) =>
        browser.ask('/v1/users', { headers: { 'x-service-account': account } });
      expect((await as(mine.accountId)).status).toBe(403);
      expect((await as(theirs.accountId)).json).toHaveLength(1);
      expect((await as('5f0c8a8e-0000-4000-8000-000000000009')).status).toBe(403);
      // Without the header it is the account that the user joined first.
      expect((await browser.ask('/v1/users')).status).toBe(403);
    });

    it('have the rights of their role, which an admin can change', async () => {
      const { mine } = service();
      const admin = await newUser(mine, 'admin');
      const reader = await newUser(mine, 'read');
      const snippet = (browser: Browser) =>
        browser.ask('/v1/snippets', { method: 'POST', body: { name: 'login', script: 'a' } });
      const refused = await snippet(reader.browser);
      expect(refused.json).toMatchObject({
        statusCode: 403,
        message: 'This needs the role write; yours is read',
        attributes: { role: 'read', needed: 'write' },
      });
      const path = `/v1/users/${reader.id}`;
      const body = { role: 'admin' };
      const changed = await admin.browser.ask(path, { method: 'PATCH', body });
      expect(changed.json).toMatchObject({ id: reader.id, email: reader.email, role: 'admin' });
      expect((await snippet(reader.browser)).status).toBe(201);
    });

    it('that are removed have no rights at once, and are not found by others', async () => {
      const { mine, theirs } = service();
      const { browser, id } = await newUser(mine, 'write');
      expect((await browser.ask('/v1/checks')).status).toBe(200);
      expect((await theirs.get(`/v1/users/${id}`)).status).toBe(404);
      expect((await theirs.delete(`/v1/users/${id}`)).status).toBe(404);
      expect((await mine.delete(`/v1/users/${id}`)).status).toBe(204);
      expect((await browser.ask('/v1/checks')).status).toBe(403);
      expect((await browser.ask('/v1/session')).json.accounts).toEqual([]);
    });

    it.each([
      ['was removed', (path: string, mine: Client) => mine.delete(path)],
      ['got a lower role', (path: string, mine: Client) => mine.patch(path, { role: 'write' })],
    ])('do not join as admins by a link of an admin who %s', async (_what, lose) => {
      const { mine, theirs } = service();
      const { browser, id } = await newUser(mine, 'admin');
      const made = await browser.ask('/v1/invitations', {
        method: 'POST',
        body: { email: newEmail(), role: 'admin' },
      });
      const [asReader, elsewhere] = [await invite(mine, 'read'), await invite(theirs, 'admin')];
      expect((await lose(`/v1/users/${id}`, mine)).status).toBeLessThan(300);
      expect((await accept(String(made.json.url).split('/').at(-1) ?? '')).reply.status).toBe(404);
      for (const { token } of [asReader, elsewhere]) {
        expect((await accept(token)).reply.status).toBe(204);
      }
    });

    it('do not come back by a link to the email of the user who was removed', async () => {
      const { mine, store } = service();
      const { email, id } = await newUser(mine, 'read');
      const { token } = await invite(mine, 'write');
      // As if the user had joined without the link.
      await store.query('update one_time_links set email = $1 where account_id = $2', [
        email,
        mine.accountId,
      ]);
      expect((await mine.delete(`/v1/users/${id}`)).status).toBe(204);
      expect((await accept(token)).reply.status).toBe(404);
    });

    it('do not become admins by an invitation of before an admin key was revoked', async () => {
      const { mine } = service();
      const made = async (role: Role) =>
        (await mine.post('/v1/api-keys', { name: role, role })).json;
      const [leaked, reader] = [await made('admin'), await made('read')];
      const [admin, writer] = [await invite(mine, 'admin'), await invite(mine, 'write')];
      expect((await mine.delete(`/v1/api-keys/${reader.id}`)).status).toBe(204);
      expect((await mine.get('/v1/invitations')).json).toHaveLength(2);
      expect((await mine.delete(`/v1/api-keys/${leaked.id}`)).status).toBe(204);
      expect((await accept(admin.token)).reply.status).toBe(404);
      expect((await accept(writer.token)).reply.status).toBe(204);
    });

    it('leave the account one admin', async () => {
      const { mine } = service();
      const [one, other] = [await newUser(mine, 'admin'), await newUser(mine, 'admin')];
      const [key] = (await mine.get('/v1/api-keys')).json;
      // With an admin who is a user, no admin key is needed.
      expect((await mine.delete(`/v1/api-keys/${key.id}`)).status).toBe(204);
      const replies = await Promise.all([
        one.browser.ask(`/v1/users/${other.id}`, { method: 'DELETE' }),
        other.browser.ask(`/v1/users/${one.id}`, { method: 'PATCH', body: { role: 'read' } }),
      ]);
      expect(replies.filter(({ status }) => status < 300)).toHaveLength(1);
      expect(replies.filter(({ status }) => status === 409 || status === 403)).toHaveLength(1);
    });

    it('sign in and out by email and password, with a new token each time', async () => {
      const { mine, store } = service();
      const { email } = await newUser(mine, 'read');
      const { browser, reply } = await signIn(email.toUpperCase(), PASSWORD);
      expect(reply.status).toBe(204);
      const [cookie = ''] = reply.headers['set-cookie'] ?? [];
      expect(cookie).toMatch(
        /^vedette_session=[\w-]{43}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax$/,
      );
      const [, device = ''] = reply.headers['set-cookie'] ?? [];
      expect(device).toMatch(
        /^vedette_device=[\w-]{22}\.[\w-]{43}; Path=\/; Max-Age=31536000; HttpOnly; SameSite=Lax$/,
      );
      const token = browser.cookie?.split('=')[1] ?? '';
      const sessions = JSON.stringify(await store.query('select * from user_sessions'));
      expect(sessions).not.toContain(token);
      const before = browser.cookie;
      await signIn(email, PASSWORD, browser);
      expect(browser.cookie).not.toBe(before);
      const old = { headers: { cookie: before ?? '' } };
      expect((await browserOf().ask('/v1/session', old)).status).toBe(401);
      const last = browser.cookie;
      expect((await browser.ask('/v1/session', { method: 'DELETE' })).status).toBe(204);
      expect(browser.cookie).toBeNull();
      const ended = await browserOf().ask('/v1/checks', { headers: { cookie: last ?? '' } });
      expect(ended.json.message).toBe('You are not signed in, or your session has ended');
    });

    it('get the same answer for a wrong password as for an unknown email', async () => {
      const { mine } = service();
      const { email } = await newUser(mine, 'read');
      const wrong = (await signIn(email, 'wrong password')).reply;
      const unknown = (await signIn(newEmail(), 'wrong password')).reply;
      expect(wrong.json).toEqual({
        statusCode: 401,
        error: 'Unauthorized',
        message: 'The email or the password is wrong',
        attributes: {},
      });
      expect(unknown.json).toEqual(wrong.json);
      expect(wrong.headers['set-cookie']).toBeUndefined();
    });

    it('are throttled after ten wrong passwords from an address, known or not', async () => {
      const { mine, clock } = service();
      const { email } = await newUser(mine, 'read');
      for (const each of [email, newEmail()]) {
        const tries = await Promise.all(Array.from({ length: 12 }, () => signIn(each, 'a guess')));
        const statuses = tries.map(({ reply }) => reply.status).sort();
        expect(statuses).toEqual([...Array(10).fill(401), 429, 429]);
      }
      const { reply } = await signIn(email, PASSWORD);
      expect(reply.status).toBe(429);
      expect(Number(reply.headers['retry-after'])).toBeLessThanOrEqual(900);
      clock.spend(900_000);
      expect((await signIn(email, PASSWORD)).reply.status).toBe(204);
    });

    it('sign in where they have before, in spite of wrong passwords from elsewhere', async () => {
      const { mine } = service();
      const { email, browser } = await newUser(mine, 'read');
      const stranger = await newUser(mine, 'read');
      await browser.ask('/v1/session', { method: 'DELETE' });
      for (let n = 0; n < 11; n += 1) await signIn(email, 'a guess');
      expect((await signIn(email, PASSWORD)).reply.status).toBe(429);
      // A cookie of another user or an invented one has no effect.
      const made = browserOf();
      made.device = `vedette_device=${'A'.repeat(22)}.${'A'.repeat(43)}`;
      for (const other of [stranger.browser, made]) {
        expect((await signIn(email, PASSWORD, other)).reply.status).toBe(429);
      }
      expect((await signIn(email, PASSWORD, browser)).reply.status).toBe(204);
    });

    it('are throttled after ten wrong passwords in a browser in which they have signed in', async () => {
      const { mine, clock } = service();
      const { email, browser } = await newUser(mine, 'read');
      const { device } = browser;
      const guess = async (password: string) => {
        const copy = browserOf();
        copy.device = device;
        return (await signIn(email, password, copy)).reply.status;
      };
      const statuses = await Promise.all(Array.from({ length: 12 }, () => guess('a guess')));
      expect(statuses.sort()).toEqual([...Array(10).fill(401), 429, 429]);
      expect(await guess(PASSWORD)).toBe(429);
      // Elsewhere the user signs in as ever.
      expect((await signIn(email, PASSWORD)).reply.status).toBe(204);
      clock.spend(900_000);
      expect(await guess(PASSWORD)).toBe(204);
    });

    it('are not known any more in a browser of before a change of the password', async () => {
      const { mine } = service();
      const { email, browser } = await newUser(mine, 'read');
      const stolen = browserOf();
      stolen.device = browser.device;
      const body = { currentPassword: PASSWORD, newPassword: 'another long one' };
      expect((await browser.ask('/v1/password', { method: 'PUT', body })).status).toBe(204);
      for (let n = 0; n < 11; n += 1) await signIn(email, 'a guess');
      const statusIn = async (where: Browser) =>
        (await signIn(email, 'another long one', where)).reply.status;
      expect([await statusIn(stolen), await statusIn(browser)]).toEqual([429, 204]);
    });

    it('may sign in often: only what fails is counted', async () => {
      const { mine } = service();
      const { email } = await newUser(mine, 'read');
      for (let n = 0; n < 12; n += 1) {
        expect((await signIn(email, PASSWORD)).reply.status).toBe(204);
      }
    });

    it('list their sessions, end one of them, and sign out everywhere', async () => {
      const { mine } = service();
      const { email, browser } = await newUser(mine, 'read');
      const [second, third] = [await signIn(email, PASSWORD), await signIn(email, PASSWORD)];
      const list = (await browser.ask('/v1/sessions')).json;
      expect(list).toHaveLength(3);
      const own = list.filter(({ current }: { current: boolean }) => current);
      expect(own).toHaveLength(1);
      expect(own[0]).toMatchObject({ address: '127.0.0.1', userAgent: '', user_agent: '' });
      expect(own[0].ends_at).toBe(own[0].endsAt);
      const { json } = await second.browser.ask('/v1/sessions');
      const { id } = json.find(({ current }: { current: boolean }) => current);
      const stranger = await newUser(mine, 'admin');
      const end = { method: 'DELETE' };
      expect((await stranger.browser.ask(`/v1/sessions/${id}`, end)).status).toBe(404);
      expect((await browser.ask(`/v1/sessions/${id}`, end)).status).toBe(204);
      expect((await second.browser.ask('/v1/session')).status).toBe(401);
      expect((await third.browser.ask('/v1/session')).status).toBe(200);
      expect((await browser.ask('/v1/sessions', end)).status).toBe(204);
      expect((await third.browser.ask('/v1/session')).status).toBe(401);
      expect((await stranger.browser.ask('/v1/session')).status).toBe(200);
    });

    it('change their password with the present one, which signs them out elsewhere', async () => {
      const { mine } = service();
      const { email, browser } = await newUser(mine, 'read');
      const elsewhere = (await signIn(email, PASSWORD)).browser;
      const before = browser.cookie;
      const change = (currentPassword: string) =>
        browser.ask('/v1/password', {
          method: 'PUT',
          body: { currentPassword, newPassword: 'another long one' },
        });
      expect((await change('a wrong one')).status).toBe(403);
      expect((await change(PASSWORD)).status).toBe(204);
      expect(browser.cookie).not.toBe(before);
      expect((await browser.ask('/v1/session')).status).toBe(200);
      expect((await elsewhere.ask('/v1/session')).status).toBe(401);
      expect((await signIn(email, PASSWORD)).reply.status).toBe(401);
      expect((await signIn(email, 'another long one')).reply.status).toBe(204);
    });

    it('are signed out when the session is not used, and at its end in any case', async () => {
      const { mine, clock } = service();
      const { email, browser } = await newUser(mine, 'read');
      clock.spend(72 * 3_600_000 + 1);
      expect((await browser.ask('/v1/session')).status).toBe(401);
      await signIn(email, PASSWORD, browser);
      for (let day = 0; day < 29; day += 1) {
        clock.spend(86_400_000);
        expect((await browser.ask('/v1/session')).status).toBe(200);
      }
      clock.spend(86_400_000);
      expect((await browser.ask('/v1/session')).status).toBe(401);
    });

    it('change nothing by a request that another site may have caused', async () => {
      const { mine } = service();
      const { email, browser } = await newUser(mine, 'admin');
      const body = { name: 'login', script: 'a' };
      const { cookie } = browser;
      const post = (headers: Record<string, string>) =>
        browserOf().ask('/v1/snippets', {
          method: 'POST',
          body,
          headers: { cookie: cookie ?? '', ...headers },
        });
      for (const headers of [
        { origin: 'https://evil.example' },
        { origin: 'null' },
        { origin: '' },
        { 'sec-fetch-site': 'cross-site' },
        { 'sec-fetch-site': 'same-site' },
      ]) {
        expect((await post(headers)).status, JSON.stringify(headers)).toBe(403);
      }
      const noOrigin = await running().app.ask('/v1/snippets', {
        key: null,
        method: 'POST',
        body,
        headers: { cookie: cookie ?? '' },
      });
      expect(noOrigin.status).toBe(403);
      expect((await mine.get('/v1/snippets')).json).toEqual([]);
      const forged = { headers: { origin: 'https://evil.example' } };
      const login = await browserOf().ask('/v1/session', {
        method: 'POST',
        body: { email, password: PASSWORD },
        ...forged,
      });
      expect([login.status, login.headers['set-cookie']]).toEqual([403, undefined]);
      expect((await post({})).status).toBe(201);
    });

    it('with a key as well act by the key', async () => {
      const { mine, clientWith } = service();
      const { browser } = await newUser(mine, 'admin');
      const { json } = await mine.post('/v1/api-keys', { name: 'r', role: 'read' });
      expect((await browser.ask('/v1/users', { key: json.key })).status).toBe(403);
      const reader = await clientWith('read');
      expect((await reader.get('/v1/session')).json.message).toBe(
        'This is for users who are signed in, not for keys',
      );
    });

    it('behind a proxy with Basic authentication are signed in by their cookie', async () => {
      const { mine } = service();
      const { browser } = await newUser(mine, 'read');
      const ask = (authorization: string) =>
        browser.ask('/v1/session', { headers: { authorization } });
      expect((await ask('Basic dXNlcjpwYXNzd29yZA==')).status).toBe(200);
      expect((await ask('Bearer')).status).toBe(401);
    });

    it('are listed by admins in pages, in the order in which they joined', async () => {
      const { mine, clock } = service();
      const joined: string[] = [];
      for (let n = 0; n < 3; n += 1) {
        clock.spend(1000);
        joined.push((await newUser(mine, 'read')).email);
      }
      const emails = async (query: string): Promise<unknown> =>
        (await mine.get(`/v1/users${query}`)).json.map(({ email }: { email: string }) => email);
      expect(await emails('')).toEqual(joined);
      expect(await emails('?limit=2&page=2')).toEqual(joined.slice(2));
    });

    it('signed out on another replica are signed out here within five seconds', async () => {
      const { mine, clock, store } = service();
      const { browser } = await newUser(mine, 'read');
      const other = await secondReplica(store, clock);
      const there = openBrowser(other.port);
      there.cookie = browser.cookie;
      expect((await there.ask('/v1/session')).status).toBe(200);
      expect((await browser.ask('/v1/session')).status).toBe(200);
      expect((await there.ask('/v1/session', { method: 'DELETE' })).status).toBe(204);
      clock.spend(CACHE_TTL_MS + 1);
      expect((await browser.ask('/v1/session')).status).toBe(401);
    });
  });
});

describe.each(databases)('on %s', (kind) => {
  describe('users at an address that sent many wrong keys', () => {
    const running = useRunningService(kind);
    const service = useAccounts(running);

    it('sign in and join in spite of a cookie whose session has ended', async () => {
      const browserWithStaleCookie = (): Browser => {
        const browser = openBrowser(running().app.port);
        browser.cookie = `vedette_session=${randomBytes(32).toString('base64url')}`;
        return browser;
      };
      const refusedOf = async () => (await browserWithStaleCookie().ask('/v1/session')).status;
      const statuses = await Promise.all(Array.from({ length: 101 }, refusedOf));
      expect(statuses).toContain(401);
      expect(await refusedOf()).toBe(429);

      const email = 'guest@example.com';
      const { json } = await service().mine.post('/v1/invitations', { email, role: 'read' });
      const { pathname } = new URL(json.url);
      expect((await browserWithStaleCookie().ask(pathname)).status).toBe(200);
      const guest = browserWithStaleCookie();
      expect((await guest.submit(pathname, { password: PASSWORD })).status).toBe(303);
      expect((await guest.ask('/v1/session')).status).toBe(200);

      expect((await browserWithStaleCookie().ask('/sign-in')).status).toBe(200);
      const byForm = browserWithStaleCookie();
      expect((await byForm.submit('/sign-in', { email, password: PASSWORD })).status).toBe(303);
      expect((await byForm.ask('/v1/session')).status).toBe(200);
      const body = { email, password: PASSWORD };
      const byApi = browserWithStaleCookie();
      expect((await byApi.ask('/v1/session', { method: 'POST', body })).status).toBe(204);
      expect((await byApi.ask('/v1/session')).status).toBe(200);
    });
  });

  describe('users whose password is being checked', () => {
    /** Runs once, after the next check of a password. */
    let afterCheck: (() => Promise<unknown>) | null = null;
    const running = useRunningService(kind, {
      passwords: {
        hash: TEST_PASSWORDS.hash,
        async check(stored, password) {
          const verdict = await TEST_PASSWORDS.check(stored, password);
          const run = afterCheck;
          afterCheck = null;
          await run?.();
          return verdict;
        },
      },
    });
    const service = useAccounts(running);
    const newUser = async () => {
      people += 1;
      const email = `checked-${people}@example.com`;
      const { json } = await service().mine.post('/v1/invitations', { email, role: 'read' });
      const browser = openBrowser(running().app.port);
      await browser.submit(new URL(json.url).pathname, { password: PASSWORD });
      return { email, browser };
    };
    const signIn = (email: string, password: string) =>
      openBrowser(running().app.port).ask('/v1/session', {
        method: 'POST',
        body: { email, password },
      });
    const change = (browser: Browser) =>
      browser.ask('/v1/password', {
        method: 'PUT',
        body: { currentPassword: PASSWORD, newPassword: 'another long one' },
      });
    /** As when the identity provider takes the user over. */
    const removePassword = (email: string) =>
      service().store.query('update users set password_hash = null where email = $1', [email]);

    it('do not sign in by the old one after it was changed', async () => {
      const { email, browser } = await newUser();
      afterCheck = () => change(browser);
      expect((await signIn(email, PASSWORD)).status).toBe(401);
      expect((await browser.ask('/v1/sessions')).json).toHaveLength(1);
      expect((await signIn(email, 'another long one')).status).toBe(204);
    });

    it('do not sign in by one that was removed, nor set another one', async () => {
      const { email, browser } = await newUser();
      afterCheck = () => removePassword(email);
      expect((await change(browser)).status).toBe(409);
      const select = 'select password_hash from users where email = $1';
      expect(await service().store.query(select, [email])).toEqual([{ passwordHash: null }]);
      const other = await newUser();
      afterCheck = () => removePassword(other.email);
      expect((await signIn(other.email, PASSWORD)).status).toBe(401);
    });

    it('do not lose attempts by checks that ended without a verdict', async () => {
      const { email } = await newUser();
      for (let n = 0; n < 12; n += 1) {
        afterCheck = async () => {
          throw unavailable('Too many passwords are checked at once; try again', 5);
        };
        expect((await signIn(email, 'a guess')).status).toBe(503);
      }
      expect((await signIn(email, PASSWORD)).status).toBe(204);
    });
  });
});

/** Another service on the same database. */
async function secondReplica(store: Store, clock: FakeClock): Promise<ServiceApp> {
  const { features, close } = await testFeatures(store, clock);
  const app = await startServiceApp(apiRoutes(features, new AbortController().signal), {
    store,
    clock,
    authenticator: features.apiKeys,
    locationKeys: features.locationKeys,
    auditLog: features.auditLog,
    sessions: features.sessions.cache,
    serviceAddress: features.serviceAddress,
  });
  onTestFinished(async () => {
    await app.close();
    await close();
  });
  return app;
}
