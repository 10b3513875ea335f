import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createSecretBox, KEY_BYTES } from '../../../../../src/runtime/secret-box.ts';
import { createChecks } from '../../../../../src/service/checks/checks.ts';
import { createCheckVariables } from '../../../../../src/service/checks/variables/check-variables.ts';
import { databases, silentLog, useMigratedStore } from '../../../../support/database/databases.ts';
import { captureLog } from '../../../../support/log-capture.ts';
import { useAgentFixture } from '../../../../support/service/agent-fixture.ts';
import type { Reply } from '../../../../support/service/service-app.ts';
import {
  NONE_OUTDATED,
  TEST_CHECK_VARIABLES,
} from '../../../../support/service/service-features.ts';
import {
  HOSTILE,
  problemsIn,
  useAccounts,
  useRunningService,
} from '../../../../support/service/service-fixture.ts';

const SECRET = 'correct-horse-battery';
const OPEN = { key: 'HOST', value: HOSTILE, secret: false };
const HIDDEN = { key: 'TOKEN', value: SECRET, secret: true };
const SHOWN = [OPEN, { ...HIDDEN, value: null }];

const TYPES = ['url', 'api', 'tcp', 'dns', 'icmp'] as const;
const REQUESTS = {
  url: { url: 'https://shop.test/{{HOST}}' },
  api: { url: 'https://shop.test/', method: 'GET' },
  tcp: { hostname: 'shop.test', port: 25 },
  dns: { query: 'shop.test', recordType: 'A' },
  icmp: { hostname: 'shop.test' },
} as const;

