import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { addAccount, inviteUser } from '../../../../src/service/accounts/operator.ts';
import { databases, silentLog } from '../../../support/database/databases.ts';
import { until } from '../../../support/service/deployment.ts';
import {
  type Client,
  problemsIn,
  useAccounts,
  useRunningService,
} from '../../../support/service/service-fixture.ts';
import { openBrowser } from '../../../support/users/browser.ts';

const PASSWORD = 'correct horse battery';
const DAY_MS = 86_400_000;
const CHECK = {
  checkType: 'URL',
  name: 'Shop',
  locations: ['eu-central-1'],
  request: { url: 'https://shop.test/' },
};

let people = 0;

describe.each(databases)('on %s', (kind) => {
  describe('the audit log', () => {
    const running = useRunningService(kind);
    const service = useAccounts(running);

    const entries = async (account: Client, query = '') => {
      const { status, json, text } = await account.get(`/v1/audit-log${query}`);
      expect(status, text).toBe(200);
      return json;
    };
    const newUser = async (account: Client, role: string) => {
      people += 1;
      const email = `audited-${people}@example.com`;
      const invited = await account.post('/v1/invitations', { email, role });
      const token = String(invited.json.url).split('/').at(-1);
      const browser = openBrowser(running().app.port);
      const body = { token, password: PASSWORD };
      expect((await browser.ask('/v1/invitations/accept', { method: 'POST', body })).status).toBe(
        204,
      );
      return { email, browser };
    };

    it('shows who made, changed and deleted a check, with the fields before and after', async () => {
      const { mine } = service();
      const { json: check } = await mine.post('/v1/checks', CHECK);
      const path = `/v1/checks/${check.id}`;
      await mine.patch(path, { name: 'Shop 2', request: { url: 'https://shop.test/cart' } });
      await mine.delete(path);
      const [deleted, changed, made] = await entries(mine, `?resourceId=${check.id}`);
      expect(made).toMatchObject({
        actor: { kind: 'key', id: expect.any(String), name: 'first' },
        address: '127.0.0.1',
        action: 'create',
        kind: 'check',
        resourceName: 'Shop',
        droppedChanges: 0,
        count: 1,
      });
      expect(made.changes).toContainEqual({ field: 'name', after: 'Shop' });
      expect(made.changes).toContainEqual({
        field: 'request',
        after: expect.objectContaining({ url: 'https://shop.test/' }),
      });
      expect(changed).toMatchObject({ action: 'update', resourceName: 'Shop 2' });
      expect(changed.changes).toContainEqual({ field: 'name', before: 'Shop', after: 'Shop 2' });
      expect(changed.changes).toContainEqual({
        field: 'request.url',
        before: 'https://shop.test/',
        after: 'https://shop.test/cart',
      });
      expect(changed.changes.map(({ field }: { field: string }) => field)).not.toContain('tags');
      expect(deleted).toMatchObject({ action: 'delete', resourceName: 'Shop 2' });
      expect(deleted.changes).toContainEqual({ field: 'name', before: 'Shop 2' });
    });

    it('has an entry for each check of a bulk request, and none for its dry run', async () => {
      const { mine } = service();
      const { json: first } = await mine.post('/v1/checks', CHECK);
      const { json: second } = await mine.post('/v1/checks', { ...CHECK, name: 'Blog' });
      const bulk = async (body: object) => {
        const { status, text } = await mine.post('/v1/checks/bulk', body);
        expect(status, text).toBe(200);
      };
      const ids = [first.id, second.id];
      await bulk({ action: 'mute', ids, dryRun: true });
      await bulk({ action: 'mute', ids });
      await bulk({ action: 'create', checks: [{ ...CHECK, name: 'Third' }] });
      await bulk({ action: 'delete', ids: [first.id] });
      const found = await entries(mine, '?kind=check&limit=4');
      expect(
        found.map(({ action, resourceName }: { action: string; resourceName: string }) => [
          action,
          resourceName,
        ]),
      ).toEqual([
        ['delete', 'Shop'],
        ['create', 'Third'],
        ['update', 'Blog'],
        ['update', 'Shop'],
      ]);
      expect(found[2].changes).toContainEqual({ field: 'muted', before: false, after: true });
    });

    it('has no entry for a request that was refused', async () => {
      const { mine } = service();
      await mine.post('/v1/snippets', { name: 'login', script: 'a' });
      const before = await entries(mine);
      expect((await mine.post('/v1/snippets', { name: 'login', script: 'b' })).status).toBe(409);
      expect((await mine.post('/v1/snippets', { name: '' })).status).toBe(400);
      expect((await mine.delete('/v1/snippets/999999')).status).toBe(404);
      expect(await entries(mine)).toEqual(before);
    });

    it('lets two changes at once follow one another', async () => {
      const { mine } = service();
      const { json: snippet } = await mine.post('/v1/snippets', { name: 'login', script: '0' });
      const scripts = ['1', '2', '3', '4', '5'];
      await Promise.all(
        scripts.map((script) => mine.patch(`/v1/snippets/${snippet.id}`, { script })),
      );
      const changes = (await entries(mine, '?kind=snippet&action=update')).map(
        (entry: { changes: { field: string }[] }) =>
          entry.changes.find(({ field }) => field === 'script'),
      );
      expect(changes).toHaveLength(5);
      const befores = changes.map(({ before }: { before: string }) => before).sort();
      const afters = changes.map(({ after }: { after: string }) => after).sort();
      expect(afters).toEqual(scripts);
      expect(new Set(befores).size).toBe(5);
      expect(befores).toContain('0');
    });

    it('masks the values of secret and locked variables, of secret headers and of webhooks', async () => {
      const { mine, store } = service();
      const SECRETS = ['s3cret-1', 's3cret-2', 's3cret-3', 's3cret-4', 's3cret-5', 's3cret-6'];
      const [one, two, three, four, five, six] = SECRETS;
      await mine.post('/v1/variables', { key: 'ONE', value: one, secret: true });
      await mine.patch('/v1/variables/ONE', { value: two });
      await mine.post('/v1/variables', { key: 'LOCKED', value: one, locked: true });
      await mine.patch('/v1/variables/LOCKED', { value: two });
      await mine.post('/v1/variables', { key: 'SHOP_PASSWORD', value: three });
      await mine.post('/v1/checks', {
        ...CHECK,
        checkType: 'API',
        request: {
          method: 'GET',
          url: `https://user:${four}@shop.test/`,
          headers: [{ key: 'X-Api-Key', value: five }],
          basicAuth: { username: 'user', password: six },
        },
        variables: [{ key: 'OWN', value: one, secret: true }],
      });
      const hook = await mine.post('/v1/alert-channels', {
        type: 'WEBHOOK',
        config: {
          name: 'Hook',
          url: `https://hooks.test/${one}?a=${two}`,
          headers: [{ key: 'x-a', value: three, locked: true }],
          queryParameters: [{ key: 'token', value: four }],
          webhookSecret: five,
        },
      });
      expect(hook.status, hook.text).toBe(201);
      await mine.delete(`/v1/alert-channels/${hook.json.id}`);
      const beat = await mine.post('/v1/checks/heartbeats', {
        name: 'Job',
        heartbeat: { period: 1, periodUnit: 'DAYS', grace: 1, graceUnit: 'HOURS' },
      });
      const { pingToken } = beat.json.heartbeat;
      const renewed = await mine.post(`/v1/checks/heartbeats/${beat.json.id}/ping-token`);
      const { json: key } = await mine.post('/v1/api-keys', { name: 'k', role: 'admin' });
      const rows = JSON.stringify(await store.query('select * from audit_log'));
      for (const secret of [...SECRETS, pingToken, renewed.json.heartbeat.pingToken, key.key]) {
        expect(rows).not.toContain(secret);
      }
      const [locked] = await entries(mine, '?resourceId=LOCKED&action=update');
      const changed = locked.changes.map(({ field }: { field: string }) => field);
      expect(changed).toEqual(['updated_at']);
      const [rotated] = await entries(mine, `?resourceId=${beat.json.id}`);
      expect(rotated.action).toBe('rotate');
    });

    it('cuts long values and leaves out fields beyond the bound of an entry, and says so', async () => {
      const { mine, store } = service();
      const script = `${'x'.repeat(999)}😀${'y'.repeat(50_000)}`;
      const { json: snippet } = await mine.post('/v1/snippets', { name: 'long', script });
      const [made] = await entries(mine, `?resourceId=${snippet.id}&kind=snippet`);
      const { after } = made.changes.find(({ field }: { field: string }) => field === 'script');
      expect(after).toMatch(/^x{999}.… \(cut\)$/u);
      const [row] = await store.query<{ chars: number }>(
        'select max(length(changes::text)) as chars from audit_log',
      );
      expect(row?.chars).toBeLessThan(20_000);
    });

    it('is for admins alone, each of their own account', async () => {
      const { mine, theirs, clientWith } = service();
      await theirs.post('/v1/snippets', { name: 'theirs', script: 'a' });
      expect(await entries(mine, '?kind=snippet')).toEqual([]);
      const writer = await clientWith('write');
      expect((await writer.get('/v1/audit-log')).status).toBe(403);
    });

    it('is filtered by actor, kind, action and time, and read by cursors without a loss', async () => {
      const { mine, clock, clientWith } = service();
      const writer = await clientWith('write');
      await writer.post('/v1/snippets', { name: 'a', script: 'a' });
      clock.spend(60_000);
      const at = clock.wallMs();
      await mine.post('/v1/snippets', { name: 'b', script: 'b' });
      const names = async (query: string) =>
        (await entries(mine, query)).map(
          ({ resourceName }: { resourceName: string }) => resourceName,
        );
      expect(await names('?actor=write')).toEqual(['a']);
      expect(await names('?kind=snippet&action=create')).toEqual(['b', 'a']);
      expect(await names(`?kind=snippet&from=${at}`)).toEqual(['b']);
      expect(await names(`?kind=snippet&to=${at}`)).toEqual(['a']);
      const wrong = await mine.get('/v1/audit-log?kind=thing');
      expect(wrong.status).toBe(400);
      expect(problemsIn(wrong).join()).toContain('query.kind');
      // Transactions of other tests on the same server delay what a cursor shows.
      const first = await until(
        () => mine.get('/v1/audit-log?kind=snippet&limit=1&cursor=start'),
        ({ json }) => json.length > 0,
      );
      expect(first.json[0].resourceName).toBe('a');
      const cursor = first.headers['x-next-cursor'];
      const second = await until(
        () => names(`?kind=snippet&limit=1&cursor=${cursor}`),
        ({ length }) => length > 0,
      );
      expect(second).toEqual(['b']);
    });

    it('has the sign-ins of its users, their sign-outs and changes of passwords', async () => {
      const { mine } = service();
      const { email, browser } = await newUser(mine, 'admin');
      const newPassword = 'another long password';
      await browser.ask('/v1/password', {
        method: 'PUT',
        body: { currentPassword: PASSWORD, newPassword },
      });
      await browser.ask('/v1/sessions', { method: 'DELETE' });
      const found = await entries(mine, '?kind=user');
      expect(found.map(({ action }: { action: string }) => action)).toEqual([
        'sign-out-everywhere',
        'sign-in',
        'password-change',
        'sign-in',
        'join',
      ]);
      for (const entry of found) {
        expect(entry).toMatchObject({
          actor: { kind: 'user', name: email },
          address: '127.0.0.1',
          resourceName: email,
        });
      }
      expect(found.at(-1).changes).toEqual([{ field: 'role', after: 'admin' }]);
    });

    it('has one entry for the failed sign-ins of a user in 15 minutes, and none of unknown emails', async () => {
      const { mine, features, clock, store } = service();
      const { email } = await newUser(mine, 'read');
      const { auditLog } = features;
      const fail = async (who: string) => {
        const body = { email: who, password: 'wrong password' };
        const browser = openBrowser(running().app.port);
        expect((await browser.ask('/v1/session', { method: 'POST', body })).status).toBe(401);
      };
      // The next window begins at a whole quarter of an hour.
      clock.spend(900_000 - (clock.wallMs() % 900_000));
      const { failures } = auditLog.failedSignIns.counts;
      await fail(email);
      await fail(email);
      await auditLog.failedSignIns.flush();
      await fail(email);
      await fail('nobody@example.com');
      await auditLog.failedSignIns.flush();
      expect(auditLog.failedSignIns.counts.failures - failures).toBe(4);
      const found = await entries(mine, '?action=sign-in-failed');
      expect(found).toHaveLength(1);
      expect(found[0]).toMatchObject({
        actor: { kind: 'unknown', id: null, name: null },
        resourceName: email,
        count: 3,
        address: '127.0.0.1',
      });
      clock.spend(900_000);
      await fail(email);
      await auditLog.failedSignIns.flush();
      expect(await entries(mine, '?action=sign-in-failed')).toHaveLength(2);
      const rows = JSON.stringify(await store.query('select * from audit_log'));
      expect(rows).not.toContain('nobody@example.com');
      expect(rows).not.toContain('wrong password');
    });

    it('has what the operator made on the machine of the service', async () => {
      const { store, clock, clientOf } = service();
      const parts = { store, clock, log: silentLog(), ids: randomUUID };
      const { key } = await addAccount(parts, 'Shop team');
      const given = { email: 'ann@example.com', role: 'admin', account: 'Shop team' } as const;
      const { token } = await inviteUser(parts, given);
      const [invited, made] = await entries(clientOf(key ?? ''));
      const operator = { kind: 'operator', id: null, name: null };
      expect(made).toMatchObject({ actor: operator, address: null, kind: 'api-key' });
      expect(invited).toMatchObject({
        actor: operator,
        action: 'create',
        kind: 'invitation',
        resourceName: 'ann@example.com',
      });
      const rows = JSON.stringify(await store.query('select * from audit_log'));
      expect(rows).not.toContain(key);
      expect(rows).not.toContain(token);
      await expect(inviteUser(parts, { ...given, account: null })).rejects.toThrow(
        'there are several accounts: name one with --account ACCOUNT',
      );
    });

    it('is kept for a year', async () => {
      const { mine, features, clock } = service();
      await mine.post('/v1/snippets', { name: 'old', script: 'a' });
      clock.spend(364 * DAY_MS);
      await mine.post('/v1/snippets', { name: 'new', script: 'a' });
      const removeOld = async () => {
        const stop = new AbortController();
        const maintained = features.auditLog.maintain(stop.signal);
        stop.abort();
        await maintained;
      };
      await removeOld();
      expect(await entries(mine, '?kind=snippet')).toHaveLength(2);
      clock.spend(2 * DAY_MS);
      await removeOld();
      const left = await entries(mine, '?kind=snippet');
      expect(left.map(({ resourceName }: { resourceName: string }) => resourceName)).toEqual([
        'new',
      ]);
    });
  });
});
