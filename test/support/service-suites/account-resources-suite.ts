import { describe, expect, it } from 'vitest';
import { plansSchema } from '../../../src/model/plan.ts';
import { createAllowance } from '../../../src/service/features/entitlements/allowance.ts';
import { createSnippets } from '../../../src/service/features/snippets.ts';
import { createVariables } from '../../../src/service/features/variables.ts';
import type { DatabaseKind } from '../databases.ts';
import { HOSTILE, problemsIn, useAccounts, useRunningService } from './service-harness.ts';

/** Snippets, variables, plans and the list of addresses through the API. */
export function accountResourcesSuite(kind: DatabaseKind): void {
  describe(`resources of an account on ${kind}`, () => {
    const service = useAccounts(useRunningService(kind));
    const bytesOf = async (table: string): Promise<string> => {
      const rows = await service().store.query(`select ${table}::text as text from ${table}`);
      return JSON.stringify(rows);
    };

    it('snippets are kept as they came, and named once', async () => {
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

    it('variables are listed by their keys, and changed by field', async () => {
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

    it('a secret value is never given back, and is nowhere in the database', async () => {
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
        'body.value is needed anew when a variable is secret no more',
      ]);
      const open = await mine.patch('/v1/variables/TOKEN', { secret: false, value: 'known' });
      expect(open.json).toMatchObject({ value: 'known', secret: false });
      expect(await values()).toEqual([]);
    });

    it('without a key, no secret is stored in clear', async () => {
      const { store, clock, mine } = service();
      const parts = { store, clock, allowance: createAllowance(LIMITED), secrets: null };
      const variables = createVariables(parts);
      const create = variables.create(mine.accountId, { key: 'A', value: 'abcd', secret: true });
      await expect(create).rejects.toMatchObject({
        status: 409,
        message: expect.stringContaining('ENCRYPTION_KEY'),
      });
      expect((await mine.get('/v1/variables')).json).toEqual([]);
    });

    it('a plan that is used up is 402, however many ask at once', async () => {
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

    it('every limit of a plan can be counted', async () => {
      const { store, mine } = service();
      const none = Object.keys(LIMITED.plans.none?.limits ?? {});
      expect(none).toHaveLength(10);
      const { grow } = createAllowance({ ...LIMITED, default: 'none' });
      for (const resource of none) {
        const growing = store.transaction((tx) => grow(tx, mine.accountId, resource as 'checks'));
        await expect(growing).rejects.toMatchObject({ status: 402 });
      }
    });

    it('entitlements are those of the own account', async () => {
      const { mine, theirs } = service();
      const { status, json } = await mine.get(`/v1/accounts/${mine.accountId}/entitlements`);
      expect(status).toBe(200);
      expect(json).toMatchObject({ plan: 'unlimited', planDisplayName: 'Unlimited' });
      expect((await theirs.get(`/v1/accounts/${mine.accountId}/entitlements`)).status).toBe(404);
    });

    it('addresses come one a line, as text', async () => {
      const { text, headers } = await service().mine.get('/v1/static-ipv6s.txt');
      expect(text).toBe('2001:db8:1::/48\n2001:db8::7\n');
      expect(headers['content-type']).toBe('text/plain; charset=utf-8');
    });
  });
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
    small: { displayName: 'Small', limits: { snippets: 2 } },
    none: { displayName: 'None', limits: NOTHING },
  },
  default: 'small',
});