/** The variables of checks themselves (src/model/README.md, "Variables and secrets"). */
describe.each(databases)('on %s', (kind) => {
  describe('variables of checks', () => {
    const service = useAccounts(useRunningService(kind));
    const bodyOf = (type: (typeof TYPES)[number], variables: readonly unknown[]) => ({
      name: 'Shop',
      request: REQUESTS[type],
      locations: ['eu-west-1'],
      variables,
    });
    const create = (variables: readonly unknown[]): Promise<Reply> =>
      service().mine.post('/v1/checks/url', bodyOf('url', variables));
    const bytesStored = async (): Promise<string> => {
      const { store, mine } = service();
      const rows = await store.query(
        'select checks::text as text from checks where account_id = $1',
        [mine.accountId],
      );
      return JSON.stringify(rows);
    };
    const sealedOf = async (id: string): Promise<Buffer | null> => {
      const [row] = await service().store.query<{ sealedVariables: Buffer | null }>(
        'select sealed_variables from checks where account_id = $1 and id = $2',
        [service().mine.accountId, id],
      );
      return row?.sealedVariables ?? null;
    };

    const valuesOf = async (id: string): Promise<readonly string[]> => {
      const key = { accountId: service().mine.accountId, id };
      return TEST_CHECK_VARIABLES.secretValues(key, (await sealedOf(id)) ?? Buffer.alloc(0));
    };

    it.each(TYPES)('of type %s: no response contains a secret value', async (type) => {
      const { mine } = service();
      const created = await mine.post(`/v1/checks/${type}`, bodyOf(type, [OPEN, HIDDEN]));
      expect(created.status).toBe(201);
      expect(created.json.variables).toEqual(SHOWN);
      const at = `/v1/checks/${type}/${created.json.id}`;
      const answers = [
        created,
        await mine.get(at),
        await mine.get(`/v1/checks/${created.json.id}`),
        await mine.get('/v1/checks'),
        await mine.get(`/v1/checks/${type}`),
        await mine.put(at, created.json),
        await mine.patch(at, { name: 'Other' }),
      ];
      for (const { status, text } of answers) {
        expect(status).toBeLessThan(300);
        expect(text).not.toContain(SECRET);
        expect(text).toContain('"TOKEN"');
      }
    });

    it('no secret value is in the database unencrypted', async () => {
      await create([OPEN, HIDDEN]);
      const stored = await bytesStored();
      expect(stored).not.toContain(SECRET);
      expect(stored).not.toContain(Buffer.from(SECRET).toString('hex'));
      expect(stored).toContain('TOKEN');
    });

    it('an update may omit the values of secret variables, which are kept', async () => {
      const { mine } = service();
      const { json } = await create([OPEN, HIDDEN]);
      const at = `/v1/checks/url/${json.id}`;
      // Sent back as they came, they are no change.
      expect((await mine.put(at, json)).json.variables).toEqual(SHOWN);
      expect((await mine.patch(at, { name: 'Other' })).json.variables).toEqual(SHOWN);
      expect(await valuesOf(json.id)).toEqual([SECRET]);
      const named = [
        { key: 'NEW', value: 'n' },
        { key: 'TOKEN', secret: true },
      ];
      const changed = await mine.patch(at, { variables: named });
      expect(changed.json.variables).toEqual([
        { key: 'NEW', value: 'n', secret: false },
        { key: 'TOKEN', value: null, secret: true },
      ]);
      expect(await valuesOf(json.id)).toEqual([SECRET]);
      const fewer = await mine.patch(`/v1/checks/${json.id}`, { variables: [] });
      expect(fewer.json.variables).toEqual([]);
      expect(await sealedOf(json.id)).toBeNull();
    });

    it.each([
      [
        'no secret any more, without its value',
        [{ key: 'TOKEN', value: null, secret: false }],
        'body.variables[0].value is required when a variable stops being secret',
      ],
      [
        'no secret any more, as nothing says that it is',
        [OPEN, { key: 'TOKEN' }],
        'body.variables[1].value is required when a variable stops being secret',
      ],
      ['new, without a value', [{ key: 'OTHER', secret: true }], 'body.variables[0].value'],
      ['there twice', [OPEN, { ...OPEN, value: 'b' }], 'body.variables[1].key must be unique'],
      ['there twice and kept', [HIDDEN, { key: 'TOKEN', secret: true }], 'body.variables[1].key'],
      ['of a name that none can have', [{ key: 'a-b', value: '' }], 'body.variables[0].key'],
      ['too long', [{ key: 'a', value: 'x'.repeat(20_001) }], 'body.variables[0].value'],
      ['with a field of its own', [{ ...OPEN, locked: true }], 'body.variables[0]'],
    ])('an update with one that is %s is refused', async (_, variables, problem) => {
      const { mine } = service();
      const { json } = await create([OPEN, HIDDEN]);
      const sealed = await sealedOf(json.id);
      for (const path of ['/v1/checks/url', '/v1/checks']) {
        const refused = await mine.patch(`${path}/${json.id}`, { variables });
        expect(refused.status).toBe(400);
        expect(problemsIn(refused).join()).toContain(problem);
        expect(refused.text).not.toContain(SECRET);
      }
      expect(await sealedOf(json.id)).toEqual(sealed);
    });

    it('a new check needs the value of each, and at most 100', async () => {
      const refused = await create([{ key: 'TOKEN', value: null, secret: true }]);
      expect(problemsIn(refused).join()).toContain('body.variables[0].value');
      const many = Array.from({ length: 101 }, (_, n) => ({ key: `V${n}`, value: '' }));
      expect(problemsIn(await create(many)).join()).toContain('body.variables');
      const put = await service().mine.put('/v1/checks/url/shop', {
        ...bodyOf('url', [{ key: 'TOKEN', secret: true }]),
      });
      expect(problemsIn(put).join()).toContain('body.variables[0].value');
    });

    it('without a key only secret variables are refused', async () => {
      const { store, clock, mine } = service();
      const checkVariables = createCheckVariables({ log: silentLog(), secrets: null });
      const checks = createChecks({
        store,
        clock,
        outdatedStates: NONE_OUTDATED,
        ids: () => 'shop',
        checkVariables,
      });
      const input = (variables: readonly unknown[]) => ({
        ...bodyOf('url', variables),
        checkType: 'URL',
      });
      const options = { autoAssignAlerts: false };
      const refused = checks.create(mine.accountId, input([HIDDEN]), options);
      await expect(refused).rejects.toMatchObject({
        status: 409,
        message: expect.stringContaining('ENCRYPTION_KEY'),
      });
      expect((await mine.get('/v1/checks')).json).toEqual([]);
      await checks.create(mine.accountId, input([OPEN]), options);
      expect((await mine.get('/v1/checks/shop')).json.variables).toEqual([OPEN]);
    });

    it('a kept value is encrypted with the newest key', async () => {
      const { store, clock, mine } = service();
      const [old, next] = [randomBytes(KEY_BYTES), randomBytes(KEY_BYTES)];
      const checksWith = (...keys: readonly [Buffer, ...Buffer[]]) => {
        const secrets = createSecretBox(keys);
        const checkVariables = createCheckVariables({ log: silentLog(), secrets });
        const checks = createChecks({
          store,
          clock,
          outdatedStates: NONE_OUTDATED,
          ids: () => 'shop',
          checkVariables,
        });
        return { checkVariables, checks };
      };
      const input = { ...bodyOf('url', [HIDDEN]), checkType: 'URL' };
      await checksWith(old).checks.create(mine.accountId, input, { autoAssignAlerts: false });
      const { json } = await mine.get('/v1/checks/shop');
      await checksWith(next, old).checks.update({ accountId: mine.accountId, id: 'shop' }, json);
      const key = { accountId: mine.accountId, id: 'shop' };
      const sealed = (await sealedOf('shop')) ?? Buffer.alloc(0);
      expect(checksWith(next).checkVariables.secretValues(key, sealed)).toEqual([SECRET]);
    });

    it('one whose key is lost can get a new value, and is kept while no update reads it', async () => {
      const { store, clock, mine } = service();
      const { json } = await create([OPEN, HIDDEN]);
      const secrets = createSecretBox([randomBytes(KEY_BYTES)]);
      const checkVariables = createCheckVariables({ log: silentLog(), secrets });
      const checks = createChecks({
        store,
        clock,
        outdatedStates: NONE_OUTDATED,
        ids: () => 'x',
        checkVariables,
      });
      const change = (variables: readonly unknown[]) =>
        checks.update({ accountId: mine.accountId, id: json.id }, { variables });
      const kept = change([
        { key: 'TOKEN', secret: true },
        { ...HIDDEN, key: 'MORE' },
      ]);
      await expect(kept).rejects.toMatchObject({
        status: 409,
        message: expect.stringContaining('or send the secret again: body.variables[0].value'),
        attributes: { code: 'CREDENTIAL_NOT_READABLE', fields: ['body.variables[0].value'] },
      });
      await change([HIDDEN]);
      const sealed = (await sealedOf(json.id)) ?? Buffer.alloc(0);
      const key = { accountId: mine.accountId, id: json.id };
      expect(checkVariables.secretValues(key, sealed)).toEqual([SECRET]);
    });
  });

  describe('variables of checks, as agents get them', () => {
    const store = useMigratedStore(kind);
    const fixtureOf = useAgentFixture(store);
    const settled = async () => {
      const fixture = fixtureOf();
      const variables = [OPEN, HIDDEN, { key: '__proto__', value: 'own', secret: true }];
      await fixture.addCheck('shop', { variables });
      await fixture.addCheck('other');
      const agent = fixture.agent('agent-a');
      await agent.look();
      await fixture.assigner.pass();
      await agent.look();
      return { fixture, agent, variables };
    };

    it('have their values, in assignments and in unscheduled runs', async () => {
      const { fixture, agent, variables } = await settled();
      expect(agent.checks.get('shop')?.check.variables).toEqual(variables);
      expect(agent.checks.get('other')?.check.variables).toEqual([]);
      await fixture.checkRuns.request(fixture.accountId, 'shop', { location: null });
      const { runs } = await agent.look();
      expect(runs.map(({ check }) => check.variables)).toEqual([variables]);
    });

    it('are sent again when only a secret value changed', async () => {
      const { fixture, agent, variables } = await settled();
      const changed = variables.map((one) =>
        one.key === 'TOKEN' ? { ...one, value: 'another-value' } : one,
      );
      await fixture.checks.update(
        { accountId: fixture.accountId, id: 'shop' },
        { variables: changed },
      );
      await fixture.assigner.pass();
      const { full, upsert } = await agent.look();
      expect({ full, ids: upsert.map(({ checkId }) => checkId) }).toEqual({
        full: false,
        ids: ['shop'],
      });
      expect(agent.checks.get('shop')?.check.variables).toEqual(changed);
    });

    it('are not sent again when an update changes nothing', async () => {
      const { fixture, agent, variables } = await settled();
      await fixture.checks.update({ accountId: fixture.accountId, id: 'shop' }, { variables });
      await fixture.checks.update(
        { accountId: fixture.accountId, id: 'shop' },
        {
          variables: variables.map((one) => (one.secret ? { ...one, value: null } : one)),
        },
      );
      await fixture.assigner.pass();
      expect(await agent.look()).toMatchObject({ full: false, upsert: [] });
      expect(agent.checks.get('shop')?.check.variables).toEqual(variables);
    });

    it('that cannot be decrypted are omitted, which is logged once', async () => {
      const { fixture, variables } = await settled();
      const logs = captureLog();
      const secrets = createSecretBox([randomBytes(KEY_BYTES)]);
      const foreign = createCheckVariables({ log: logs.log, secrets });
      const [row] = await store().query<{ body: Record<string, unknown>; sealed: Buffer }>(
        `select body, sealed_variables as sealed from checks where account_id = $1 and id = 'shop'`,
        [fixture.accountId],
      );
      const { body = {}, sealed = null } = row ?? {};
      const key = { accountId: fixture.accountId, id: 'shop' };
      expect(foreign.open(key, body, sealed).variables).toEqual([OPEN]);
      expect(foreign.open(key, body, sealed).variables).toEqual([OPEN]);
      const lines = logs.records();
      expect(lines).toHaveLength(1);
      expect(lines[0]).toMatchObject({ checkId: 'shop' });
      expect(JSON.stringify(lines)).not.toContain(SECRET);
      expect(fixture.checkVariables.open(key, body, sealed).variables).toEqual(variables);
      // A template with such a variable fails, whatever other variable has the name.
      const request = {
        url: 'https://shop.test/{{OPEN}}/{{{ TOKEN }}}',
        headers: [{ key: 'X-A', value: 'Bearer {{TOKEN}}' }],
        body: `{{TOKEN}}${'x'.repeat(1000)}`,
        assertions: [{ target: '{{TOKEN}}' }],
      };
      expect(foreign.open(key, { ...body, request }, sealed).request).toEqual({
        url: 'https://shop.test/{{OPEN}}/{{CREDENTIAL_NOT_READABLE}}',
        headers: [{ key: 'X-A', value: 'Bearer {{CREDENTIAL_NOT_READABLE}}' }],
        body: '{{CREDENTIAL_NOT_READABLE}}',
        assertions: [{ target: '{{TOKEN}}' }],
      });
      // Values that were encrypted for another check cannot be decrypted.
      const elsewhere = { ...key, id: 'other' };
      expect(foreign.open(elsewhere, body, sealed).variables).toEqual([OPEN]);
    });
  });
});
