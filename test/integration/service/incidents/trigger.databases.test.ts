import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  createIncidentTrigger,
  type TriggerIncident,
} from '../../../../src/service/incidents/incident-trigger.ts';
import { createStatusPageIncidents } from '../../../../src/service/incidents/status-page-incidents.ts';
import { databases } from '../../../support/database/databases.ts';
import { eventually } from '../../../support/eventually.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { captureLog } from '../../../support/log-capture.ts';
import { useAccounts, useRunningService } from '../../../support/service/service-fixture.ts';

const SERVICES = '/v1/status-pages/services';
const PATH = '/v1/status-pages/incidents';
const DAY_MS = 86_400_000;

/** Incidents that checks open and resolve: src/service/README.md, "Status pages and incidents". */
describe.each(databases)('on %s', (kind) => {
  describe('incidents of checks', () => {
    const service = useAccounts(useRunningService(kind));
    let logs = captureLog();
    let serviceId = '';

    beforeEach(async () => {
      logs = captureLog();
      serviceId = (await service().mine.post(SERVICES, { name: 'Shop' })).json.id;
    });

    const trigger = (fields: Partial<TriggerIncident> = {}): TriggerIncident => ({
      serviceId,
      severity: 'CRITICAL',
      name: 'The shop is down',
      description: 'We look into it.',
      notifySubscribers: true,
      ...fields,
    });

    /** Each in a transaction with another write, which must never be lost. */
    async function within(
      work: (
        feature: ReturnType<typeof createIncidentTrigger>,
        tx: Parameters<ReturnType<typeof createIncidentTrigger>['opened']>[0],
      ) => Promise<void>,
    ): Promise<void> {
      const { store } = service();
      const feature = createIncidentTrigger({ log: logs.log, ids: randomUUID });
      const result = randomUUID();
      await store.transaction(async (tx) => {
        await work(feature, tx);
        await tx.query("insert into accounts (id, name) values ($1, 'a result')", [result]);
      });
      const kept = await store.query('delete from accounts where id = $1 returning id', [result]);
      expect(kept).toHaveLength(1);
    }

    const opened = (checkId: string, given = trigger(), accountId = service().mine.accountId) =>
      within((feature, tx) =>
        feature.opened(tx, accountId, { checkId, trigger: given, atMs: service().clock.wallMs() }),
      );
    const resolved = (checkId: string, accountId = service().mine.accountId) =>
      within((feature, tx) =>
        feature.resolved(tx, accountId, { checkId, atMs: service().clock.wallMs() }),
      );

    async function incidents() {
      const { mine } = service();
      const { json: listed } = await mine.get(`${PATH}?limit=100`);
      return Promise.all(
        listed.map(
          async ({ id }: { id: string }) =>
            (await mine.get(`${PATH}/${id}?includeAllIncidentUpdates=true`)).json,
        ),
      );
    }

    it('open with the fields of the trigger, and are resolved by the recovery', async () => {
      const { clock } = service();
      await opened('home');
      const before = new Date(clock.wallMs()).toISOString();
      const [open] = await incidents();
      expect(open).toMatchObject({
        name: 'The shop is down',
        severity: 'CRITICAL',
        services: [serviceId],
        lastUpdateStatus: 'INVESTIGATING',
        created_at: before,
        updated_at: before,
        incidentUpdates: [
          { status: 'INVESTIGATING', description: 'We look into it.', notifySubscribers: true },
        ],
      });
      clock.spend(60_000);
      await resolved('home');
      const after = new Date(clock.wallMs()).toISOString();
      expect(await incidents()).toEqual([
        {
          ...open,
          lastUpdateStatus: 'RESOLVED',
          updated_at: after,
          incidentUpdates: [
            open.incidentUpdates[0],
            expect.objectContaining({
              status: 'RESOLVED',
              notifySubscribers: true,
              created_at: after,
              publicIncidentUpdateDate: after,
            }),
          ],
        },
      ]);
      expect(logs.records()).toEqual([]);
    });

    it('are open one at a time for each check', async () => {
      await opened('home');
      await opened('home', trigger({ name: 'Again' }));
      await opened('mail');
      await opened('home');
      const names = async () =>
        (await incidents()).map(({ name, lastUpdateStatus }) => [name, lastUpdateStatus]);
      const open = ['The shop is down', 'INVESTIGATING'];
      const done = ['The shop is down', 'RESOLVED'];
      expect(await names()).toEqual([open, open]);
      await resolved('home');
      await resolved('home');
      expect(await names()).toEqual([done, open]);
      await opened('home', trigger({ name: 'Once more' }));
      expect(await names()).toEqual([done, open, ['Once more', 'INVESTIGATING']]);
      const [first] = await incidents();
      expect(first.incidentUpdates).toHaveLength(2);
    });

    it('are opened once by two transactions at the same time', async () => {
      await Promise.all(['home', 'home', 'home'].map((checkId) => opened(checkId)));
      expect(await incidents()).toHaveLength(1);
      await Promise.all(['home', 'home', 'home'].map((checkId) => resolved(checkId)));
      const [only] = await incidents();
      expect(only.incidentUpdates).toHaveLength(2);
    });

    it('have their name as description where the trigger has none', async () => {
      await opened('home', trigger({ description: '', notifySubscribers: false }));
      const [open] = await incidents();
      expect(open.incidentUpdates).toMatchObject([
        { description: 'The shop is down', notifySubscribers: false },
      ]);
      // What was read can be sent back.
      const sent = await service().mine.put(`${PATH}/${open.id}`, open);
      expect(sent.status).toBe(200);
    });

    it.each([
      ['of a service that is not there', '00000000-0000-4000-8000-000000000000'],
      ['of something that is no id', `'; drop table checks; --\u0000`],
      ['of a very long id', 'x'.repeat(100_000)],
    ])('are none for a trigger %s, and the log says so', async (_, wrong) => {
      await opened('home', trigger({ serviceId: wrong }));
      expect(await incidents()).toEqual([]);
      const [record] = logs.records();
      expect(record).toMatchObject({ level: 'warn', checkId: 'home' });
      expect(wrong.startsWith(String(record?.serviceId))).toBe(true);
      expect(String(record?.serviceId).length).toBeLessThan(101);
      await resolved('home');
    });

    it('are none for the service of another account', async () => {
      const { theirs } = service();
      await opened('home', trigger(), theirs.accountId);
      expect((await theirs.get(PATH)).json).toEqual([]);
      expect(logs.records()).toHaveLength(1);
      await opened('home');
      await resolved('home', theirs.accountId);
      expect(await incidents()).toMatchObject([{ lastUpdateStatus: 'INVESTIGATING' }]);
    });

    it('that a person resolved do not change', async () => {
      const { mine } = service();
      await opened('home');
      const [open] = await incidents();
      const updates = `${PATH}/${open.id}/incident-updates`;
      await mine.post(updates, { status: 'RESOLVED', description: 'By hand' });
      const [byHand] = await incidents();
      await resolved('home');
      expect(await incidents()).toEqual([byHand]);
      // The next failure opens another one, also where the person opens the first again.
      await opened('home');
      const again = await mine.post(updates, { status: 'MONITORING', description: 'Not yet' });
      expect(again.status).toBe(201);
      await resolved('home');
      const states = (await incidents()).map(({ lastUpdateStatus }) => lastUpdateStatus);
      expect(states).toEqual(['MONITORING', 'RESOLVED']);
    });

    it('that a person deleted are not opened again', async () => {
      const { mine } = service();
      await opened('home');
      const [open] = await incidents();
      await mine.delete(`${PATH}/${open.id}`);
      await resolved('home');
      expect(await incidents()).toEqual([]);
    });

    it('with updates of a person are resolved and keep them', async () => {
      const { mine } = service();
      await opened('home');
      const [open] = await incidents();
      await mine.patch(`${PATH}/${open.id}`, { name: 'The shop is slow', severity: 'MINOR' });
      const more = { status: 'IDENTIFIED', description: 'The disk is full' };
      await mine.post(`${PATH}/${open.id}/incident-updates`, more);
      await resolved('home');
      const [after] = await incidents();
      expect(after).toMatchObject({ name: 'The shop is slow', severity: 'MINOR' });
      expect(after.incidentUpdates.map(({ status }: { status: string }) => status)).toEqual([
        'INVESTIGATING',
        'IDENTIFIED',
        'RESOLVED',
      ]);
    });

    it('are resolved after their check was deleted', async () => {
      const { mine } = service();
      await mine.put('/v1/checks/url/home', {
        locations: ['eu-west-1'],
        request: { url: 'https://example.com/' },
        triggerIncident: trigger(),
      });
      await opened('home');
      await mine.delete('/v1/checks/home');
      expect(await incidents()).toMatchObject([{ lastUpdateStatus: 'INVESTIGATING' }]);
      await resolved('home');
      expect(await incidents()).toMatchObject([{ lastUpdateStatus: 'RESOLVED' }]);
    });

    it('are resolved or changed at the same time, and nothing is lost', async () => {
      const { mine } = service();
      for (let round = 0; round < 5; round += 1) {
        const checkId = `home-${round}`;
        await opened(checkId);
        const open = (await incidents()).at(-1);
        const update = { status: 'MONITORING', description: 'Better' };
        const [told] = await Promise.all([
          mine.post(`${PATH}/${open.id}/incident-updates`, update),
          resolved(checkId),
        ]);
        expect(told.status).toBe(201);
        const { json: after } = await mine.get(`${PATH}/${open.id}?includeAllIncidentUpdates=true`);
        expect(after.incidentUpdates).toHaveLength(3);
        expect(after.lastUpdateStatus).toBe(after.incidentUpdates[2].status);
      }
    });

    /** Runs the keeper once. */
    async function keep(): Promise<void> {
      const { store, clock } = service();
      const own = new FakeClock(clock.wallMs());
      const parts = { store, clock: own, log: logs.log, ids: randomUUID, retentionDays: 30 };
      const stop = new AbortController();
      const keeping = createStatusPageIncidents(parts).maintain(stop.signal);
      await eventually(() => own.pendingTimers > 0);
      stop.abort();
      await keeping;
    }

    it('stay as long as histories have their month, and for good where a person wrote something', async () => {
      const { mine, clock } = service();
      const named = (name: string) => opened(name, trigger({ name }));
      const pathOf = async (wanted: string): Promise<string> => {
        const found = (await incidents()).find(({ name }) => name === wanted);
        return `${PATH}/${found.id}`;
      };
      for (const name of ['untouched', 'explained', 'updated', 'reworded', 'renamed', 'rated']) {
        await named(name);
        clock.spend(1_000);
      }
      await named('resolved by a person');
      await named('open');
      const byHand = { status: 'RESOLVED', description: 'By hand' };
      const more = { status: 'IDENTIFIED', description: 'The disk is full' };
      await mine.post(`${await pathOf('updated')}/incident-updates`, more);
      await mine.post(`${await pathOf('resolved by a person')}/incident-updates`, byHand);
      const reworded = (await incidents()).find(({ name }) => name === 'reworded');
      const [{ id: updateId }] = reworded.incidentUpdates;
      const words = { status: 'INVESTIGATING', description: 'Nothing is lost.' };
      const update = `${PATH}/${reworded.id}/incident-updates/${updateId}`;
      expect((await mine.put(update, words)).status).toBe(200);
      // The person writes before the check resolves the incident, which is its last change.
      await mine.patch(await pathOf('rated'), { severity: 'MINOR' });
      clock.spend(1_000);
      for (const name of ['untouched', 'explained', 'updated', 'reworded', 'renamed', 'rated']) {
        await resolved(name);
      }
      clock.spend(1_000);
      await mine.patch(await pathOf('explained'), { postMortem: 'The disk was full.' });
      await mine.patch(await pathOf('renamed'), { severity: 'MINOR' });
      const of = { severity: 'MINOR', services: [serviceId], incidentUpdates: [byHand] };
      await mine.post(PATH, { name: 'opened by a person', ...of });
      const all = (await incidents()).map(({ name }) => name);
      expect(all).toHaveLength(9);

      const start = new Date(clock.wallMs());
      const outOfHistoryMs = Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 36);
      clock.spend(outOfHistoryMs - 1 - clock.wallMs());
      await keep();
      expect((await incidents()).map(({ name }) => name)).toEqual(all);
      expect(logs.records()).toEqual([]);
      clock.spend(1);
      await keep();
      const left = (await incidents()).map(({ name }) => name);
      expect(left).toEqual(all.filter((name) => name !== 'untouched'));
      expect(logs.records()).toMatchObject([{ level: 'info', removed: expect.any(Number) }]);
    });

    it('of one check are at most 1,000, beside those within the retention and those that a person wrote in', async () => {
      const { mine, store, clock } = service();
      const insert = async (checkId: string, count: number): Promise<void> => {
        const at = new Date(clock.wallMs());
        const given = [mine.accountId, checkId, at, count];
        await store.query(
          `insert into status_page_incidents
             (account_id, id, name, severity, last_update_status, check_id, created_at, updated_at)
           select $1, $2 || n, $2 || n, 'MINOR', 'RESOLVED', $2,
             $3::timestamptz, $3::timestamptz
           from generate_series(1, $4::int) as n`,
          given,
        );
        await store.query(
          `insert into status_page_incident_updates
             (account_id, incident_id, id, status, description, created_at)
           select $1, $2 || n, $2 || n, 'INVESTIGATING', 'We look into it.', $3::timestamptz
           from generate_series(1, $4::int) as n`,
          given,
        );
      };
      const kept = async (checkId: string): Promise<readonly string[]> => {
        const rows = await store.query<{ id: string }>(
          'select id from status_page_incidents where account_id = $1 and check_id = $2 order by n',
          [mine.accountId, checkId],
        );
        return rows.map(({ id }) => id);
      };
      await insert('flaps', 1_004);
      await insert('calm', 3);
      await store.query("update status_page_incidents set post_mortem = 'x' where id = 'flaps2'");
      clock.spend(31 * DAY_MS);
      await keep();
      expect(await kept('flaps')).toHaveLength(1_004);
      clock.spend(1);
      await keep();
      const newest = Array.from({ length: 1_000 }, (_, index) => `flaps${index + 5}`);
      expect(await kept('flaps')).toEqual(['flaps2', ...newest]);
      expect(await kept('calm')).toHaveLength(3);
      expect(logs.records()).toMatchObject([{ level: 'info', removed: expect.any(Number) }]);
    });
  });
});
