import { describe, expect, it } from 'vitest';
import { databases } from '../../../../support/database/databases.ts';
import { HTTP_DETAIL } from '../../../../support/samples/http-results.ts';
import { HOUR, MINUTE, useHeartbeats } from '../../../../support/service/heartbeats-fixture.ts';
import {
  minutesAgo,
  type Run,
  resultOfRun,
  useResultsFixture,
} from '../../../../support/service/results-fixture.ts';
import {
  problemsIn,
  useAccounts,
  useRunningService,
} from '../../../../support/service/service-fixture.ts';

const LIST = '/v1/check-statuses';
const COUNTS = '/v1/check-state-counts';
const timeOf = (ago: number): string => new Date(minutesAgo(ago)).toISOString();

/** The lists of src/service/README.md, "Check statuses". */
describe.each(databases)('on %s', (kind) => {
  const fixture = useResultsFixture(useRunningService(kind));

  /** Runs of a check in berlin, given by minutes ago. */
  const ran = async (checkId: string, runs: Readonly<Record<number, Partial<Run>>>) => {
    const results = Object.entries(runs).map(([ago, fields]) =>
      resultOfRun({ checkId, slot: minutesAgo(Number(ago)), ...fields }),
    );
    await fixture().deliver(fixture().berlin, { results });
  };
  const failing = { hasFailures: true };
  const list = async (query = '') => {
    const reply = await fixture().mine.get(`${LIST}${query}`);
    expect(reply.status).toBe(200);
    return reply.json;
  };
  const ids = async (query = ''): Promise<readonly string[]> =>
    (await list(query)).map(({ checkId }: { checkId: string }) => checkId);

  describe('the list of statuses', () => {
    it('says what is down and since when, the most urgent first', async () => {
      const { check, mine } = fixture();
      for (const id of ['down', 'lately-down', 'slow', 'off']) await check(id);
      await ran('shop', { 3: {}, 2: {}, 1: {} });
      await ran('down', { 4: {}, 3: failing, 2: failing, 1: failing });
      await ran('lately-down', { 2: {}, 1: failing });
      await ran('slow', { 2: { isDegraded: true }, 1: { isDegraded: true } });
      await check('new');
      await ran('off', { 1: failing });
      await mine.patch('/v1/checks/off', { activated: false });

      const found = await list();
      const states = found.map((status: Record<string, unknown>) => [
        status.checkId,
        status.state,
        status.since,
      ]);
      expect(states).toEqual([
        ['lately-down', 'failing', timeOf(1)],
        ['down', 'failing', timeOf(3)],
        ['slow', 'degraded', timeOf(2)],
        ['new', 'unknown', timeOf(0)],
        ['shop', 'passing', timeOf(3)],
        ['off', 'paused', timeOf(0)],
      ]);
      expect((await mine.get(COUNTS)).json).toEqual({
        failing: 2,
        degraded: 1,
        unknown: 1,
        passing: 1,
        paused: 1,
      });
      expect((await mine.get(`${LIST}/down`)).json).toEqual(found[1]);
      expect((await mine.get(`${LIST}/new`)).json).toBeNull();
    });

    it('has all fields of a check that ran, and of one that did not', async () => {
      const { check } = fixture();
      await check('new', { tags: ['web'] });
      const apiCheckResult = {
        ...HTTP_DETAIL,
        response: null,
        requestError: 'Connection refused',
        requestErrorCode: 'CONNECT_REFUSED' as const,
      };
      await ran('shop', {
        2: { ...failing, responseTime: 40, apiCheckResult },
        1: { responseTime: 30 },
      });
      const [unknown, shop] = await list();
      expect(unknown).toEqual({
        name: 'Check new',
        checkId: 'new',
        checkType: 'URL',
        activated: true,
        muted: false,
        tags: ['web'],
        groupId: null,
        locations: ['berlin', 'oslo'],
        state: 'unknown',
        since: timeOf(0),
        unknownReason: 'no_result',
        mutedByGroup: false,
        inMaintenance: false,
        acknowledgement: null,
        hasFailures: false,
        hasErrors: false,
        isDegraded: false,
        longestRun: null,
        shortestRun: null,
        lastRunAt: null,
        lastRunLocation: null,
        lastCheckRunId: null,
        lastResponseTime: null,
        usualResponseTime: null,
        lastError: null,
        sslDaysRemaining: null,
        heartbeat: null,
        updated_at: null,
      });
      expect(shop).toMatchObject({
        state: 'passing',
        since: timeOf(1),
        longestRun: 40,
        shortestRun: 30,
        lastRunAt: timeOf(1),
        lastRunLocation: 'berlin',
        lastCheckRunId: String(minutesAgo(1)),
        lastResponseTime: 30,
        lastError: {
          code: 'CONNECT_REFUSED',
          message: 'Connection refused',
          location: 'berlin',
          at: timeOf(2),
        },
        created_at: timeOf(0).slice(0, 10),
      });
    });

    it('has 96 cells of each check if they are requested, also of one check', async () => {
      const { check, mine, deliver, oslo } = fixture();
      await check('other');
      await ran('shop', { 1: { isDegraded: true }, 2: failing, 20: {}, 2000: {} });
      const slot = minutesAgo(16);
      const missed = { checkId: 'other', slot, lastSlot: minutesAgo(14), count: 3 };
      await deliver(oslo, { missed: [missed, { ...missed, checkId: 'shop' }] });
      const none = Array.from({ length: 96 }, () => 0);
      const last = (...numbers: number[]): number[] => [...none.slice(numbers.length), ...numbers];
      const cells = { from: timeOf(95 * 15), minutes: 15, missed: last(1, 2, 0) };
      const shop = {
        ...cells,
        runs: last(1, 2, 0),
        failures: last(0, 1, 0),
        degraded: last(0, 1, 0),
      };
      const [other, listed] = await list('?cells=true&sort=name');
      expect(other.cells).toEqual({ ...cells, runs: none, failures: none, degraded: none });
      expect(listed.cells).toEqual(shop);
      expect((await mine.get(`${LIST}/shop?cells=true`)).json).toEqual(listed);
      expect((await list())[0]).not.toHaveProperty('cells');
    });

    it('is filtered as the list of checks is, and so are the counts', async () => {
      const { check, mine } = fixture();
      const { json: group } = await mine.post('/v1/check-groups', {
        name: 'g',
        privateLocations: ['oslo'],
      });
      await check('grouped', { groupId: group.id, tags: ['web'] });
      await check('tcp-check', {
        checkType: 'TCP',
        request: { hostname: 'shop.test', port: 22 },
        privateLocations: ['berlin'],
        activated: false,
      });
      await check('public', { privateLocations: ['berlin'], locations: ['eu-west-1'] });
      await mine.put('/v1/checks/heartbeats/beat', {
        heartbeat: { period: 1, periodUnit: 'HOURS', grace: 1, graceUnit: 'HOURS' },
      });
      await ran('shop', { 1: failing });
      const filters: [string, readonly string[]][] = [
        ['?state=failing', ['shop']],
        ['?state=paused&state=failing', ['shop', 'tcp-check']],
        ['?type=TCP', ['tcp-check']],
        ['?tag=web', ['grouped']],
        [`?groupId=${group.id}`, ['grouped']],
        [`?groupId=${group.id + 1}`, []],
        ['?activated=false', ['tcp-check']],
        ['?activated=true&state=unknown&type=URL', ['grouped', 'public']],
        ['?location=oslo', ['grouped', 'shop']],
        ['?location=berlin', ['public', 'shop', 'tcp-check']],
        ['?location=eu-west-1', ['public']],
        ['?location=%00', []],
        ['?search=PUB', ['public']],
        ['?without=group', ['beat', 'public', 'shop', 'tcp-check']],
        ['?without=group&without=tag&without=location', ['beat']],
        ['?without=tag&type=URL', ['public', 'shop']],
        ['?silent=true', []],
        ['?silent=false&tag=web', ['grouped']],
      ];
      for (const [query, wanted] of filters) {
        expect([query, (await ids(query)).toSorted()]).toEqual([query, wanted]);
        const { json: counts } = await mine.get(`${COUNTS}${query}`);
        const sum = Object.values<number>(counts).reduce((one, other) => one + other, 0);
        expect([query, sum]).toEqual([query, wanted.length]);
        const { json: checks } = await mine.get(`/v1/checks${query}`);
        const listed = checks.map(({ id }: { id: string }) => id).toSorted();
        expect([query, listed]).toEqual([query, wanted]);
      }
    });

    it('is sorted by each field in both directions, without value last, and paged', async () => {
      const { check, mine } = fixture();
      for (const id of ['b', 'C', 'a']) await check(id, { name: id });
      await mine.delete('/v1/checks/shop');
      await ran('b', { 3: { responseTime: 5 } });
      await ran('C', { 2: { responseTime: 7, ...failing }, 1: { responseTime: 7, ...failing } });
      const orders: [string, readonly string[]][] = [
        ['state', ['C', 'a', 'b']],
        ['name', ['a', 'b', 'C']],
        ['-name', ['C', 'b', 'a']],
        ['since', ['b', 'C', 'a']],
        ['-since', ['a', 'C', 'b']],
        ['lastRunAt', ['b', 'C', 'a']],
        ['-lastRunAt', ['C', 'b', 'a']],
        ['lastResponseTime', ['b', 'C', 'a']],
        ['-lastResponseTime', ['C', 'b', 'a']],
        ['sslDaysRemaining', ['C', 'a', 'b']],
      ];
      for (const [sort, wanted] of orders) {
        expect([sort, await ids(`?sort=${sort}`)]).toEqual([sort, wanted]);
      }
      expect(await ids('?sort=name&limit=2&page=1')).toEqual(['a', 'b']);
      expect(await ids('?sort=name&limit=2&page=2')).toEqual(['C']);
      expect(await ids('?limit=2&page=3')).toEqual([]);
    });

    it('refuses invalid parameters, and shows no checks of another account', async () => {
      const { mine, theirs } = fixture();
      for (const query of [
        'state=down',
        'sort=id',
        'limit=101',
        'groupId=x',
        'activated=1',
        'silent=1',
        'without=name',
        'x=1',
      ]) {
        const refused = await mine.get(`${LIST}?${query}`);
        expect(refused.status).toBe(400);
        expect(problemsIn(refused)[0]).toContain(`query`);
      }
      expect((await mine.get(`${COUNTS}?limit=1`)).status).toBe(400);
      expect((await theirs.get(LIST)).json).toEqual([]);
      expect((await theirs.get(COUNTS)).json).toMatchObject({ unknown: 0 });
    });
  });

  describe('while time passes', () => {
    const running = useRunningService(kind);
    const service = useAccounts(running);
    const { heartbeat, pass } = useHeartbeats(running, service);

    it('a heartbeat is in its state since the first event of it, also where the previous release wrote it', async () => {
      const { mine, store, clock } = service();
      const { id, ping, status } = await heartbeat();
      expect((await mine.get(LIST)).json[0]).toMatchObject({ checkId: id, state: 'unknown' });
      const now = (): string => new Date(clock.wallMs()).toISOString();
      const firstAt = now();
      await ping();
      await pass(HOUR);
      await ping();
      expect(await status()).toMatchObject({ state: 'passing', since: firstAt });
      await pass(HOUR);
      await pass(5 * MINUTE);
      const failedAt = now();
      expect(await status()).toMatchObject({ state: 'failing', since: failedAt });
      await pass(MINUTE);
      const recoveredAt = now();
      await ping();
      await pass(HOUR);
      await ping();
      expect(await status()).toMatchObject({ state: 'passing', since: recoveredAt });
      await store.query('update check_statuses set name = name where check_id = $1', [id]);
      expect(await status()).toMatchObject({ state: 'passing', since: recoveredAt });
      await store.query('update check_statuses set name = name where check_id = $1', [id]);
      await pass(2 * HOUR);
      expect(await status()).toMatchObject({ state: 'failing' });
    });

    it('a heartbeat has its rhythm, its last ping and when it fails without another', async () => {
      const { mine, clock } = service();
      const { id, ping } = await heartbeat();
      const shown = async () => (await mine.get(`${LIST}?type=HEARTBEAT`)).json[0].heartbeat;
      const rhythm = { periodSeconds: 3_600, graceSeconds: 300 };
      expect(await shown()).toEqual({ ...rhythm, lastPingAt: null, failsAt: null });
      await ping();
      const pingedMs = clock.wallMs();
      const lastPingAt = new Date(pingedMs).toISOString();
      const failsAt = new Date(pingedMs + HOUR + 5 * MINUTE).toISOString();
      expect(await shown()).toEqual({ ...rhythm, lastPingAt, failsAt });
      expect((await mine.get(`${LIST}/${id}`)).json.heartbeat).toEqual(await shown());
      await pass(2 * HOUR);
      expect(await shown()).toEqual({ ...rhythm, lastPingAt, failsAt: null });
    });

    it('a check is paused since the first of its own and its group deactivation, until both are undone', async () => {
      const { mine, clock } = service();
      const { json: group } = await mine.post('/v1/check-groups', { name: 'g' });
      const now = (): string => new Date(clock.wallMs()).toISOString();
      const createdAt = now();
      const path = '/v1/checks/url/grouped';
      const request = { url: 'https://shop.test/' };
      await mine.put(path, { request, locations: ['eu-west-1'], groupId: group.id });
      const status = async () => {
        const [{ state, since }] = (await mine.get(LIST)).json;
        return [state, since];
      };
      const set = async (path: string, activated: boolean): Promise<void> => {
        clock.spend(60_000);
        expect((await mine.put(path, { activated })).status).toBe(200);
      };
      await set(`/v1/check-groups/${group.id}`, false);
      const pausedAt = now();
      expect(await status()).toEqual(['paused', pausedAt]);
      await set(path, false);
      await mine.patch(path, { name: 'renamed' });
      expect(await status()).toEqual(['paused', pausedAt]);
      await set(`/v1/check-groups/${group.id}`, true);
      expect((await status())[0]).toBe('paused');
      await set(path, true);
      expect(await status()).toEqual(['unknown', createdAt]);
      await set(path, false);
      expect(await status()).toEqual(['paused', now()]);
    });
  });
});
