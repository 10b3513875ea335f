import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { plansSchema } from '../../../../src/model/account/plan.ts';
import { createAllowance } from '../../../../src/service/accounts/allowance.ts';
import { lockAccount } from '../../../../src/service/accounts/sql.ts';
import { createCheckGroups } from '../../../../src/service/check-groups/check-groups.ts';
import { createChecks } from '../../../../src/service/checks/checks.ts';
import { createSnippets } from '../../../../src/service/snippets/snippets.ts';
import { createVariables } from '../../../../src/service/variables/variables.ts';
import { databases, silentLog } from '../../../support/database/databases.ts';
import {
  NONE_OUTDATED,
  TEST_CHECK_VARIABLES,
  testFeatures,
} from '../../../support/service/service-features.ts';
import {
  HOSTILE,
  problemsIn,
  useAccounts,
  useRunningService,
} from '../../../support/service/service-fixture.ts';

/** Snippets, variables, plans and the list of addresses through the API. */
describe.each(databases)('on %s', (kind) => {
  describe('resources of an account', () => {
    const service = useAccounts(useRunningService(kind));
    const bytesOf = async (table: string): Promise<string> => {
      const rows = await service().store.query(`select ${table}::text as text from ${table}`);
      return JSON.stringify(rows);
    };

    it('stores snippets unchanged, each under a unique name', async () => {
      const { mine, theirs, clock } = service();
      const created = await mine.post('/v1/snippets', { name: 'login', script: HOSTILE });
      expect(created.status).toBe(201);
      expect(created.json).toEqual({
        id: expect.any(Number),
        name: 'login',
        script: HOSTILE,
        created_at: new Date(clock.wallMs()).toISOString(),
        updated_at: null,
      });
      const at = `/v1/snippets/${created.json.id}`;
      expect((await mine.get(at)).json).toEqual(created.json);
      expect((await theirs.get(at)).status).toBe(404);
      const again = { name: 'login', script: '' };
      expect((await mine.post('/v1/snippets', again)).status).toBe(409);
      expect((await theirs.post('/v1/snippets', again)).status).toBe(201);
      const other = await mine.post('/v1/snippets', { name: 'other', script: 'x' });
      expect((await mine.patch(`/v1/snippets/${other.json.id}`, { name: 'login' })).status).toBe(
        409,
      );
      const changed = await mine.patch(at, { ...created.json, script: 'new' });
      expect(changed.json).toMatchObject({ name: 'login', script: 'new' });
      expect((await mine.get('/v1/snippets?limit=1&page=2')).json).toEqual([other.json]);
      expect((await mine.delete(at)).status).toBe(204);
      expect((await mine.get(at)).status).toBe(404);
    });

    it('lists variables by their keys, and changes single fields', async () => {
      const { mine, theirs } = service();
      await mine.post('/v1/variables', { key: 'b', value: '2' });
      const created = await mine.post('/v1/variables', { key: 'A_1', value: HOSTILE });
      expect(created.json).toMatchObject({
        key: 'A_1',
        value: HOSTILE,
        locked: false,
        secret: false,
      });
      expect((await mine.post('/v1/variables', { key: 'b', value: '' })).status).toBe(409);
      const keys = (await mine.get('/v1/variables')).json.map(({ key }: { key: string }) => key);
      expect(keys).toEqual(['A_1', 'b']);
      const changed = await mine.patch('/v1/variables/b', { locked: true });
      expect(changed.json).toMatchObject({ key: 'b', value: '2', locked: true });
      expect((await theirs.get('/v1/variables/b')).status).toBe(404);
      expect((await theirs.get('/v1/variables')).json).toEqual([]);
      expect((await mine.delete('/v1/variables/b')).status).toBe(204);
      expect((await mine.get('/v1/variables/b')).status).toBe(404);
    });

    it.each([
      [{ key: '1a', value: '' }, 'body.key'],
      [{ key: 'a-b', value: '' }, 'body.key'],
      [{ key: 'a', value: 1 }, 'body.value'],
      [{ key: 'a', value: 'x'.repeat(20_001) }, 'body.value'],
      [{ key: 'a', value: 'a\u0000' }, 'body.value'],
    ])('refuse the variable %#', async (body, path) => {
      const refused = await service().mine.post('/v1/variables', body);
      expect(refused.status).toBe(400);
      expect(problemsIn(refused).join()).toContain(path);
    });

    it('shows a secret value in no response, and stores it nowhere unencrypted', async () => {
      const { mine, features, store } = service();
      const secret = 'correct-horse-battery';
      const made = await mine.post('/v1/variables', { key: 'TOKEN', value: secret, secret: true });
      expect(made.json).toMatchObject({ key: 'TOKEN', value: null, secret: true });
      // Sent back as it came, it is no change.
      const same = await mine.put('/v1/variables/TOKEN', made.json);
      expect(same.status).toBe(200);
      expect(await bytesOf('variables')).not.toContain(secret);
      expect(await bytesOf('variables')).not.toContain(Buffer.from(secret).toString('hex'));
      const values = () => features.variables.secretValues(store, mine.accountId);
      expect(await values()).toEqual([secret]);
      const opened = await mine.patch('/v1/variables/TOKEN', { secret: false });
      expect(problemsIn(opened)).toEqual([
        'body.value is required when a variable stops being secret',
      ]);
      const open = await mine.patch('/v1/variables/TOKEN', { secret: false, value: 'known' });
      expect(open.json).toMatchObject({ value: 'known', secret: false });
      expect(await values()).toEqual([]);
    });

    it('refuses secrets without an encryption key', async () => {
      const { store, clock, mine } = service();
      const allowance = createAllowance(LIMITED);
      const parts = { store, clock, log: silentLog(), allowance, secrets: null };
      const variables = createVariables(parts);
      const create = variables.create(mine.accountId, { key: 'A', value: 'abcd', secret: true });
      await expect(create).rejects.toMatchObject({
        status: 409,
        message: expect.stringContaining('ENCRYPTION_KEY'),
      });
      expect((await mine.get('/v1/variables')).json).toEqual([]);
    });

    it('answers 402 over the limit of a plan, also to concurrent requests', async () => {
      const { store, clock, mine, theirs } = service();
      const snippets = createSnippets({ store, clock, allowance: createAllowance(LIMITED) });
      const create = (n: number) =>
        snippets.create(mine.accountId, { name: `s${n}`, script: '' }).then(
          () => 201,
          (error: { status: number }) => error.status,
        );
      const answers = await Promise.all([0, 1, 2, 3, 4, 5].map(create));
      expect(answers.filter((status) => status === 201)).toHaveLength(2);
      expect(answers.filter((status) => status === 402)).toHaveLength(4);
      await expect(
        snippets.create(mine.accountId, { name: 'x', script: '' }),
      ).rejects.toMatchObject({
        message: 'The plan Small does not allow it: snippets: 2 at most',
        attributes: { plan: 'small', resource: 'snippets', limit: 2 },
      });
      // Another account's do not count.
      expect((await theirs.post('/v1/snippets', { name: 'x', script: '' })).status).toBe(201);
    });

    it('refuses snippets over the limit of an account', async () => {
      const { mine, store } = service();
      const fill = `insert into snippets (account_id, name, script)
        select $1, 'n' || n, '' from generate_series(1, 999) n`;
      await store.query(fill, [mine.accountId]);
      expect((await mine.post('/v1/snippets', { name: 'a', script: '' })).status).toBe(201);
      const refused = await mine.post('/v1/snippets', { name: 'b', script: '' });
      expect([refused.status, refused.json.attributes]).toEqual([409, { limit: 1000 }]);
    });

    it('a check and a group from a larger plan can be changed, but get nothing new', async () => {
      const { store, clock, mine } = service();
      const locations = ['us-east-1', 'us-west-1'];
      const request = { url: 'https://shop.example/' };
      const check = { checkType: 'URL', name: 'Shop', frequency: 1, locations, request };
      await mine.put('/v1/checks/shop', check);
      const { json: group } = await mine.post('/v1/check-groups', { name: 'Web', locations });
      const parts = { store, clock, ids: randomUUID, allowance: createAllowance(LIMITED) };
      const [checks, groups] = [
        createChecks({
          ...parts,
          checkVariables: TEST_CHECK_VARIABLES,
          outdatedStates: NONE_OUTDATED,
        }),
        createCheckGroups(parts),
      ];
      const { accountId } = mine;
      const more = ['us-east-1', 'us-west-1', 'us-east-2'];
      const change = (fields: object) => checks.update({ accountId, id: 'shop' }, { ...fields });
      expect((await change({ name: 'Other' })).check.name).toBe('Other');
      await expect(change({ locations: more })).rejects.toMatchObject({ status: 402 });
      const regroup = (fields: object) => groups.update({ accountId, id: group.id }, { ...fields });
      expect((await regroup({ name: 'Other' })).fields.name).toBe('Other');
      await expect(regroup({ locations: more })).rejects.toMatchObject({ status: 402 });
      const made = { name: 'New', locations };
      await expect(groups.create(accountId, made)).rejects.toMatchObject({ status: 402 });
    });

    // The embedded database has one connection, on which nothing comes meanwhile.
    if (kind === 'postgres')
      it('a locked account does not block rows that refer to it', async () => {
        const { store, mine } = service();
        const [locked, inserted] = [new AbortController(), new AbortController()];
        const holding = store.transaction(async (tx) => {
          await lockAccount(tx, mine.accountId);
          locked.abort();
          await aborted(inserted.signal);
        });
        await aborted(locked.signal);
        const inserting = store.transaction(async (tx) => {
          await tx.query(`set local lock_timeout = '2s'`);
          const insert = `insert into snippets (account_id, name, script) values ($1, 'n', '')`;
          await tx.query(insert, [mine.accountId]);
        });
        await inserting.finally(() => inserted.abort());
        await holding;
        expect((await mine.get('/v1/snippets')).json).toHaveLength(1);
      });

    it('counts the resource of every limit of a plan', async () => {
      const { store, mine } = service();
      const none = Object.keys(LIMITED.plans.none?.limits ?? {});
      expect(none).toHaveLength(10);
      const { grow } = createAllowance({ ...LIMITED, default: 'none' });
      for (const resource of none) {
        const growing = store.transaction((tx) => grow(tx, mine.accountId, resource as 'checks'));
        await expect(growing).rejects.toMatchObject({ status: 402 });
      }
    });

    it('refuses requested analyses in a plan without them', async () => {
      const { store, clock, mine } = service();
      const none = await testFeatures(store, clock, { plans: { ...LIMITED, default: 'none' } });
      try {
        const { rootCauseAnalyses } = none.features;
        const asking = rootCauseAnalyses.create(mine.accountId, { checkId: 'shop' });
        await expect(asking).rejects.toMatchObject({
          status: 402,
          attributes: { plan: 'none', feature: 'rootCauseAnalysis' },
        });
      } finally {
        await none.close();
      }
    });

    it('lists only the account of the key', async () => {
      const { mine, clock } = service();
      const created_at = new Date(clock.wallMs()).toISOString();
      const reader = await service().clientWith('read');
      expect((await reader.get('/v1/accounts')).json).toEqual([
        { id: mine.accountId, name: 'mine', timeZone: 'UTC', created_at, updated_at: null },
      ]);
    });

    it('changes the given fields of the own account alone', async () => {
      const { mine, theirs, clock } = service();
      const at = `/v1/accounts/${mine.accountId}`;
      const first = await mine.get(at);
      const known = { 'if-match': String(first.headers.etag) };
      clock.spend(1_000);
      const zoned = await mine.ask('PATCH', at, { timeZone: 'Asia/Kathmandu' }, known);
      expect(zoned.status).toBe(200);
      expect(zoned.json).toEqual({
        ...first.json,
        timeZone: 'Asia/Kathmandu',
        updated_at: new Date(clock.wallMs()).toISOString(),
      });
      expect((await mine.ask('PATCH', at, { name: 'x' }, known)).status).toBe(412);
      const named = await mine.put(at, { ...zoned.json, name: HOSTILE });
      expect(named.json).toMatchObject({ name: HOSTILE, timeZone: 'Asia/Kathmandu' });
      expect((await mine.get(at)).json).toEqual(named.json);
      expect((await theirs.get(at)).status).toBe(404);
      expect((await theirs.put(at, {})).status).toBe(404);
      const writer = await service().clientWith('write');
      expect((await writer.patch(at, { name: 'x' })).status).toBe(403);
    });

    it.each([
      [{ name: ' ' }, 'body.name'],
      [{ name: 'n'.repeat(256) }, 'body.name'],
      [{ timeZone: 'Mars/Olympus' }, 'body.timeZone'],
      [{ timeZone: '+01:00' }, 'body.timeZone'],
      [{ id: 'other' }, 'body.id'],
    ])('refuses %j for an account', async (body, path) => {
      const { mine } = service();
      const refused = await mine.patch(`/v1/accounts/${mine.accountId}`, body);
      expect(refused.status).toBe(400);
      expect(refused.json.attributes.problems).toMatchObject([{ path }]);
    });

    it('shows entitlements only for the own account', async () => {
      const { mine, theirs } = service();
      const { status, json } = await mine.get(`/v1/accounts/${mine.accountId}/entitlements`);
      expect(status).toBe(200);
      expect(json).toMatchObject({ plan: 'unlimited', planDisplayName: 'Unlimited' });
      const usedOf = async (key: string): Promise<unknown> => {
        const { json: shown } = await mine.get(`/v1/accounts/${mine.accountId}/entitlements`);
        return shown.entitlements.find((each: { key: string }) => each.key === key).used;
      };
      const before = await usedOf('variables');
      await mine.post('/v1/variables', { key: 'ONE_MORE', value: '1' });
      await theirs.post('/v1/variables', { key: 'NOT_MINE', value: '1' });
      expect(await usedOf('variables')).toBe(Number(before) + 1);
      expect(await usedOf('parallelRuns')).toBeUndefined();
      expect((await theirs.get(`/v1/accounts/${mine.accountId}/entitlements`)).status).toBe(404);
    });

    it('lists addresses as text, one on each line', async () => {
      const { text, headers } = await service().mine.get('/v1/static-ipv6s.txt');
      expect(text).toBe('2001:db8:1::/48\n2001:db8::7\n');
      expect(headers['content-type']).toBe('text/plain; charset=utf-8');
    });
  });
});

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

const NOTHING = Object.fromEntries(
  [
    'checks',
    'heartbeats',
    'checkGroups',
    'privateLocations',
    'alertChannels',
    'maintenanceWindows',
    'statusPages',
    'clientCertificates',
    'snippets',
    'variables',
  ].map((name) => [name, 0]),
);
const LIMITED = plansSchema.parse({
  plans: {
    small: { displayName: 'Small', limits: { snippets: 2 }, locations: ['eu-west-1'] },
    none: { displayName: 'None', limits: NOTHING, features: { rootCauseAnalysis: false } },
  },
  default: 'small',
});
