import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { insertAccount } from '../../../../src/service/accounts/sql.ts';
import { databases } from '../../../support/database/databases.ts';
import { startReplica, useRunningService } from '../../../support/service/service-fixture.ts';
import { type Browser, openBrowser } from '../../../support/users/browser.ts';

const PASSWORD = 'correct horse battery';
const MINUTE_MS = 60_000;

describe.each(databases)('on %s', (kind) => {
  describe('the link of vedette up that signs in', () => {
    const running = useRunningService(kind);
    const browserOf = (): Browser => openBrowser(running().app.port);
    let accountId = '';
    let key = '';
    let keyId = '';
    beforeEach(async () => {
      const { store, clock, features } = running();
      for (const table of ['users', 'one_time_links', 'accounts', 'sign_in_failures']) {
        await store.query(`delete from ${table}`);
      }
      accountId = await newAccount();
      const made = await features.apiKeys.create(accountId, { name: 'up', role: 'admin' });
      ({ key, id: keyId } = { key: made.key, id: made.apiKey.id });
      clock.spend(1);
    });
    const newAccount = async (): Promise<string> => {
      const { store, clock } = running();
      const id = randomUUID();
      await insertAccount(store, { id, name: 'Main', createdAtMs: clock.wallMs() });
      return id;
    };
    const newPath = async (): Promise<string> =>
      `/sign-in/${await running().features.signInLink.create(key)}`;
    const signedInBy = async (path: string) => {
      const browser = browserOf();
      const { status, headers } = await browser.submit(path, {});
      expect([status, headers.location]).toEqual([303, '/']);
      const { json } = await browser.ask('/v1/session');
      return { browser, email: json.user.email as string, accounts: json.accounts };
    };
    const join = async (email: string, role: 'admin' | 'read', account = accountId) => {
      const { invitations } = running().features;
      const { token } = await invitations.create(account, { email, role });
      await browserOf().submit(`/invitations/${token}`, { password: PASSWORD });
    };

    it('makes an admin of the account where there is none, and is in the audit log', async () => {
      const first = await signedInBy(await newPath());
      expect(first).toMatchObject({
        email: 'admin@localhost',
        accounts: [{ id: accountId, role: 'admin' }],
      });
      const again = await signedInBy(await newPath());
      expect(again.email).toBe('admin@localhost');
      const { json } = await again.browser.ask('/v1/audit-log?kind=user');
      const operator = { kind: 'operator', id: null };
      expect(json).toMatchObject([
        { action: 'sign-in', actor: operator, resourceName: 'admin@localhost' },
        { action: 'sign-in', actor: operator },
        { action: 'setup', actor: operator, changes: [{ field: 'role', after: 'admin' }] },
      ]);
    });

    it('signs in the only user of the account, if that is an admin of no other account', async () => {
      await join('ann@example.com', 'admin');
      expect((await signedInBy(await newPath())).email).toBe('ann@example.com');
    });

    it('never signs in one of several people, one without the role, or one of another account', async () => {
      await join('ann@example.com', 'admin');
      await join('bob@example.com', 'admin');
      expect((await signedInBy(await newPath())).email).toBe('admin@localhost');
      await running().store.query('delete from users');
      await join('ann@example.com', 'read');
      expect((await signedInBy(await newPath())).email).toBe('admin@localhost');
      await running().store.query('delete from users');
      await join('ann@example.com', 'admin');
      const { features, store } = running();
      await store.query(
        `insert into memberships (account_id, user_id, role, created_at)
         select $1, id, 'admin', created_at from users`,
        [await newAccount()],
      );
      const { email, accounts } = await signedInBy(await newPath());
      expect(email).toBe('admin@localhost');
      expect(accounts).toMatchObject([{ id: accountId }]);
      // Its email belongs to no person, so nobody can take it.
      const given = { email: 'admin@localhost', role: 'read' };
      const headers = { authorization: `Bearer ${key}` };
      const asked = { method: 'POST', key: null, headers, body: given } as const;
      expect((await running().app.ask('/v1/invitations', asked)).status).toBe(400);
      expect(await features.passwordLinks.create('nobody@localhost')).toBeNull();
    });

    it('makes another local user for a second account of the same database', async () => {
      await signedInBy(await newPath());
      const other = await newAccount();
      const { apiKeys, signInLink } = running().features;
      const made = await apiKeys.create(other, { name: 'up', role: 'admin' });
      const path = `/sign-in/${await signInLink.create(made.key)}`;
      const { email, accounts } = await signedInBy(path);
      expect(email).toMatch(/^admin-[\w-]+@localhost$/);
      expect(accounts).toMatchObject([{ id: other }]);
    });

    it('changes nothing when it is opened, and signs in once, also where it is used twice at once', async () => {
      const path = await newPath();
      for (const method of ['GET', 'HEAD', 'GET']) {
        const { status, headers } = await browserOf().ask(path, { method });
        expect([status, headers['set-cookie']]).toEqual([200, undefined]);
      }
      const uses = await Promise.all([1, 2, 3].map(() => browserOf().submit(path, {})));
      expect(uses.map(({ status }) => status).sort()).toEqual([303, 404, 404]);
      const gone = await browserOf().ask(path);
      expect([gone.status, gone.text.includes('This link was used already')]).toEqual([404, true]);
    });

    it('ends after ten minutes, with the next link, and with the key of vedette up', async () => {
      const path = await newPath();
      running().clock.spend(10 * MINUTE_MS - 1);
      expect((await browserOf().ask(path)).status).toBe(200);
      running().clock.spend(1);
      expect((await browserOf().ask(path)).status).toBe(404);
      expect((await browserOf().submit(path, {})).status).toBe(404);
      const [replaced, last] = [await newPath(), await newPath()];
      expect((await browserOf().submit(replaced, {})).status).toBe(404);
      await running().features.apiKeys.create(accountId, { name: 'other', role: 'admin' });
      await running().features.apiKeys.revoke({ accountId, id: keyId });
      const { status, headers } = await browserOf().submit(last, {});
      expect([status, headers['set-cookie']]).toEqual([404, undefined]);
      expect(await running().features.signInLink.create(key)).toBeNull();
    });

    it('is offered only to an admin key', async () => {
      const { apiKeys, signInLink } = running().features;
      const writer = await apiKeys.create(accountId, { name: 'writer', role: 'write' });
      expect(await signInLink.create(writer.key)).toBeNull();
      expect(await signInLink.create(`vk_${'0'.repeat(32)}`)).toBeNull();
    });

    it('is refused by another name than that of this machine, and by a page of another site', async () => {
      const path = await newPath();
      const { port } = running().app;
      for (const host of ['rebound.example', 'localhost.example', '127.0.0.1.example:80']) {
        const { status } = await browserOf().ask(path, { headers: { host } });
        expect([host, status]).toEqual([host, 404]);
        const post = { method: 'POST', headers: { host, origin: `http://${host}` } };
        expect((await browserOf().ask(path, post)).headers['set-cookie']).toBeUndefined();
      }
      const evil = openBrowser(port, 'http://evil.example');
      expect((await evil.submit(path, {})).status).toBe(403);
      const framed = { method: 'POST', headers: { 'sec-fetch-site': 'cross-site' } };
      expect((await browserOf().ask(path, framed)).status).toBe(403);
      for (const host of ['localhost', `[::1]:${port}`, `127.0.0.1:${port}`]) {
        expect((await browserOf().ask(path, { headers: { host } })).status).toBe(200);
      }
      expect((await browserOf().submit(path, {})).status).toBe(303);
    });

    it('is unknown to another process on the same database', async () => {
      const path = await newPath();
      const replica = await startReplica(running());
      const there = openBrowser(replica.app.port);
      expect((await there.ask(path)).status).toBe(404);
      expect((await there.submit(path, {})).status).toBe(404);
      expect((await browserOf().submit(path, {})).status).toBe(303);
    });
  });
});
