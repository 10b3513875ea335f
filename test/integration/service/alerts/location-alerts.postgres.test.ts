import { afterEach, describe, expect, it } from 'vitest';
import { deleteDeliveriesBefore } from '../../../../src/service/alerts/delivery/sql.ts';
import { databases } from '../../../support/database/databases.ts';
import { hookServer } from '../../../support/servers/hook-server.ts';
import {
  CHANNELS,
  deliveriesWhen,
  makeChannel,
  startWorker,
  whenAll,
} from '../../../support/service/alert-deliveries.ts';
import { useRunningService } from '../../../support/service/service-fixture.ts';
import {
  type SilenceFixture,
  useSilenceFixture,
} from '../../../support/service/silence-fixture.ts';

/** Notices of a private location without agents. */
describe.each(databases)('on %s', (kind) => {
  describe('a silent location', () => {
    const running = useRunningService(kind);
    const fixtureOf = useSilenceFixture(running);
    // Removes deliveries that are left, so that the workers of the next test do not send them.
    afterEach(() => running().store.query('delete from alert_deliveries'));

    const channel = (
      fixture: SilenceFixture,
      checkIds: readonly string[],
      fields: Readonly<Record<string, unknown>> = {},
    ): Promise<number> =>
      makeChannel(fixture, {
        type: 'EMAIL',
        config: { address: 'ops@example.com' },
        subscriptions: checkIds.map((checkId) => ({ checkId })),
        ...fields,
      });
    /** The notices to the channel, oldest first. */
    const notices = async ({ mine }: SilenceFixture, id: number) => {
      const reply = await mine.get(`${CHANNELS}/${id}/deliveries?limit=100`);
      expect(reply.status).toBe(200);
      return reply.json
        .toReversed()
        .map(({ alertType, location, checkId }: Record<string, string | null>) => {
          expect(checkId).toBeNull();
          return `${alertType} ${location}`;
        });
    };

    it('notifies each channel of its checks once, and once of its return', async () => {
      const fixture = fixtureOf();
      const { berlin, oslo, pass, poll } = fixture;
      const keepers = [fixture.keeper(), fixture.keeper()];
      for (const id of ['one', 'two', 'three']) {
        await fixture.check(id, { privateLocations: ['berlin'], frequency: 1 });
      }
      await fixture.check('elsewhere', { privateLocations: ['oslo'], frequency: 1 });
      const all = await channel(fixture, ['shop', 'one', 'two', 'three', 'elsewhere']);
      const one = await channel(fixture, ['two'], { sendRecovery: false });
      const other = await channel(fixture, ['elsewhere']);
      const none = await channel(fixture, ['shop'], { sendFailure: false });
      await poll(berlin);
      for (let times = 0; times < 3; times += 1) {
        await poll(oslo);
        await pass(30, ...keepers);
      }
      expect(await notices(fixture, all)).toEqual(['LOCATION_SILENT berlin']);
      // The notified channels are known beyond the retention.
      const { store, clock } = fixture;
      await store.query("update alert_deliveries set state = 'sent', finished_at = created_at");
      const beforeMs = clock.wallMs() + 1;
      expect(await deleteDeliveriesBefore(store, { beforeMs, limit: 100 })).toBe(0);
      for (let times = 0; times < 1; times += 1) {
        await poll(oslo);
        await poll(berlin);
        await pass(30, ...keepers);
      }
      const both = ['LOCATION_SILENT berlin', 'LOCATION_RECOVERY berlin'];
      expect(await notices(fixture, all)).toEqual(both);
      expect(await notices(fixture, one)).toEqual(['LOCATION_SILENT berlin']);
      expect(await notices(fixture, other)).toEqual([]);
      expect(await notices(fixture, none)).toEqual([]);
      // Another silence is another alert.
      await pass(90, ...keepers);
      expect(await notices(fixture, one)).toHaveLength(2);
      expect((await fixture.mine.get('/v1/check-alerts?limit=100')).json).toEqual([]);
    });

    it('notifies nobody of muted checks and of checks in a maintenance window', async () => {
      const fixture = fixtureOf();
      const { berlin, mine, pass, poll } = fixture;
      const keeper = fixture.keeper();
      await fixture.check('muted', { privateLocations: ['berlin'], muted: true });
      await fixture.check('tagged', { privateLocations: ['berlin'], tags: ['works'] });
      const made = await mine.post('/v1/maintenance-windows', {
        name: 'A window',
        startsAt: fixture.at(0),
        endsAt: fixture.at(3600),
        repeatUnit: 'DAY',
        silenceAlertsTags: ['works'],
      });
      expect(made.status).toBe(201);
      const quiet = await channel(fixture, ['muted', 'tagged']);
      const loud = await channel(fixture, ['muted', 'tagged', 'shop']);
      await poll(berlin);
      await pass(90, keeper);
      await poll(berlin);
      await pass(10, keeper);
      expect(await notices(fixture, quiet)).toEqual([]);
      expect(await notices(fixture, loud)).toEqual([
        'LOCATION_SILENT berlin',
        'LOCATION_RECOVERY berlin',
      ]);
    });

    it('notifies channels of silent locations alone, or of failures alone', async () => {
      const fixture = fixtureOf();
      const { berlin, pass, poll } = fixture;
      const keeper = fixture.keeper();
      const silent = { sendFailure: false, sendLocationSilent: true };
      const failures = { sendFailure: true, sendLocationSilent: false };
      const [only, never] = [
        await channel(fixture, ['shop'], silent),
        await channel(fixture, ['shop'], failures),
      ];
      await poll(berlin);
      await pass(90, keeper);
      await poll(berlin);
      await pass(10, keeper);
      const both = ['LOCATION_SILENT berlin', 'LOCATION_RECOVERY berlin'];
      expect(await notices(fixture, only)).toEqual(both);
      expect(await notices(fixture, never)).toEqual([]);
    });

    it('notifies once after the end of a maintenance window in which the silence began', async () => {
      const fixture = fixtureOf();
      const { berlin, oslo, mine, pass, poll } = fixture;
      const keepers = [fixture.keeper(), fixture.keeper()];
      await fixture.check('tagged', { privateLocations: ['berlin'], tags: ['works'] });
      await fixture.check('short', { privateLocations: ['oslo'], tags: ['works'] });
      const window = {
        name: 'A window',
        startsAt: fixture.at(0),
        endsAt: fixture.at(300),
        repeatUnit: 'DAY',
        silenceAlertsTags: ['works'],
      };
      expect((await mine.post('/v1/maintenance-windows', window)).status).toBe(201);
      const late = await channel(fixture, ['tagged']);
      const loud = await channel(fixture, ['tagged', 'shop']);
      const over = await channel(fixture, ['short']);
      const other = await channel(fixture, ['tagged'], { sendFailure: false });
      await poll(berlin);
      await poll(oslo);
      await pass(200, ...keepers);
      expect(await notices(fixture, late)).toEqual([]);
      expect(await notices(fixture, loud)).toEqual(['LOCATION_SILENT berlin']);
      // This silence ends inside the window.
      for (let times = 0; times < 4; times += 1) {
        await poll(oslo);
        await pass(30, ...keepers);
      }
      expect(await notices(fixture, late)).toEqual(['LOCATION_SILENT berlin']);
      expect(await notices(fixture, loud)).toEqual(['LOCATION_SILENT berlin']);
      expect(await notices(fixture, over)).toEqual([]);
      expect(await notices(fixture, other)).toEqual([]);
      await poll(berlin);
      await pass(10, ...keepers);
      expect(await notices(fixture, late)).toEqual([
        'LOCATION_SILENT berlin',
        'LOCATION_RECOVERY berlin',
      ]);
    });

    it('is named in what receivers get', async () => {
      const fixture = fixtureOf();
      const { berlin, mine, pass, poll } = fixture;
      const keeper = fixture.keeper();
      await mine.patch(`/v1/private-locations/${berlin.id}`, { name: 'The Berlin office' });
      const server = await hookServer();
      const id = await makeChannel(fixture, {
        type: 'WEBHOOK',
        config: { name: 'Hook', url: server.url },
        subscriptions: [{ checkId: 'shop' }],
      });
      startWorker(fixture);
      await poll(berlin);
      await pass(90, keeper);
      await deliveriesWhen(fixture, id, whenAll('sent'));
      await poll(berlin);
      await pass(10, keeper);
      await deliveriesWhen(fixture, id, (rows) => rows.length === 2 && whenAll('sent')(rows));
      const bodies = server.requests.map(({ body }) => JSON.parse(body));
      const facts = {
        REMINDER: 0,
        CHECK_ID: null,
        CHECK_NAME: null,
        CHECK_TYPE: null,
        GROUP_NAME: null,
        TAGS: [],
        RUN_LOCATION: 'berlin',
        RESPONSE_TIME: null,
        STARTED_AT: fixture.at(0),
      };
      expect(bodies).toMatchObject([
        {
          ...facts,
          ALERT_TITLE: 'Location The Berlin office is silent: its checks do not run',
          ALERT_TYPE: 'LOCATION_SILENT',
          ERROR_MESSAGE:
            'No agent polls: 1 check of the location does not run. Start an agent there, or check the log of its agents, their network and their location key.',
          SINCE: fixture.at(0),
          LASTED: null,
        },
        {
          ...facts,
          ALERT_TITLE: 'Location The Berlin office is no longer silent (after 1 min)',
          LASTED: '1 min',
          ALERT_TYPE: 'LOCATION_RECOVERY',
          ERROR_MESSAGE: null,
        },
      ]);
    });
  });
});
