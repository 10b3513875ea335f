import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { plansSchema } from '../../../../src/model/account/plan.ts';
import { apiRoutes } from '../../../../src/service/api-routes.ts';
import { MAX_CHANGED, MAX_CREATED } from '../../../../src/service/bulk/body.ts';
import { databases } from '../../../support/database/databases.ts';
import { askService, type Reply, startServiceApp } from '../../../support/service/service-app.ts';
import { ALL_CHECKS, testFeatures } from '../../../support/service/service-features.ts';
import {
  type Client,
  problemsIn,
  useAccounts,
  useRunningService,
} from '../../../support/service/service-fixture.ts';

const PATH = '/v1/checks/bulk';
const URL_CHECK = {
  checkType: 'URL',
  name: 'Shop',
  request: { url: 'https://shop.test/' },
  locations: ['eu-west-1'],
};
const HEARTBEAT = {
  checkType: 'HEARTBEAT',
  name: 'Backup',
  heartbeat: { period: 1, periodUnit: 'HOURS', grace: 1, graceUnit: 'HOURS' },
};
const ACTIONS_ON_IDS = ['mute', 'unmute', 'pause', 'resume', 'run', 'delete'];
const PLANS = plansSchema.parse({
  plans: { small: { displayName: 'Small', limits: { checks: 2 } } },
  default: 'small',
});

interface Result {
  readonly index: number;
  readonly id: string | null;
  readonly status: number;
  readonly location?: string;
  readonly error?: { readonly message: string };
}

const resultsIn = (reply: Reply): readonly Result[] => {
  expect(reply.status, reply.text).toBe(200);
  return reply.json.results;
};
const statusesIn = (reply: Reply): readonly number[] =>
  resultsIn(reply).map(({ status }) => status);
const listed = async (client: Client, query = ''): Promise<Reply['json'][]> =>
  (await client.get(`/v1/checks?limit=100${query}`)).json;
const putChecks = async (client: Client, ids: readonly string[], fields: object = {}) => {
  for (const id of ids) {
    const reply = await client.put(`/v1/checks/${id}`, { ...URL_CHECK, name: id, ...fields });
    expect(reply.status, reply.text).toBe(200);
  }
};
const putHeartbeat = async (client: Client, id: string, fields: object = {}) => {
  const reply = await client.put(`/v1/checks/heartbeats/${id}`, { ...HEARTBEAT, ...fields });
  expect(reply.status, reply.text).toBe(200);
};

