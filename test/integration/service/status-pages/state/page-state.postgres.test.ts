import { afterEach, describe, expect, it } from 'vitest';
import type {
  PageState,
  ServiceOnPage,
} from '../../../../../src/service/status-pages/state/page-state.ts';
import { databases } from '../../../../support/database/databases.ts';
import { useHeartbeats } from '../../../../support/service/heartbeats-fixture.ts';
import {
  DAY_MS,
  minutesAgo,
  NOW,
  type Run,
  resultOfRun,
  useResultsFixture,
} from '../../../../support/service/results-fixture.ts';
import { problemsIn, useRunningService } from '../../../../support/service/service-fixture.ts';

const PAGES = '/v1/status-pages';
const SERVICES = `${PAGES}/services`;
const INCIDENTS = `${PAGES}/incidents`;
const WINDOWS = '/v1/maintenance-windows';
const HEARTBEATS = '/v1/checks/heartbeats';
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const HOUR_MINUTES = 60;
const DAY_MINUTES = 1440;
const never = new AbortController().signal;

let pages = 0;

describe.each(databases)('on %s', (kind) => {
  describe('the state of a status page', () => {
    const running = useRunningService(kind);
    const fixture = useResultsFixture(running);

    const { heartbeat, pass } = useHeartbeats(running, fixture);

    afterEach(() => {
      const { clock } = running();
      clock.stepWall(NOW - clock.wallMs());
    });

    const run = async (...runs: readonly Run[]): Promise<void> => {
      const { berlin, oslo, deliver } = fixture();
      for (const place of [berlin, oslo]) {
        const own = runs.filter(({ runLocation = 'berlin' }) => runLocation === place.slug);
        if (own.length > 0) await deliver(place, { results: own.map(resultOfRun) });
      }
    };
    const service = async (fields: object): Promise<string> => {
      const made = await fixture().mine.post(SERVICES, { name: 'Shop', ...fields });
      expect([made.status, made.text]).toEqual([201, expect.any(String)]);
      return made.json.id;
    };
    const page = async (...services: readonly string[]): Promise<string> => {
      pages += 1;
      const cards = [{ name: 'All', services }];
      const made = await fixture().mine.post(PAGES, { name: 'Status', url: `s-${pages}`, cards });
      expect(made.status).toBe(201);
      return made.json.id;
    };
    const read = async (id: string): Promise<PageState> => {
      const { accountId } = fixture().mine;
      const state = await fixture().features.pageStates.read({ accountId, id });
      if (state === null) throw new Error('there is no such page');
      return state;
    };
    /** The only service of a new page. */
    const shown = async (serviceId: string): Promise<ServiceOnPage> => {
      const [one] = (await read(await page(serviceId))).cards[0]?.services ?? [];
      if (one === undefined) throw new Error('the page has no service');
      return one;
    };
    /** The days that are not UNKNOWN, as [day, condition]. */
    const knownDays = ({ history }: ServiceOnPage): readonly unknown[] =>
      (history?.days ?? [])
        .filter(({ condition }) => condition !== 'UNKNOWN')
        .map(({ day, condition }) => [day, condition]);
    const window = async (fields: object): Promise<void> => {
      const made = await fixture().mine.post(WINDOWS, {
        name: 'Move',
        startsAt: new Date(NOW - HOUR_MS).toISOString(),
        endsAt: new Date(NOW + HOUR_MS).toISOString(),
        repeatUnit: 'DAY',
        ...fields,
      });
      expect(made.status).toBe(201);
    };

    it('follows checks, heartbeats and tags that the account has, and forgets deleted ones', async () => {
      const { mine, theirs, check } = fixture();
      await check('store');
      const body = { period: 1, periodUnit: 'HOURS', grace: 5, graceUnit: 'MINUTES' };
      const made = await mine.post(HEARTBEATS, { name: 'Backup', heartbeat: body });
      const heartbeat: string = made.json.id;
      const foreign = (await theirs.post(HEARTBEATS, { name: 'Theirs', heartbeat: body })).json.id;
      const fields = {
        checkIds: ['shop', 'store'],
        checkTags: ['web'],
        heartbeatIds: [heartbeat],
        failureRule: 'LOCATIONS',
        failureLocations: 2,
        showUptime: false,
      };
      const id = await service(fields);
      const path = `${SERVICES}/${id}`;
      expect((await mine.get(path)).json).toMatchObject(fields);
      expect((await mine.get(SERVICES)).json).toEqual([(await mine.get(path)).json]);
      const refusals = [
        [{ checkIds: ['shop', 'none'] }, 'body.checkIds[1]'],
        [{ checkIds: [heartbeat] }, 'body.checkIds[0]'],
        [{ heartbeatIds: ['shop'] }, 'body.heartbeatIds[0]'],
        [{ heartbeatIds: [foreign] }, 'body.heartbeatIds[0]'],
        [{ failureLocations: null }, 'body.failureLocations'],
      ] as const;
      for (const [change, problem] of refusals) {
        const refused = await mine.patch(path, change);
        expect(refused.status).toBe(400);
        expect(problemsIn(refused).join('\n')).toContain(problem);
      }
      expect((await mine.get(path)).json).toMatchObject(fields);
      await mine.delete('/v1/checks/shop');
      const left = { ...fields, checkIds: ['store'] };
      expect((await mine.get(path)).json).toMatchObject(left);
      const renamed = await mine.patch(path, { name: 'Store' });
      expect(renamed.json).toMatchObject({ ...left, name: 'Store' });
      const fewer = await mine.patch(path, { heartbeatIds: [], failureRule: 'ALL' });
      expect(fewer.json).toMatchObject({ ...left, heartbeatIds: [], failureRule: 'ALL' });
    });

    it('is that of the incidents alone for a service without checks', async () => {
      const id = await service({});
      expect(await shown(id)).toMatchObject({
        condition: 'OPERATIONAL',
        sinceMs: null,
        history: null,
      });
    });

    it.each([
      ['ANY', ['PARTIAL_OUTAGE', 'MAJOR_OUTAGE']],
      ['ALL', ['DEGRADED', 'MAJOR_OUTAGE']],
    ])(
      'with the rule %s is %j when one check fails, and when all fail',
      async (failureRule, [some, all]) => {
        await fixture().check('store');
        const id = await service({ checkIds: ['shop', 'store'], failureRule });
        expect((await shown(id)).condition).toBe('UNKNOWN');
        await run(
          { slot: minutesAgo(9) },
          { slot: minutesAgo(8), checkId: 'store', responseTime: 30 },
        );
        const well = await shown(id);
        expect(well).toMatchObject({ condition: 'OPERATIONAL', sinceMs: null });
        await run({ slot: minutesAgo(7), isDegraded: true });
        expect(await shown(id)).toMatchObject({ condition: 'DEGRADED', sinceMs: minutesAgo(7) });
        await run({ slot: minutesAgo(6), hasFailures: true });
        expect(await shown(id)).toMatchObject({
          condition: some,
          sinceMs: minutesAgo(6),
          responseTimeMs: 30,
        });
        await run({ slot: minutesAgo(5), checkId: 'store', hasFailures: true });
        expect(await shown(id)).toMatchObject({ condition: all, sinceMs: minutesAgo(5) });
      },
    );

    it('with the rule LOCATIONS counts a check that fails in enough locations at once', async () => {
      const id = await service({
        checkIds: ['shop'],
        failureRule: 'LOCATIONS',
        failureLocations: 2,
      });
      const one = await service({
        checkIds: ['shop'],
        failureRule: 'LOCATIONS',
        failureLocations: 1,
      });
      const many = await service({
        checkIds: ['shop'],
        failureRule: 'LOCATIONS',
        failureLocations: 9,
      });
      const both = async () => [
        (await shown(id)).condition,
        (await shown(one)).condition,
        (await shown(many)).condition,
      ];
      await run({ slot: minutesAgo(5), hasFailures: true });
      expect(await both()).toEqual(['OPERATIONAL', 'MAJOR_OUTAGE', 'OPERATIONAL']);
      // The latest slot passes; Berlin still fails by its own latest run.
      await run({ slot: minutesAgo(4), runLocation: 'oslo' });
      expect(await both()).toEqual(['OPERATIONAL', 'MAJOR_OUTAGE', 'OPERATIONAL']);
      await run({ slot: minutesAgo(3), runLocation: 'oslo', hasFailures: true });
      expect(await both()).toEqual(['MAJOR_OUTAGE', 'MAJOR_OUTAGE', 'MAJOR_OUTAGE']);
      await run({ slot: minutesAgo(2) });
      expect(await both()).toEqual(['OPERATIONAL', 'MAJOR_OUTAGE', 'OPERATIONAL']);
    });

    it('never has an outage because nothing measured: missed slots, paused and old states', async () => {
      const { berlin, deliver, mine, clock } = fixture();
      const id = await service({ checkIds: ['shop'] });
      await run({ slot: minutesAgo(9), hasFailures: true });
      expect((await shown(id)).condition).toBe('MAJOR_OUTAGE');
      const slot = minutesAgo(2 * DAY_MINUTES);
      await deliver(berlin, {
        missed: [{ checkId: 'shop', slot, lastSlot: slot + 40 * 60_000, count: 41 }],
      });
      const missed = (await shown(id)).history?.days.at(-3);
      expect(missed).toMatchObject({ missed: 41, runs: 0, condition: 'UNKNOWN' });
      clock.spend(2 * HOUR_MS);
      // Ten minutes a slot and two locations: it is not known after an hour.
      expect(await shown(id)).toMatchObject({ condition: 'UNKNOWN', sinceMs: minutesAgo(9) });
      await mine.patch('/v1/checks/url/shop', { activated: false });
      expect(await shown(id)).toMatchObject({ condition: 'UNKNOWN', sinceMs: clock.wallMs() });
    });

    it('leaves a deactivated check out, and counts a muted one', async () => {
      const { check } = fixture();
      await check('store');
      await check('off', { activated: false });
      await check('muted', { muted: true });
      const id = await service({ checkIds: ['shop', 'off'] });
      await run({ slot: minutesAgo(5), hasFailures: true });
      expect((await shown(id)).condition).toBe('MAJOR_OUTAGE');
      const withUnknown = await service({ checkIds: ['shop', 'store'] });
      expect((await shown(withUnknown)).condition).toBe('PARTIAL_OUTAGE');
      const muted = await service({ checkIds: ['muted'] });
      await run({ slot: minutesAgo(5), checkId: 'muted', hasFailures: true });
      expect((await shown(muted)).condition).toBe('MAJOR_OUTAGE');
    });

    it('follows all checks with a tag, their own or that of their group', async () => {
      const { mine, check } = fixture();
      const group = await mine.post('/v1/check-groups', { name: 'Web', tags: ['web'] });
      await check('tagged', { tags: ['web'] });
      await check('grouped', { groupId: group.json.id });
      const id = await service({ checkTags: ['web'] });
      expect((await shown(id)).condition).toBe('UNKNOWN');
      await run({ slot: minutesAgo(5), checkId: 'tagged', hasFailures: true });
      expect((await shown(id)).condition).toBe('PARTIAL_OUTAGE');
      await run({ slot: minutesAgo(5), checkId: 'grouped', hasFailures: true });
      expect((await shown(id)).condition).toBe('MAJOR_OUTAGE');
      expect((await shown(await service({ checkTags: ['none'] }))).condition).toBe('UNKNOWN');
    });

    it('has an outage while a heartbeat fails', async () => {
      const { id: backup, ping } = await heartbeat();
      const id = await service({ heartbeatIds: [backup] });
      expect((await shown(id)).condition).toBe('UNKNOWN');
      await ping();
      expect(await shown(id)).toMatchObject({ condition: 'OPERATIONAL', history: null });
      await pass(66 * MINUTE_MS);
      const failing = { condition: 'MAJOR_OUTAGE', sinceMs: NOW + 65 * MINUTE_MS };
      expect(await shown(id)).toMatchObject(failing);
      await ping();
      expect((await shown(id)).condition).toBe('OPERATIONAL');
    });

    it('has bars with the digits of the availability of its heartbeats, whose minutes count', async () => {
      const { mine, store } = fixture();
      const { id: backup, ping } = await heartbeat();
      const id = await service({ heartbeatIds: [backup] });
      const compare = async () => {
        const { history } = await shown(id);
        const { json } = await mine.get(`/v1/checks/${backup}/availability`);
        expect(history?.availability).toBe((json.runs - json.failures) / json.runs);
        expect(history?.days).toHaveLength(90);
        for (const [index, { day, runs, failures }] of (history?.days ?? []).entries()) {
          const { date, ...counts } = json.days[index];
          expect({ day, runs, failures }).toEqual({
            day: date,
            runs: counts.runs,
            failures: counts.failures,
          });
        }
        return { runs: json.runs, failures: json.failures };
      };
      await ping();
      await pass(30 * MINUTE_MS);
      expect(await compare()).toEqual({ runs: 30, failures: 0 });
      // It fails after 65 minutes.
      await pass(65 * MINUTE_MS);
      expect(await compare()).toEqual({ runs: 95, failures: 30 });
      await ping();
      expect(await compare()).toEqual({ runs: 95, failures: 30 });
      await pass(3 * DAY_MS);
      await ping();
      const failures = 30 + 3 * DAY_MINUTES - 65;
      expect(await compare()).toEqual({ runs: 95 + 3 * DAY_MINUTES, failures });
      expect((await shown(id)).history?.days.slice(-3, -1)).toMatchObject([
        { runs: DAY_MINUTES, failures: DAY_MINUTES, condition: 'MAJOR_OUTAGE' },
        { runs: DAY_MINUTES, failures: DAY_MINUTES, condition: 'MAJOR_OUTAGE' },
      ]);
      // Heartbeat events are kept for RETENTION_DAYS only.
      await store.query('delete from heartbeat_events');
      expect(await compare()).toEqual({ runs: 95 + 3 * DAY_MINUTES, failures });
    });

    it('leaves the hours of a window out of the condition of a day of a heartbeat', async () => {
      const { id: backup, ping } = await heartbeat({ tags: ['web'] });
      const rule = { failureRule: 'LOCATIONS', failureLocations: 1 };
      const id = await service({ heartbeatIds: [backup], ...rule });
      await ping();
      await pass(95 * MINUTE_MS);
      await ping();
      const today = async () => (await shown(id)).history?.days.at(-1);
      expect(await today()).toMatchObject({ runs: 95, failures: 30, condition: 'PARTIAL_OUTAGE' });
      // It silences alerts, and pauses nothing.
      await window({
        endsAt: new Date(NOW + 2 * HOUR_MS).toISOString(),
        silenceAlertsTags: ['web'],
      });
      expect(await today()).toMatchObject({ runs: 95, failures: 30, condition: 'MAINTENANCE' });
    });

    it('is MAINTENANCE instead of an outage by checks, and announces the window', async () => {
      await fixture().check('tagged', { tags: ['web'] });
      await run({ slot: minutesAgo(5), checkId: 'tagged', hasFailures: true });
      await run({ slot: minutesAgo(5), hasFailures: true });
      await window({ tags: ['web'] });
      await window({
        name: 'Later',
        tags: ['web'],
        startsAt: new Date(NOW + DAY_MS).toISOString(),
        endsAt: new Date(NOW + DAY_MS + 1).toISOString(),
      });
      await window({
        name: 'Far',
        tags: ['web'],
        startsAt: new Date(NOW + 15 * DAY_MS).toISOString(),
        endsAt: new Date(NOW + 16 * DAY_MS).toISOString(),
      });
      const inside = await service({ checkIds: ['tagged'] });
      const outside = await service({ name: 'Other', checkIds: ['shop'] });
      const id = await page(inside, outside);
      const state = await read(id);
      expect(state.cards[0]?.services).toMatchObject([
        { condition: 'MAINTENANCE', sinceMs: NOW - HOUR_MS },
        { condition: 'MAJOR_OUTAGE' },
      ]);
      expect(state.maintenance).toMatchObject([
        {
          name: 'Move',
          isRunning: true,
          startMs: NOW - HOUR_MS,
          endMs: NOW + HOUR_MS,
          serviceIds: [inside],
        },
        { name: 'Later', isRunning: false, serviceIds: [inside] },
      ]);
      expect(knownDays(state.cards[0]?.services[0] as ServiceOnPage)).toEqual([
        ['2025-12-31', 'MAINTENANCE'],
        ['2026-01-01', 'MAINTENANCE'],
      ]);
      // Its failure is counted, as in the analytics.
      expect(state.cards[0]?.services[0]?.history?.days.at(-2)).toMatchObject({
        failures: 1,
        maintenance: ['Move'],
      });
    });

    it('leaves the hours of a window out of the condition of a day, and counts failures beside it', async () => {
      await fixture().check('tagged', { tags: ['web'] });
      const at = (hour: number): number => NOW - DAY_MS + hour * HOUR_MS;
      await window({
        silenceAlertsTags: ['web'],
        startsAt: new Date(at(3) + 1).toISOString(),
        endsAt: new Date(at(4)).toISOString(),
      });
      const ofTagged = { checkId: 'tagged', hasFailures: true };
      await run({ slot: at(3), ...ofTagged }, { slot: at(5), checkId: 'tagged' });
      const id = await service({ checkIds: ['tagged'] });
      const yesterday = async () => (await shown(id)).history?.days.at(-2);
      expect(await yesterday()).toMatchObject({ runs: 2, failures: 1, condition: 'MAINTENANCE' });
      await run({ slot: at(4), ...ofTagged });
      expect(await yesterday()).toMatchObject({ runs: 3, failures: 2, condition: 'MAJOR_OUTAGE' });
    });

    it('with the rule LOCATIONS has days with an outage only if enough locations failed', async () => {
      const minutes = DAY_MINUTES + 60;
      await run(
        { slot: minutesAgo(minutes), hasFailures: true },
        { slot: minutesAgo(minutes - 10), runLocation: 'oslo' },
        { slot: minutesAgo(minutes - 20), hasFailures: true },
        { slot: minutesAgo(minutes - 30), runLocation: 'oslo' },
      );
      const rule = { checkIds: ['shop'], failureRule: 'LOCATIONS' };
      const ids = [
        await service({ ...rule, failureLocations: 1 }),
        await service({ ...rule, failureLocations: 2 }),
      ];
      const state = await read(await page(...ids));
      const days = state.cards[0]?.services.map(({ history }) => history?.days.at(-3));
      expect(days).toMatchObject([
        { runs: 4, failures: 2, condition: 'MAJOR_OUTAGE' },
        { runs: 4, failures: 2, condition: 'OPERATIONAL' },
      ]);
    });

    it('shows results of past days that arrive late within a minute', async () => {
      const { clock, mine } = fixture();
      const id = await page(await service({ checkIds: ['shop'] }));
      const runsOf = async (day: number) =>
        (await read(id)).cards[0]?.services[0]?.history?.days.at(day)?.runs;
      await run({ slot: minutesAgo(2 * DAY_MINUTES + 1) });
      expect(await runsOf(-4)).toBe(1);
      await run({ slot: minutesAgo(2 * DAY_MINUTES + 2) });
      clock.spend(60_000);
      expect(await runsOf(-4)).toBe(2);
      // The current day is read each time, and the past days when the checks change.
      await run({ slot: NOW });
      expect(await runsOf(-1)).toBe(1);
      await fixture().check('store');
      await run({ slot: minutesAgo(2 * DAY_MINUTES + 3), checkId: 'store' });
      const [{ id: serviceId }] = (await mine.get(`${PAGES}/${id}`)).json.cards[0].services;
      await mine.patch(`${SERVICES}/${serviceId}`, { checkIds: ['shop', 'store'] });
      expect(await runsOf(-4)).toBe(3);
      clock.spend(DAY_MS);
      expect(await runsOf(-2)).toBe(1);
    });

    it('has the worst condition of checks and open incidents, and names the open incidents of each day', async () => {
      const { mine } = fixture();
      const id = await service({ checkIds: ['shop'] });
      await run({ slot: minutesAgo(5) });
      const at = (atMs: number): string => new Date(atMs).toISOString();
      const incident = await mine.post(INCIDENTS, {
        name: 'Slow',
        severity: 'MEDIUM',
        services: [id],
        incidentUpdates: [
          {
            status: 'INVESTIGATING',
            description: 'one',
            publicIncidentUpdateDate: at(NOW - 2 * DAY_MS),
          },
          { status: 'MONITORING', description: 'two', publicIncidentUpdateDate: at(NOW - DAY_MS) },
        ],
      });
      const pageId = await page(id);
      const state = await read(pageId);
      expect(state).toMatchObject({
        condition: 'DEGRADED',
        incidents: [
          {
            id: incident.json.id,
            status: 'MONITORING',
            serviceIds: [id],
            startedAtMs: NOW - 2 * DAY_MS,
            updates: [
              { status: 'MONITORING', description: 'two', atMs: NOW - DAY_MS },
              { status: 'INVESTIGATING', description: 'one', atMs: NOW - 2 * DAY_MS },
            ],
          },
        ],
      });
      const [shop] = state.cards[0]?.services ?? [];
      expect(shop).toMatchObject({ condition: 'DEGRADED', sinceMs: NOW - 2 * DAY_MS });
      expect(shop?.history?.days.slice(-3)).toMatchObject([
        { incidents: [{ name: 'Slow' }], condition: 'DEGRADED' },
        { incidents: [{ name: 'Slow' }], condition: 'DEGRADED', runs: 1 },
        { incidents: [{ name: 'Slow' }], condition: 'DEGRADED' },
      ]);
      expect(shop?.history?.days.at(-4)).toMatchObject({ incidents: [] });
      await mine.post(`${INCIDENTS}/${incident.json.id}/incident-updates`, {
        status: 'RESOLVED',
        description: 'three',
        publicIncidentUpdateDate: at(NOW - DAY_MS + 1),
      });
      const after = await read(pageId);
      expect(after).toMatchObject({ condition: 'OPERATIONAL', incidents: [] });
      expect(after.cards[0]?.services[0]?.history?.days.slice(-3)).toMatchObject([
        { incidents: [{ name: 'Slow' }] },
        { incidents: [{ name: 'Slow' }] },
        { incidents: [] },
      ]);
      await run({ slot: minutesAgo(1), hasFailures: true });
      expect((await read(pageId)).condition).toBe('MAJOR_OUTAGE');
    });

    it('has bars with the digits of the availability of its checks', async () => {
      const { mine, berlin, deliver, features, check } = fixture();
      await check('store');
      await run(
        { slot: minutesAgo(5), isDegraded: true },
        { slot: minutesAgo(25), hasFailures: true },
        { slot: minutesAgo(3 * HOUR_MINUTES) },
        { slot: minutesAgo(2 * DAY_MINUTES + 7) },
        { slot: minutesAgo(2 * DAY_MINUTES + 9), hasFailures: true, runLocation: 'oslo' },
        { slot: minutesAgo(2 * DAY_MINUTES + 10), checkId: 'store' },
        { slot: minutesAgo(2 * DAY_MINUTES + 20), checkId: 'store', hasFailures: true },
        { slot: minutesAgo(6 * DAY_MINUTES), checkId: 'store' },
      );
      const slot = minutesAgo(DAY_MINUTES + 20);
      const lastSlot = minutesAgo(DAY_MINUTES - 19);
      await deliver(berlin, { missed: [{ checkId: 'shop', slot, lastSlot, count: 40 }] });
      const id = await service({ checkIds: ['shop', 'store'] });
      const compare = async (): Promise<number | null> => {
        const { history, usualResponseTimeMs } = await shown(id);
        const [shop, store] = [
          (await mine.get('/v1/checks/shop/availability')).json,
          (await mine.get('/v1/checks/store/availability')).json,
        ];
        const sumOf = (field: string) => shop[field] + store[field];
        expect(100 * (history?.availability ?? -1)).toBe(
          (100 * (sumOf('runs') - sumOf('failures'))) / sumOf('runs'),
        );
        expect(history?.days).toHaveLength(90);
        for (const [index, day] of (history?.days ?? []).entries()) {
          const [one, two] = [shop.days[index], store.days[index]];
          expect(day).toMatchObject({
            day: one.date,
            runs: one.runs + two.runs,
            failures: one.failures + two.failures,
            degraded: one.degraded + two.degraded,
            missed: one.missed + two.missed,
          });
        }
        expect(sumOf('runs')).toBe(8);
        // Each run of the check stands for its period.
        const periodMs = (await mine.get('/v1/checks/shop')).json.frequency * MINUTE_MS;
        const timeOf = (field: 'degradedMs' | 'missedMs') =>
          (history?.days ?? []).reduce((sum, day) => sum + day[field], 0);
        expect(timeOf('degradedMs')).toBe(periodMs);
        expect(timeOf('missedMs')).toBe(40 * periodMs);
        const usual = [shop, store].flatMap(({ usualResponseTime }) => usualResponseTime ?? []);
        if (usual.length === 0) expect(usualResponseTimeMs).toBeNull();
        else expect(usualResponseTimeMs).toBe(usual.reduce((sum, ms) => sum + ms) / usual.length);
        return usualResponseTimeMs;
      };
      expect(await compare()).toBeNull();
      await features.rollUps.rollUp(never);
      expect(await compare()).toBeGreaterThan(0);
    });

    it('does not exist for a page of another account', async () => {
      const id = await page(await service({}));
      const { accountId } = fixture().theirs;
      expect(await fixture().features.pageStates.read({ accountId, id })).toBeNull();
    });

    it('is in the summary of the page with the four states that clients know', async () => {
      const { mine, check } = fixture();
      await check('tagged', { tags: ['web'] });
      await run({ slot: minutesAgo(5), hasFailures: true });
      await run({ slot: minutesAgo(5), checkId: 'tagged', hasFailures: true });
      await window({ tags: ['web'] });
      const down = await service({ checkIds: ['shop'] });
      const maintained = await service({ checkIds: ['tagged'] });
      const unknown = await service({ checkTags: ['none'] });
      const path = `${PAGES}/${await page(down, maintained, unknown)}/summary`;
      const { json } = await mine.get(path);
      expect(json.state).toBe('MAJOR_OUTAGE');
      expect(json.cards[0].services).toMatchObject([
        { id: down, state: 'MAJOR_OUTAGE' },
        { id: maintained, state: 'OPERATIONAL' },
        { id: unknown, state: 'OPERATIONAL' },
      ]);
    });
  });
});
