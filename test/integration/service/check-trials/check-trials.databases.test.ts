import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  MAX_ENDED_TRIALS,
  MAX_OPEN_TRIALS,
} from '../../../../src/service/check-trials/check-trials.ts';
import { deleteTrials } from '../../../../src/service/check-trials/expiry.ts';
import {
  type GivenTrial,
  TrialAgent,
  trialResult,
  UNSAVED,
} from '../../../support/check-trials/trials-fixture.ts';
import { databases } from '../../../support/database/databases.ts';
import { httpDetail } from '../../../support/samples/wire-results.ts';
import {
  RunsFixture,
  type TestLocation,
  useRunsService,
} from '../../../support/service/check-runs-fixture.ts';
import type { Reply } from '../../../support/service/service-app.ts';
import { problemsIn, startReplica, useAccounts } from '../../../support/service/service-fixture.ts';

const PATH = '/v1/check-trials';
const SECRET = 'the-secret-of-the-trial-7319';

describe.each(databases)('on %s', (kind) => {
  describe('trials of checks', () => {
    const running = useRunsService(kind);
    const service = useAccounts(running);
    let fixture: RunsFixture;
    let cellar: TestLocation;
    let agent: TrialAgent;

    beforeEach(async () => {
      // Deletes trials of earlier tests, because sweeps count the trials of all accounts.
      await running().store.query('delete from check_trials');
      fixture = new RunsFixture(running(), service().mine.accountId);
      cellar = await fixture.location('cellar');
      agent = new TrialAgent(running(), service().mine.accountId, cellar, 'one');
    });

    const create = (fields: object = {}, check: object = {}): Promise<Reply> =>
      service().mine.post(PATH, { location: 'cellar', check: { ...UNSAVED, ...check }, ...fields });
    /** A trial that the agent has claimed. */
    const given = async (fields: object = {}, check: object = {}): Promise<GivenTrial> => {
      if (agent.epoch === 0) await agent.poll();
      const made = await create(fields, check);
      expect(made.status, made.text).toBe(201);
      const trials = await agent.poll();
      const found = trials.find(({ trialId }) => trialId === made.json.id);
      if (found === undefined) throw new Error('the agent did not get the trial');
      return found;
    };
    const read = async (id: string) => (await service().mine.get(`${PATH}/${id}`)).json;
    const spend = (id: string, ms: number) =>
      running().store.query(
        `update check_trials set not_after = not_after - $2::float8 * interval '1 millisecond',
           created_at = created_at - $2::float8 * interval '1 millisecond' where id = $1`,
        [id, ms],
      );

    it('run once at an agent of the location, and show the whole result that it sends (trust model AC16)', async () => {
      await agent.poll();
      const made = await create();
      expect(made.status).toBe(201);
      expect(made.headers.location).toBe(`${PATH}/${made.json.id}`);
      expect(made.json).toEqual({
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        state: 'waiting',
        checkId: null,
        name: 'Shop',
        checkType: 'API',
        target: 'http://shop.test/health',
        location: 'cellar',
        created_at: expect.any(String),
        startBy: expect.any(String),
        endedAt: null,
        reason: null,
        message: null,
        result: null,
        explanation: null,
      });
      const { created_at, startBy, id } = made.json;
      expect(Date.parse(startBy) - Date.parse(created_at)).toBe(30_000);

      const [trial] = await agent.poll();
      expect(trial).toMatchObject({
        trialId: id,
        check: { name: 'Shop', retryStrategy: null, doubleCheck: false },
      });
      expect((await read(id)).state).toBe('running');
      const result = trialResult(trial as GivenTrial);
      const taken = await agent.report(id, { result });
      expect(taken.json).toEqual({ accepted: true });

      const ended = await read(id);
      expect(ended).toMatchObject({
        state: 'finished',
        endedAt: expect.any(String),
        reason: null,
        message: null,
        explanation: {
          resultId: result.id,
          result: 'failed',
          phase: 'response',
          advice: expect.any(String),
          attempts: [{ number: 1, result: 'failed' }],
          lastPassing: null,
        },
      });
      const { agenticCheckResult: _, apiCheckResult, ...fields } = result;
      const { pcapDataUrl: __, ...detail } = apiCheckResult ?? {};
      expect(ended.result).toEqual({ ...fields, apiCheckResult: detail });
      expect(ended.explanation.reasons.length).toBeGreaterThan(0);
      // Sent again, as after a lost answer.
      expect((await agent.report(id, { result })).json).toEqual({ accepted: false });
      expect(await read(id)).toEqual(ended);
    });

    it('leave no trace in checks, results, statuses, alerts, statistics and missed slots', async () => {
      const trial = await given();
      await agent.report(trial.trialId, { result: trialResult(trial) });
      const { mine } = service();
      expect((await mine.get('/v1/checks')).json).toEqual([]);
      expect((await mine.get('/v1/check-statuses')).json).toEqual([]);
      expect((await mine.get('/v1/check-alerts')).json).toEqual([]);
      expect((await mine.get(`/v1/check-results/${trial.trialId}`)).status).toBe(404);
      for (const table of ['check_results', 'one_off_runs', 'missed_slots', 'error_groups']) {
        const rows = await running().store.query(`select from ${table} where account_id = $1`, [
          mine.accountId,
        ]);
        expect(rows, table).toEqual([]);
      }
      expect(
        (await mine.get('/v1/events')).json.map(({ type }: { type: string }) => type),
      ).not.toContain('check.created');
    });

    it('are repeated to their agent until it reports them, and given to no other', async () => {
      const trial = await given();
      expect((await agent.poll()).map(({ trialId }) => trialId)).toEqual([trial.trialId]);
      const other = new TrialAgent(running(), service().mine.accountId, cellar, 'other');
      expect(await other.poll()).toEqual([]);
      const result = trialResult(trial);
      expect((await other.report(trial.trialId, { result })).json).toEqual({ accepted: false });
      const place = await fixture.location('attic');
      const attic = new TrialAgent(running(), service().mine.accountId, place, 'one');
      await attic.poll();
      attic.epoch = agent.epoch;
      expect((await attic.report(trial.trialId, { result })).json).toEqual({ accepted: false });
      agent.epoch += 1;
      expect((await agent.report(trial.trialId, { result })).json).toEqual({ accepted: false });
      expect((await read(trial.trialId)).state).toBe('running');
    });

    it('mask their own secrets and those of the account, and keep none once they have ended', async () => {
      const { mine } = service();
      const accountSecret = 'the-secret-of-the-account-5502';
      await mine.post('/v1/variables', { key: 'TOKEN', value: accountSecret, secret: true });
      const password = 'the-password-of-the-trial-8841';
      const trial = await given(
        {},
        {
          variables: [{ key: 'OWN', value: SECRET, secret: true }],
          request: {
            url: `http://user:${password}@shop.test/`,
            method: 'GET',
            headers: [{ key: 'authorization', value: `Bearer ${password}2` }],
          },
        },
      );
      expect(trial.check.variables).toEqual([{ key: 'OWN', value: SECRET, secret: true }]);
      expect(trial.check.request.url).toContain(password);
      const stored = async () =>
        JSON.stringify(await running().store.query('select to_jsonb(t) from check_trials t'));
      for (const secret of [SECRET, password]) expect(await stored()).not.toContain(secret);

      const body = `${SECRET} ${password} ${password}2 ${accountSecret}`;
      const result = trialResult(trial, { apiCheckResult: httpDetail({ body }) });
      expect((await agent.report(trial.trialId, { result })).json).toEqual({ accepted: true });
      const shown = await read(trial.trialId);
      expect(shown.result.apiCheckResult.response.body).toBe('******** ******** ******** ********');
      expect(shown.target).toBe('http://user:********@shop.test/');
      for (const secret of [SECRET, password, accountSecret]) {
        expect(JSON.stringify(shown)).not.toContain(secret);
        expect(await stored()).not.toContain(secret);
      }
      const rows = await running().store.query(
        'select from check_trials where id = $1 and body is null and sealed_variables is null',
        [trial.trialId],
      );
      expect(rows).toHaveLength(1);
      const log = await mine.get('/v1/audit-log?limit=100');
      for (const secret of [SECRET, password]) expect(log.text).not.toContain(secret);
    });

    it('take the stored secrets of the check that they would change, but for its target only', async () => {
      const { mine } = service();
      const request = {
        url: 'http://shop.test/',
        method: 'GET',
        headers: [{ key: 'authorization', value: SECRET }],
      };
      const saved = await mine.post('/v1/checks', {
        ...UNSAVED,
        request,
        variables: [{ key: 'OWN', value: `${SECRET}-2`, secret: true }],
      });
      const { id: checkId, created_at: _, updated_at: __, ...shown } = saved.json;
      const changed = {
        ...shown,
        name: 'Changed',
        request: { ...shown.request, url: 'http://shop.test/b' },
      };
      const trial = await given({ checkId, check: changed });
      expect(trial.check).toMatchObject({
        name: 'Changed',
        request: { url: 'http://shop.test/b', headers: [{ key: 'authorization', value: SECRET }] },
        variables: [{ key: 'OWN', value: `${SECRET}-2`, secret: true }],
      });
      expect((await read(trial.trialId)).checkId).toBe(checkId);
      const elsewhere = { request: { ...shown.request, url: 'http://other.test/' } };
      const refused = await create({ checkId, check: elsewhere });
      expect(refused.status).toBe(400);
      expect(problemsIn(refused).join()).toMatch(/^body\.check\.request\.headers/);
      const { warnings: ___, ...after } = (await mine.get(`/v1/checks/${checkId}`)).json;
      const { warnings: ____, ...before } = saved.json;
      expect(after).toEqual(before);
      expect((await create({ checkId: 'no-such-check' })).status).toBe(404);
      // Masks of a new check replace no stored value.
      const masked = await create(
        {},
        { request: { ...request, headers: [{ key: 'authorization', value: '********' }] } },
      );
      expect(masked.status).toBe(400);
    });

    it.each([
      [
        { location: 'vault' },
        'body.location must be the slug of a private location: there is no "vault"',
      ],
      [{ location: '' }, 'body.location'],
      [{ location: `'; drop table check_trials; --` }, 'body.location'],
      [{ location: null }, 'body.location'],
      [{ check: null }, 'body.check'],
      [{ check: [] }, 'body.check'],
      [{ check: {} }, 'body.check.checkType is missing'],
      [{ check: { ...UNSAVED, checkType: 'HEARTBEAT' } }, 'body.check.checkType must be one of'],
      [{ check: { ...UNSAVED, request: { url: 'nowhere' } } }, 'body.check.request.url'],
      [{ check: { ...UNSAVED, name: 'a\u0000b' } }, 'body.check.name must not contain'],
      [{ check: { ...UNSAVED, privateLocations: [] } }, 'body.check.locations is empty'],
      [
        { check: { ...UNSAVED, privateLocations: ['vault'] } },
        'body.check.privateLocations[0] must be',
      ],
      [{ check: { ...UNSAVED, groupId: 9e15 } }, 'body.check.groupId must be the id of a group'],
      [{ check: UNSAVED, more: 1 }, 'body.more is not a known field'],
    ])('refuse %j', async (fields, problem) => {
      await agent.poll();
      const refused = await create(fields);
      expect(refused.status, refused.text).toBe(400);
      expect(problemsIn(refused).join('\n')).toContain(problem);
      expect(await running().store.query('select from check_trials')).toEqual([]);
    });

    it('need an agent that is connected, of this release, and that can run the type', async () => {
      const reasonOf = async (reply: Promise<Reply>) => {
        const { status, json } = await reply;
        expect(status).toBe(409);
        return json.attributes;
      };
      expect(await reasonOf(create())).toEqual({ location: 'cellar', reason: 'no_agent' });
      const old = new TrialAgent(running(), service().mine.accountId, cellar, 'old');
      await old.poll({});
      const refused = await create();
      expect(refused.json.attributes).toEqual({ location: 'cellar', reason: 'old_agents' });
      expect(refused.json.message).toContain('upgrade');
      // An agent that supports trials, but not the authentication.
      await old.poll({ trials: true, features: [] });
      const auth = { type: 'DIGEST', username: 'reader', password: 'secret' };
      const request = { ...UNSAVED.request, auth };
      expect(await reasonOf(create({}, { request }))).toMatchObject({ reason: 'old_agents' });
      await old.poll({});
      await agent.poll({ trials: true, icmp: false });
      const ping = { checkType: 'ICMP', request: { hostname: 'shop.test' } };
      expect(await reasonOf(create({}, ping))).toEqual({
        location: 'cellar',
        reason: 'check_type',
      });
      const made = await create();
      expect(made.status).toBe(201);
      expect(await old.poll({})).toEqual([]);
    });

    it('need the role write, are read with the role read, and belong to their account', async () => {
      const { clientWith, theirs } = service();
      await agent.poll();
      const body = { location: 'cellar', check: UNSAVED };
      expect((await (await clientWith('run')).post(PATH, body)).status).toBe(403);
      const made = await (await clientWith('write')).post(PATH, body);
      expect(made.status).toBe(201);
      const path = `${PATH}/${made.json.id}`;
      expect((await (await clientWith('read')).get(path)).json).toEqual(made.json);
      expect((await theirs.get(path)).status).toBe(404);
      expect((await theirs.post(PATH, body)).status).toBe(400);
      expect((await theirs.get(`${path}?waitSeconds=20`)).status).toBe(404);
      expect((await service().mine.get(`${PATH}/${randomUUID()}`)).status).toBe(404);
      expect((await service().mine.get(`${path}?waitSeconds=21`)).status).toBe(400);
    });

    it('are limited in number, and only the newest ended ones are kept', async () => {
      await agent.poll();
      const ids: string[] = [];
      for (let number = 0; number < MAX_OPEN_TRIALS; number += 1) {
        ids.push((await create()).json.id);
      }
      const refused = await create();
      expect(refused.status).toBe(409);
      expect(refused.json.attributes).toEqual({ limit: MAX_OPEN_TRIALS });
      // An agent has a few at once; the others follow.
      const [first] = await agent.poll();
      expect(first?.trialId).toBe(ids[0]);
      await agent.report(ids[0] ?? '', { missed: 'agent_busy' });
      expect((await create()).status).toBe(201);

      const { store } = running();
      await store.query(
        `insert into check_trials (id, account_id, location_id, name, check_type, target, state, slot,
           not_after, created_at)
         select 'old-' || n, account_id, location_id, name, check_type, target, 'expired', slot,
           not_after, created_at - n * interval '1 second'
         from check_trials, generate_series(1, $2::int) n where id = $1`,
        [ids[0], MAX_ENDED_TRIALS],
      );
      await agent.poll();
      await agent.report(ids[1] ?? '', { missed: 'agent_busy' });
      expect((await create()).status).toBe(201);
      const kept = await store.query<{ id: string }>(
        "select id from check_trials where state not in ('waiting', 'running')",
      );
      expect(kept).toHaveLength(MAX_ENDED_TRIALS - 1);
      expect(kept.map(({ id }) => id)).toContain(ids[0]);
    });

    it('end as missed for the reason that the agent reports', async () => {
      const trial = await given();
      const taken = await agent.report(trial.trialId, { missed: 'agent_offline' });
      expect(taken.json).toEqual({ accepted: true });
      expect(await read(trial.trialId)).toMatchObject({
        state: 'missed',
        reason: 'agent_offline',
        message: 'The agent itself had no network (CONNECTIVITY_CHECK). Try again.',
        result: null,
      });
      const unread = await given({}, { variables: [{ key: 'OWN', value: SECRET, secret: true }] });
      const problem = `request.http3: it is ${SECRET}`;
      await agent.report(unread.trialId, { missed: 'refused', problem });
      expect(await read(unread.trialId)).toMatchObject({
        state: 'missed',
        reason: 'refused',
        message: 'The agent cannot run this check: request.http3: it is ********',
      });
    });

    it.each([
      ['no result', {}],
      ['a text', { result: 'a' }],
      ['another check', { result: { checkId: 'shop' } }],
      ['another run', { result: { sequenceId: 'a' } }],
      ['another location', { result: { runLocation: 'attic' } }],
      ['another type', { result: { checkType: 'URL' } }],
      ['an attempt', { result: { resultType: 'ATTEMPT' } }],
      ['another slot', { result: { checkRunId: 1 } }],
    ])('end as missed if the agent sends %s', async (_, end: { readonly result?: unknown }) => {
      const trial = await given();
      const fields = end.result;
      const result =
        typeof fields === 'object' ? { ...trialResult(trial), ...fields } : (fields ?? null);
      expect((await agent.report(trial.trialId, { result })).json).toEqual({ accepted: true });
      expect(await read(trial.trialId)).toMatchObject({
        state: 'missed',
        reason: 'invalid_result',
      });
    });

    it('expire if no agent takes them, if their agent is lost, and if it sends nothing', async () => {
      const { checkTrials } = running().features;
      await agent.poll();
      const { id: waiting } = (await create()).json;
      expect(await checkTrials.sweep()).toBe(0);
      await spend(waiting, 31_000);
      expect(await agent.poll()).toEqual([]);
      expect(await checkTrials.sweep()).toBe(1);
      expect(await read(waiting)).toMatchObject({ state: 'expired', reason: 'not_started' });

      const silent = await given();
      await spend(silent.trialId, 31_000);
      expect(await checkTrials.sweep()).toBe(0);
      await spend(silent.trialId, 120_000);
      expect(await checkTrials.sweep()).toBe(1);
      expect(await read(silent.trialId)).toMatchObject({ state: 'expired', reason: 'no_result' });

      const lost = await given();
      await running().store.query(
        "update agents set lease_until = now() - interval '1 second' where location_id = $1",
        [cellar.id],
      );
      expect(await checkTrials.sweep()).toBe(1);
      expect(await read(lost.trialId)).toMatchObject({
        state: 'expired',
        reason: 'agent_lost',
        message: expect.stringContaining('try again'),
      });
      const late = await agent.report(lost.trialId, { result: trialResult(lost) });
      expect(late.json).toEqual({ accepted: false });
    });

    it('can be read for an hour', async () => {
      const { store } = running();
      const trial = await given();
      await agent.report(trial.trialId, { missed: 'agent_busy' });
      const { signal } = new AbortController();
      await deleteTrials(store, signal);
      expect((await read(trial.trialId)).state).toBe('missed');
      await spend(trial.trialId, 3_601_000);
      await deleteTrials(store, signal);
      expect((await service().mine.get(`${PATH}/${trial.trialId}`)).status).toBe(404);
    });

    it('are followed at another replica, each step as it comes', async () => {
      const replica = await startReplica(running());
      await agent.poll();
      const { id } = (await create()).json;
      const key = { accountId: service().mine.accountId, id };
      const { signal } = new AbortController();
      const started = replica.features.checkTrials.waitFor(key, 20_000, signal);
      const [trial] = await agent.poll();
      expect((await started).state).toBe('running');
      const ended = replica.features.checkTrials.waitFor(key, 20_000, signal);
      await agent.report(id, { result: trialResult(trial as GivenTrial) });
      expect((await ended).state).toBe('finished');
      expect((await service().mine.get(`${PATH}/${id}?waitSeconds=20`)).json.state).toBe(
        'finished',
      );
    });

    it('end a wait with its time or its client', async () => {
      const { clock, mine } = service();
      await agent.poll();
      const { id } = (await create()).json;
      const key = { accountId: mine.accountId, id };
      const { checkTrials } = running().features;
      const gone = new AbortController();
      const waiting = checkTrials.waitFor(key, 20_000, gone.signal);
      gone.abort();
      expect((await waiting).state).toBe('waiting');
      const until = checkTrials.waitFor(key, 20_000, new AbortController().signal);
      let over = false;
      void until.then(() => {
        over = true;
      });
      while (!over) {
        if (clock.nextTimerInMs !== null) await clock.advance(clock.nextTimerInMs);
        else await new Promise((resolve) => setImmediate(resolve));
      }
      expect((await until).state).toBe('waiting');
    });

    it('have an entry in the audit log that names the target', async () => {
      await agent.poll();
      const { id } = (await create()).json;
      const log = await service().mine.get('/v1/audit-log?limit=100');
      const entry = log.json.find(({ kind: of }: { kind: string }) => of === 'check-trial');
      expect(entry).toMatchObject({ action: 'create', resourceId: id });
      expect(JSON.stringify(entry)).toContain('http://shop.test/health');
    });
  });
});