describe.each(databases)('on %s', (kind) => {
  describe('a bulk request', () => {
    const running = useRunningService(kind);
    const service = useAccounts(running);

    it('creates checks and heartbeats, each with the answer of the request for it alone', async () => {
      const { mine } = service();
      const wrong = { ...URL_CHECK, request: { url: 'no URL' } };
      const checks = [
        URL_CHECK,
        wrong,
        HEARTBEAT,
        { name: 'no type' },
        { ...URL_CHECK, groupId: 9 },
      ];
      const reply = await mine.post(PATH, { action: 'create', checks });
      const results = resultsIn(reply);
      expect(results.map(({ index, status }) => [index, status])).toEqual([
        [0, 201],
        [1, 400],
        [2, 201],
        [3, 400],
        [4, 400],
      ]);
      expect(reply.json).toMatchObject({
        dryRun: false,
        counts: { total: 5, succeeded: 2, failed: 3 },
      });
      for (const index of [1, 3, 4]) {
        const alone = await mine.post('/v1/checks', checks[index]);
        expect(results[index]).toEqual({
          index,
          id: null,
          status: alone.status,
          error: alone.json,
        });
      }
      expect((await mine.get(String(results[0]?.location))).json.name).toBe('Shop');
      const heartbeat = await mine.get(String(results[2]?.location));
      expect(heartbeat.json).toMatchObject({ id: results[2]?.id, checkType: 'HEARTBEAT' });
      expect(await listed(mine)).toHaveLength(2);
    });

    it('subscribes new checks to the alert channels, unless it says otherwise', async () => {
      const { mine } = service();
      await mine.post('/v1/alert-channels', { type: 'EMAIL', config: { address: 'a@shop.test' } });
      for (const autoAssignAlerts of [undefined, false]) {
        const body = { action: 'create', checks: [URL_CHECK], autoAssignAlerts };
        const [{ location } = { location: '' }] = resultsIn(await mine.post(PATH, body));
        const { json } = await mine.get(String(location));
        expect(json.alertChannelSubscriptions).toHaveLength(autoAssignAlerts === false ? 0 : 1);
      }
    });

    it('updates checks of several types by their ids, and nothing of another account', async () => {
      const { mine, theirs } = service();
      await putChecks(mine, ['a', 'b', 'shared']);
      await putHeartbeat(mine, 'beat');
      await putChecks(theirs, ['c', 'shared']);
      const before = await listed(theirs);
      const ids = ['b', 'c', 'beat', 'none', 'shared'];
      const reply = await mine.post(PATH, { action: 'update', ids, changes: { tags: ['x'] } });
      expect(resultsIn(reply).map(({ id, status }) => [id, status])).toEqual([
        ['b', 200],
        ['c', 404],
        ['beat', 200],
        ['none', 404],
        ['shared', 200],
      ]);
      const alone = await mine.patch('/v1/checks/none', { tags: ['x'] });
      expect(resultsIn(reply)[3]?.error).toEqual(alone.json);
      const tagged = (await listed(mine, '&tag=x')).map(({ id }) => id);
      expect(new Set(tagged)).toEqual(new Set(['b', 'beat', 'shared']));
      expect(await listed(theirs)).toEqual(before);
    });

    it('has the same answer for each check as an update of that check alone', async () => {
      const { mine } = service();
      await putChecks(mine, ['a']);
      await mine.put('/v1/checks/tcp/port', {
        ...URL_CHECK,
        checkType: 'TCP',
        request: { hostname: 'shop.test', port: 443 },
      });
      const changes = { request: { hostname: 'db.test', port: 5432 } };
      const reply = await mine.post(PATH, { action: 'update', ids: ['a', 'port'], changes });
      expect(statusesIn(reply)).toEqual([400, 200]);
      const alone = await mine.patch('/v1/checks/a', changes);
      expect(resultsIn(reply)[0]?.error).toEqual(alone.json);
      expect((await mine.get('/v1/checks/port')).json.request.port).toBe(5432);
    });

    it('mutes, unmutes, pauses and resumes all checks that a filter matches', async () => {
      const { mine } = service();
      await putChecks(mine, ['a', 'b'], { tags: ['shop'] });
      await putChecks(mine, ['c']);
      await putHeartbeat(mine, 'beat', { tags: ['shop'] });
      const act = async (action: string): Promise<void> => {
        const reply = await mine.post(PATH, { action, filter: { tag: ['shop'] } });
        expect(resultsIn(reply).map(({ id, status }) => [id, status])).toEqual([
          ['a', 200],
          ['b', 200],
          ['beat', 200],
        ]);
      };
      const flags = async () =>
        (await listed(mine)).map(({ id, muted, activated }) => [id, muted, activated]);
      await act('mute');
      await act('pause');
      expect(await flags()).toEqual([
        ['a', true, false],
        ['b', true, false],
        ['beat', true, false],
        ['c', false, true],
      ]);
      await act('unmute');
      await act('resume');
      expect((await flags()).every(([, muted, activated]) => !muted && activated)).toBe(true);
    });

    it.each([
      [{ type: ['TCP'] }, 'port'],
      [{ search: 'PORT' }, 'port'],
      [{ activated: false }, 'off'],
      [{ state: ['paused'] }, 'off'],
      [{ location: 'us-east-1' }, 'far'],
      [{ search: '\u0000' }, ''],
      [{ tag: ['x', 'y'], type: ['URL'] }, 'far,off'],
    ])('takes the filters of lists, such as %j', async (filter, ids) => {
      const { mine } = service();
      const request = { hostname: 'shop.test', port: 443 };
      const tcp = { ...URL_CHECK, checkType: 'TCP', name: 'A port', request };
      await mine.put('/v1/checks/tcp/port', { ...tcp, tags: ['x'] });
      await putChecks(mine, ['far'], { locations: ['us-east-1'], tags: ['y'] });
      await putChecks(mine, ['off'], { activated: false, tags: ['x'] });
      const reply = await mine.post(PATH, { action: 'mute', filter });
      const muted = resultsIn(reply).map(({ id }) => id);
      expect(muted.join()).toBe(ids);
    });

    it('deletes by a filter only if it matches as many checks as expected', async () => {
      const { mine } = service();
      await putChecks(mine, ['a', 'b'], { tags: ['old'] });
      await putChecks(mine, ['c']);
      const filter = { tag: ['old'] };
      const unsure = await mine.post(PATH, { action: 'delete', filter });
      expect(unsure.status).toBe(400);
      expect(problemsIn(unsure)[0]).toContain('body.expected is missing');
      const tried = await mine.post(PATH, { action: 'delete', filter, dryRun: true });
      expect(tried.json).toMatchObject({ dryRun: true, counts: { total: 2, succeeded: 2 } });
      const other = await mine.post(PATH, { action: 'delete', filter, expected: 3 });
      expect(other).toMatchObject({ status: 409, json: { attributes: { expected: 3, count: 2 } } });
      expect(await listed(mine)).toHaveLength(3);
      const done = await mine.post(PATH, { action: 'delete', filter, expected: 2 });
      expect(statusesIn(done)).toEqual([204, 204]);
      expect((await listed(mine)).map(({ id }) => id)).toEqual(['c']);
    });

    it.each([
      [{}, 'body.action is missing'],
      [{ action: 'explode', ids: ['a'] }, 'body.action must be one of'],
      [{ action: 'delete' }, 'body.ids is missing'],
      [{ action: 'delete', ids: [] }, 'body.ids must be at least 1'],
      [{ action: 'delete', ids: ['a', 'a'] }, 'body.ids[1] must not name a twice'],
      [{ action: 'delete', ids: ['a'], filter: { tag: ['x'] } }, 'body.filter must not be given'],
      [{ action: 'delete', ids: ['a'], expected: 1 }, 'body.expected needs a filter'],
      [{ action: 'delete', filter: {}, expected: 1 }, 'body.filter must have at least one field'],
      [
        { action: 'delete', filter: { tag: [], search: '' }, expected: 1 },
        'body.filter must have at least one field',
      ],
      [{ action: 'mute', filter: { tags: ['x'] } }, 'body.filter.tags is not a known field'],
      [{ action: 'mute', ids: ['a'], changes: { muted: false } }, 'body.changes is not a known'],
      [{ action: 'update', ids: ['a'], changes: {} }, 'body.changes must have at least one field'],
      [{ action: 'create', checks: [] }, 'body.checks must be at least 1'],
    ])('is refused as a whole with the body %j', async (body, problem) => {
      const { mine } = service();
      await putChecks(mine, ['a']);
      const before = await listed(mine);
      const reply = await mine.post(PATH, body);
      expect(reply.status).toBe(400);
      expect(problemsIn(reply).join('\n')).toContain(problem);
      expect(await listed(mine)).toEqual(before);
    });

    it('has a bound for what it names, creates and matches', async () => {
      const { mine, store } = service();
      const ids = Array.from({ length: MAX_CHANGED + 1 }, (_, index) => `c-${index}`);
      const named = await mine.post(PATH, { action: 'mute', ids });
      expect(problemsIn(named)[0]).toContain(`body.ids must be at most ${MAX_CHANGED}`);
      const checks = Array.from({ length: MAX_CREATED + 1 }, () => URL_CHECK);
      const created = await mine.post(PATH, { action: 'create', checks });
      expect(problemsIn(created)[0]).toContain(`body.checks must be at most ${MAX_CREATED}`);
      await putChecks(mine, ['c-0'], { tags: ['many'] });
      await store.query(
        `insert into checks (account_id, id, check_type, name, activated, muted, tags, group_id,
           frequency, body, created_at, revision)
         select account_id, 'c-' || n, check_type, name, activated, muted, tags, group_id, frequency,
           body, created_at, 1
         from checks, generate_series(1, $2::int) n where account_id = $1 and id = 'c-0'`,
        [mine.accountId, MAX_CHANGED],
      );
      const matched = await mine.post(PATH, { action: 'mute', filter: { tag: ['many'] } });
      const count = MAX_CHANGED + 1;
      expect(matched).toMatchObject({
        status: 409,
        json: { attributes: { count, limit: MAX_CHANGED } },
      });
      expect((await listed(mine, '&search=c-0'))[0].muted).toBe(false);
    });

    it('does not change a check that no longer matches the filter when it is processed', async () => {
      const { mine, features } = service();
      await putChecks(mine, ['a'], { tags: ['old'] });
      await putHeartbeat(mine, 'beat', { tags: ['old'] });
      const matching = { ...ALL_CHECKS, tags: ['gone'] };
      const key = (id: string) => ({ accountId: mine.accountId, id });
      const { checks, heartbeats } = features;
      const changes = { muted: true };
      for (const late of [
        () => checks.remove(key('a'), { matching }),
        () => checks.update(key('a'), changes, { matching }),
        () => heartbeats.update(key('beat'), changes, { matching }),
      ]) {
        await expect(late()).rejects.toMatchObject({ status: 412 });
      }
      expect((await listed(mine)).map(({ muted }) => muted)).toEqual([false, false]);
    });

    it('as a dry run writes nothing, and answers as it would', async () => {
      const { mine } = service();
      await mine.post('/v1/private-locations', { slug: 'berlin', name: 'Berlin' });
      await putChecks(mine, ['a'], { privateLocations: ['berlin'] });
      await putHeartbeat(mine, 'beat');
      const latest = async () => (await mine.get('/v1/events?limit=1')).json;
      const before = [await listed(mine), await latest()];
      const ids = ['a', 'beat', 'none'];
      const bodies = [
        { action: 'create', checks: [URL_CHECK, HEARTBEAT, { ...URL_CHECK, frequency: -1 }] },
        { action: 'update', ids, changes: { privateLocations: ['paris'] } },
        ...ACTIONS_ON_IDS.map((action) => ({ action, ids })),
      ];
      const answers = [];
      for (const body of bodies) answers.push(await mine.post(PATH, { ...body, dryRun: true }));
      expect([await listed(mine), await latest()]).toEqual(before);
      for (const [index, body] of bodies.entries()) {
        const done = await mine.post(PATH, body);
        const tried = answers[index]?.json;
        expect(tried).toEqual({
          ...done.json,
          dryRun: true,
          results: resultsIn(done).map(({ location, ...result }) => ({
            ...result,
            id: body.action === 'create' ? null : result.id,
          })),
        });
      }
    });

    it('runs checks, as far as each can run', async () => {
      const { mine } = service();
      await mine.post('/v1/private-locations', { slug: 'berlin', name: 'Berlin' });
      await putChecks(mine, ['a'], { privateLocations: ['berlin'] });
      await putChecks(mine, ['b']);
      await putHeartbeat(mine, 'beat');
      const reply = await mine.post(PATH, { action: 'run', ids: ['a', 'b', 'beat'] });
      expect(statusesIn(reply)).toEqual([201, 400, 409]);
      const [{ location } = { location: '' }] = resultsIn(reply);
      expect((await mine.get(String(location))).json).toMatchObject({
        checkId: 'a',
        location: 'berlin',
        state: 'waiting',
      });
      const elsewhere = { action: 'run', ids: ['a'], location: 'paris' };
      expect(statusesIn(await mine.post(PATH, elsewhere))).toEqual([400]);
    });

    it('needs the role of what it does', async () => {
      const { mine, clientWith } = service();
      await putChecks(mine, ['a']);
      const before = await listed(mine);
      const [reader, runner, writer] = [
        await clientWith('read'),
        await clientWith('run'),
        await clientWith('write'),
      ];
      const bodies = [
        { action: 'create', checks: [URL_CHECK] },
        { action: 'update', ids: ['a'], changes: { name: 'b' } },
        ...ACTIONS_ON_IDS.map((action) => ({ action, ids: ['a'] })),
      ];
      for (const body of bodies) {
        for (const dryRun of [true, false]) {
          expect((await reader.post(PATH, { ...body, dryRun })).status).toBe(403);
          const reply = await runner.post(PATH, { ...body, dryRun });
          if (body.action === 'run') expect(reply.status).toBe(200);
          else {
            expect(reply).toMatchObject({
              status: 403,
              json: { attributes: { role: 'run', needed: 'write' } },
            });
          }
        }
      }
      expect(await listed(mine)).toEqual(before);
      for (const body of bodies) expect((await writer.post(PATH, body)).status).toBe(200);
    });

    it('with an Idempotency-Key is done once', async () => {
      const { mine } = service();
      const headers = { 'idempotency-key': randomUUID() };
      const body = { action: 'create', checks: [URL_CHECK, HEARTBEAT, {}] };
      const first = await mine.ask('POST', PATH, body, headers);
      const again = await mine.ask('POST', PATH, body, headers);
      expect(statusesIn(first)).toEqual([201, 201, 400]);
      expect(again.headers['idempotent-replayed']).toBe('true');
      expect(again.json).toEqual(first.json);
      expect(await listed(mine)).toHaveLength(2);
    });

    it('makes an event of each change, and none for what it refuses', async () => {
      const { mine } = service();
      await putChecks(mine, ['a', 'b']);
      const body = { action: 'delete', ids: ['a', 'none', 'b'] };
      expect(statusesIn(await mine.post(PATH, body))).toEqual([204, 404, 204]);
      const { json } = await mine.get('/v1/events?limit=2');
      expect(
        json.map(({ kind, resourceId }: Record<string, string>) => [kind, resourceId]),
      ).toEqual([
        ['check.deleted', 'b'],
        ['check.deleted', 'a'],
      ]);
    });

    it('does not wait for another of the same account: one of two gets 429', async () => {
      const { mine, theirs } = service();
      const ids = Array.from({ length: 20 }, (_, index) => `c-${index}`);
      await putChecks(mine, ids);
      await putChecks(theirs, ids);
      const replies = await Promise.all(
        [mine, mine, theirs].map((client) => client.post(PATH, { action: 'mute', ids })),
      );
      const statuses = replies.map(({ status }) => status);
      expect(statuses.slice(0, 2).sort()).toEqual([200, 429]);
      expect(statuses[2]).toBe(200);
      const refused = replies.find(({ status }) => status === 429);
      expect(Number(refused?.headers['retry-after'])).toBeGreaterThan(0);
      expect((await mine.post(PATH, { action: 'unmute', ids })).status).toBe(200);
    });

    it('loses nothing of updates of the same checks at another replica', async () => {
      const { mine } = service();
      const { store, clock } = running();
      const made = await testFeatures(store, clock);
      const other = await startServiceApp(apiRoutes(made.features, new AbortController().signal), {
        store,
        clock,
        authenticator: made.features.apiKeys,
        locationKeys: made.features.locationKeys,
        config: { rateLimitPerMinute: 1_000_000, trustedProxies: [] },
      });
      try {
        const { key } = (await mine.post('/v1/api-keys', { name: 'two', role: 'write' })).json;
        const ids = Array.from({ length: 30 }, (_, index) => `c-${index + 10}`);
        await putChecks(mine, ids);
        const there = (path: string, method: string, body: unknown) =>
          askService(other.port, path, { key, method, body });
        const replies = await Promise.all([
          mine.post(PATH, { action: 'update', ids, changes: { tags: ['bulk'] } }),
          there(PATH, 'POST', { action: 'mute', ids: ids.toReversed() }),
          ...ids.map((id) => there(`/v1/checks/${id}`, 'PATCH', { description: `of ${id}` })),
        ]);
        expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
        for (const reply of replies.slice(0, 2)) {
          expect(reply.json.counts).toEqual({ total: 30, succeeded: 30, failed: 0 });
        }
        const checks = await listed(mine);
        expect(checks.map(({ tags, muted, description }) => [tags, muted, description])).toEqual(
          ids.map((id) => [['bulk'], true, `of ${id}`]),
        );
      } finally {
        await other.close();
        await made.close();
      }
    });
  });

  describe('a bulk request in an account with a plan', () => {
    const service = useAccounts(useRunningService(kind, { plans: PLANS }));

    it('creates as many checks as the plan allows, and refuses the others', async () => {
      const { mine } = service();
      const checks = [URL_CHECK, URL_CHECK, URL_CHECK, HEARTBEAT];
      const reply = await mine.post(PATH, { action: 'create', checks });
      expect(statusesIn(reply)).toEqual([201, 201, 402, 201]);
      const alone = await mine.post('/v1/checks', URL_CHECK);
      expect(resultsIn(reply)[2]?.error).toEqual(alone.json);
    });
  });
});
