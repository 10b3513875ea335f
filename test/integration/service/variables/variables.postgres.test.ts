import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { UNLIMITED } from '../../../../src/model/account/plan.ts';
import { createSecretBox, KEY_BYTES } from '../../../../src/runtime/secret-box.ts';
import { createAllowance } from '../../../../src/service/accounts/allowance.ts';
import { createAssigner } from '../../../../src/service/agents/assignment/assigner.ts';
import { secretsRevisionOf } from '../../../../src/service/variables/sql.ts';
import { createVariables } from '../../../../src/service/variables/variables.ts';
import { databases, silentLog } from '../../../support/database/databases.ts';
import { eventually } from '../../../support/eventually.ts';
import { captureLog } from '../../../support/log-capture.ts';
import { PollingAgent } from '../../../support/service/polling-agent.ts';
import {
  HOSTILE,
  problemsIn,
  useAccounts,
  useRunningService,
} from '../../../support/service/service-fixture.ts';

const PATH = '/v1/variables';
const MAX_BYTES = 1024 * 1024;

/**
 * An account's variables, as its agents are sent them (src/model/README.md, "Variables and
 * secrets").
 */
describe.each(databases)('on %s', (kind) => {
  describe('variables of an account, and its agents', () => {
    const running = useRunningService(kind);
    const service = useAccounts(running);

    /** An agent that has all that there is. */
    const settled = async () => {
      const { mine, features, store, clock } = service();
      const location = { slug: 'cellar', name: 'Cellar' };
      const { id } = (await mine.post('/v1/private-locations', location)).json;
      const caller = { accountId: mine.accountId, locationId: id, keyId: 'key' };
      const agent = new PollingAgent(features.agents, caller, 'agent-a');
      await agent.look();
      await createAssigner({ store, clock, log: silentLog() }).pass();
      const { location: told } = await agent.look();
      return { agent, told, at: `/v1/private-locations/${id}` };
    };
    /** What a poll that is held by now is answered when the change is made. */
    const toldAtOnce = async (agent: PollingAgent, change: () => Promise<unknown>) => {
      const { clock } = service();
      const before = clock.pendingTimers;
      const answer = agent.poll();
      await eventually(() => clock.pendingTimers === before + 1);
      await change();
      return (await answer).location;
    };
    const variable = (key: string, fields: object = {}) => ({
      key,
      value: `value of ${key}`,
      ...fields,
    });
    const own = (key: string, fields: object = {}) => ({
      ...variable(key),
      secret: false,
      ...fields,
    });

    it('are sent with their values, and once (trust model AC12)', async () => {
      const { mine } = service();
      await mine.post(PATH, variable('B', { secret: true, value: HOSTILE }));
      await mine.post(PATH, variable('A', { locked: true }));
      const { agent, told } = await settled();
      expect(told.variables).toEqual([own('A'), own('B', { secret: true, value: HOSTILE })]);
      const { location } = await agent.look();
      expect(location).toMatchObject({ variables: null, settings: null });
    });

    it('are hidden from roles that may not write if they are locked', async () => {
      const { mine, clientWith } = service();
      await mine.post(PATH, variable('OPEN'));
      await mine.post(PATH, variable('LOCKED', { locked: true }));
      for (const [role, shown] of [
        ['read', null],
        ['run', null],
        ['write', 'value of LOCKED'],
        ['admin', 'value of LOCKED'],
      ] as const) {
        const client = await clientWith(role);
        expect((await client.get(`${PATH}/LOCKED`)).json).toMatchObject({ value: shown });
        const { json } = await client.get(PATH);
        expect(json).toMatchObject([{ value: shown }, { key: 'OPEN', value: 'value of OPEN' }]);
      }
      const { json } = await mine.get('/v1/audit-log?resourceId=LOCKED');
      expect(JSON.stringify(json)).not.toContain('value of');
    });

    it('of another account are not sent', async () => {
      const { theirs } = service();
      await theirs.post(PATH, variable('A'));
      const { told } = await settled();
      expect(told.variables).toEqual([]);
    });

    it('end a held poll with each change of them', async () => {
      const { mine } = service();
      const { agent } = await settled();
      const changes: readonly (readonly [() => Promise<unknown>, readonly unknown[]])[] = [
        [() => mine.post(PATH, variable('A')), [own('A')]],
        [() => mine.patch(`${PATH}/A`, { value: 'b' }), [own('A', { value: 'b' })]],
        [() => mine.patch(`${PATH}/A`, { secret: true }), [own('A', { value: 'b', secret: true })]],
        [() => mine.patch(`${PATH}/A`, { value: 'c' }), [own('A', { value: 'c', secret: true })]],
        [() => mine.delete(`${PATH}/A`), []],
      ];
      for (const [change, told] of changes) {
        expect((await toldAtOnce(agent, change)).variables).toEqual(told);
      }
    });

    it('a change that does not affect agents leaves the poll held', async () => {
      const { mine, clock } = service();
      await mine.post(PATH, variable('A'));
      const { agent } = await settled();
      const told = await toldAtOnce(agent, async () => {
        await mine.patch(`${PATH}/A`, { locked: true });
        await clock.advance(5_000);
      });
      expect(told).toMatchObject({ variables: null, settings: null });
    });

    it('a secret that is sent again unchanged is no change for agents and for masking', async () => {
      const { mine, clock, store } = service();
      await mine.post(PATH, variable('A', { secret: true }));
      const { agent } = await settled();
      const before = await secretsRevisionOf(store, mine.accountId);
      const told = await toldAtOnce(agent, async () => {
        await mine.put(`${PATH}/A`, { value: 'value of A', secret: true });
        await mine.patch(`${PATH}/A`, { locked: true });
        await clock.advance(5_000);
      });
      expect(told).toMatchObject({ variables: null, settings: null });
      expect(await secretsRevisionOf(store, mine.accountId)).toBe(before);
      const { updated_at } = (await mine.get(`${PATH}/A`)).json;
      expect(updated_at).not.toBeNull();
    });

    it('a value that is sent again is encrypted with the newest key', async () => {
      const { mine, store, clock } = service();
      const [old, next] = [randomBytes(KEY_BYTES), randomBytes(KEY_BYTES)];
      const allowance = createAllowance(UNLIMITED);
      const withKeys = (...keys: readonly [Buffer, ...Buffer[]]) =>
        createVariables({
          ...{ store, clock, log: silentLog(), allowance },
          secrets: createSecretBox(keys),
        });
      const secret = variable('A', { secret: true });
      await withKeys(old).create(mine.accountId, secret);
      await withKeys(next, old).update({ accountId: mine.accountId, id: 'A' }, secret);
      const values = await withKeys(next).secretValues(store, mine.accountId);
      expect(values).toEqual([secret.value]);
    });

    it('a change of the proxy of the location ends a held poll, too', async () => {
      const { mine } = service();
      const { agent, at } = await settled();
      for (const proxyUrl of ['http://proxy.test:3128/', 'http://user:word@proxy.test/', null]) {
        const told = await toldAtOnce(agent, () => mine.patch(at, { proxyUrl }));
        expect(told.proxyUrl).toBe(proxyUrl);
      }
    });

    it('one that cannot be decrypted is omitted but for its name, which is logged once', async () => {
      const { mine, store, clock } = service();
      await mine.post(PATH, variable('A', { secret: true }));
      await mine.post(PATH, variable('B'));
      const logs = captureLog();
      const variables = createVariables({
        store,
        clock,
        log: logs.log,
        allowance: createAllowance(UNLIMITED),
        secrets: createSecretBox([randomBytes(KEY_BYTES)]),
      });
      for (let poll = 0; poll < 3; poll += 1) {
        expect(await variables.sentToAgents(store, mine.accountId)).toEqual({
          variables: [own('B')],
          unreadableVariables: ['A'],
        });
      }
      // Whoever has to know them all gets an error.
      const all = variables.secretValues(store, mine.accountId);
      await expect(all).rejects.toMatchObject({ status: 409 });
      const lines = logs.records();
      expect(lines).toMatchObject([{ variable: 'A' }]);
      expect(JSON.stringify(lines)).not.toContain('value of');
    });

    it('are limited in total to the size that fits into an answer', async () => {
      const { mine, features, store } = service();
      const long = 'é'.repeat(10_000);
      const count = Math.floor(MAX_BYTES / 20_002);
      // As whoever makes them all through the API would have them.
      await store.query(
        `insert into variables (account_id, key, value, locked, secret, bytes)
         select $1, 'V' || n, $2, false, false, 20002 from generate_series(1, $3::int) n`,
        [mine.accountId, long, count],
      );
      const refused = await mine.post(PATH, { key: 'LAST', value: long });
      expect([refused.status, refused.json.attributes]).toEqual([413, { limitBytes: MAX_BYTES }]);
      expect((await mine.get(`${PATH}/LAST`)).status).toBe(404);
      // Control characters take six times as much in JSON.
      const controls = await mine.patch(`${PATH}/V1`, { value: '\u0001'.repeat(10_000) });
      expect(controls.status).toBe(413);
      expect((await mine.patch(`${PATH}/V1`, { value: 'short' })).status).toBe(200);
      expect((await mine.post(PATH, { key: 'LAST', value: long })).status).toBe(201);
      const told = await features.variables.forAgents(store, mine.accountId);
      const values = told.map(({ value }) => value);
      expect(Buffer.byteLength(JSON.stringify(values))).toBeLessThan(MAX_BYTES * 1.01);
    });

    it('two concurrent changes wait only for each other', async () => {
      const { mine } = service();
      await mine.post(PATH, variable('A'));
      const answers = await Promise.all([
        ...['1', '2', '3'].map((value) => mine.patch(`${PATH}/A`, { value, secret: true })),
        mine.post(PATH, variable('B', { secret: true })),
        mine.delete(`${PATH}/A`),
        mine.post(PATH, variable('A')),
      ]);
      for (const answer of answers) {
        expect([200, 201, 204, 404, 409]).toContain(answer.status);
        expect(problemsIn(answer)).toEqual([]);
      }
    });
  });
});
