import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import type { Logger } from '../../../../../src/runtime/logger.ts';
import { deleteDeliveriesBefore } from '../../../../../src/service/alerts/delivery/sql.ts';
import { maintenanceSilences } from '../../../../../src/service/alerts/maintenance-silences.ts';
import type { DiskSpace } from '../../../../../src/service/alerts/monitoring-problems/disk-space.ts';
import {
  createMonitoringProblems,
  type MonitoringProblems,
} from '../../../../../src/service/alerts/monitoring-problems/monitoring-problems.ts';
import type { AlertNotice } from '../../../../../src/service/alerts/notice.ts';
import { incidentKeyOf } from '../../../../../src/service/alerts/senders/incident-key.ts';
import { databases, silentLog } from '../../../../support/database/databases.ts';
import { captureLog } from '../../../../support/log-capture.ts';
import { hookServer } from '../../../../support/servers/hook-server.ts';
import {
  CHANNELS,
  deliveriesWhen,
  makeChannel,
  startWorker,
  whenAll,
} from '../../../../support/service/alert-deliveries.ts';
import type { TestLocation } from '../../../../support/service/results-fixture.ts';
import { useRunningService } from '../../../../support/service/service-fixture.ts';
import {
  type SilenceFixture,
  useSilenceFixture,
} from '../../../../support/service/silence-fixture.ts';

const SCAN_S = 15;
const HOUR_MS = 3_600_000;
const GIB = 2 ** 30;
const EMAIL = { type: 'EMAIL', config: { address: 'ops@example.com' } };
const CLOCK = 'Location berlin has an agent whose clock is off';

/** Notices of problems of monitoring itself. */
describe.each(databases)('on %s', (kind) => {
  describe('a problem of monitoring itself', () => {
    const running = useRunningService(kind);
    const fixtureOf = useSilenceFixture(running);
    afterEach(async () => {
      const { store } = running();
      await store.query('delete from monitoring_problems');
      await store.query('delete from missed_slots');
      await store.query('delete from alert_deliveries');
    });

    /** That of a replica, by default of version 0.3.1. */
    const keeper = (
      { store, clock }: SilenceFixture,
      {
        readDisk = async () => null,
        version = '0.3.1',
        log = silentLog(),
        isOnDemand = false,
      }: {
        readonly readDisk?: () => Promise<DiskSpace | null>;
        readonly version?: string;
        readonly log?: Logger;
        readonly isOnDemand?: boolean;
      } = {},
    ): MonitoringProblems =>
      createMonitoringProblems({
        store,
        clock,
        log,
        silences: maintenanceSilences,
        readDisk,
        hasDatabaseOnDisk: true,
        isOnDemand,
        version,
      });
    /** Lets the time pass with a scan of each keeper every 15 s. */
    const pass = async (
      { clock }: SilenceFixture,
      seconds: number,
      ...keepers: readonly MonitoringProblems[]
    ): Promise<void> => {
      for (let passed = 0; passed < seconds; passed += SCAN_S) {
        clock.spend(SCAN_S * 1_000);
        await Promise.all(keepers.map(({ scan }) => scan()));
      }
    };
    /** Two replicas that agents could poll for long enough. */
    const replicas = async (fixture: SilenceFixture): Promise<readonly MonitoringProblems[]> => {
      const both = [keeper(fixture), keeper(fixture)];
      await pass(fixture, 60, ...both);
      return both;
    };
    interface Reported {
      readonly version?: string;
      readonly clockAheadMs?: number | null;
      readonly oldestMs?: number | null;
      readonly isGone?: boolean;
    }
    /** The agent of the location polls, and continues unless it is gone. */
    const report = async (
      { store, clock }: SilenceFixture,
      { id }: TestLocation,
      { version = '0.3.0', clockAheadMs = 0, oldestMs = null, isGone = false }: Reported,
    ): Promise<void> => {
      const health = { maxLatenessMs: 0, missedSlots: 0, spoolRecords: 7, spoolBytes: 700 };
      await store.query(
        `update agents set version = $2, clock_ahead_ms = $3::bigint, health = $4::jsonb,
           lease_until = $5::timestamptz, last_seen_at = $6::timestamptz
         where location_id = $1`,
        [
          id,
          version,
          clockAheadMs,
          JSON.stringify({ ...health, spoolOldestMs: oldestMs }),
          isGone ? null : new Date('2100-01-01'),
          new Date(clock.wallMs()),
        ],
      );
    };
    const channel = (
      fixture: SilenceFixture,
      checkIds: readonly string[],
      fields: Readonly<Record<string, unknown>> = {},
    ): Promise<number> =>
      makeChannel(fixture, {
        ...EMAIL,
        subscriptions: checkIds.map((checkId) => ({ checkId })),
        ...fields,
      });
    /** The notices to the channel, oldest first. */
    const notices = async ({ mine }: SilenceFixture, id: number): Promise<readonly string[]> => {
      const reply = await mine.get(`${CHANNELS}/${id}/deliveries?limit=100`);
      expect(reply.status).toBe(200);
      return reply.json
        .toReversed()
        .map(({ alertType, checkId }: Record<string, string | null>) => {
          expect(checkId).toBeNull();
          return alertType ?? '';
        });
    };

    it('is sent once to each channel of the location when a clock is off for a minute, and once when it is right', async () => {
      const fixture = fixtureOf();
      const { berlin } = fixture;
      await fixture.check('other', { privateLocations: ['berlin'], frequency: 1 });
      const all = await channel(fixture, ['shop', 'other']);
      const listed = await channel(fixture, ['shop'], {
        sendFailure: false,
        sendRecovery: false,
        sendMonitoringProblems: ['AGENT_CLOCK_OFF'],
      });
      const others = await channel(fixture, ['shop'], { sendMonitoringProblems: ['SLOTS_MISSED'] });
      const elsewhere = await channel(fixture, []);
      await fixture.poll(berlin);
      await report(fixture, berlin, {});
      const both = await replicas(fixture);
      await report(fixture, berlin, { clockAheadMs: -2_001 });
      await pass(fixture, 60, ...both);
      expect(await notices(fixture, all)).toEqual([]);
      await pass(fixture, 30, ...both);
      expect(await notices(fixture, all)).toEqual(['AGENT_CLOCK_OFF']);
      // Neither bad enough to begin nor good enough to end.
      await report(fixture, berlin, { clockAheadMs: 1_500 });
      await pass(fixture, 300, ...both);
      expect(await notices(fixture, all)).toEqual(['AGENT_CLOCK_OFF']);
      await report(fixture, berlin, { clockAheadMs: 900 });
      await pass(fixture, 90, ...both);
      expect(await notices(fixture, all)).toEqual(['AGENT_CLOCK_OFF', 'AGENT_CLOCK_OFF_RECOVERY']);
      expect(await notices(fixture, listed)).toEqual(['AGENT_CLOCK_OFF']);
      expect(await notices(fixture, others)).toEqual([]);
      expect(await notices(fixture, elsewhere)).toEqual([]);
      // Another time is another alert.
      await report(fixture, berlin, { clockAheadMs: 5_000 });
      await pass(fixture, 90, ...both);
      expect(await notices(fixture, listed)).toHaveLength(2);
    });

    it('begins only if it lasts without an interruption', async () => {
      const fixture = fixtureOf();
      const { berlin } = fixture;
      const id = await channel(fixture, ['shop']);
      await fixture.poll(berlin);
      const both = await replicas(fixture);
      for (let times = 0; times < 4; times += 1) {
        await report(fixture, berlin, { clockAheadMs: 9_000 });
        await pass(fixture, 45, ...both);
        await report(fixture, berlin, { clockAheadMs: 0 });
        await pass(fixture, 15, ...both);
      }
      expect(await notices(fixture, id)).toEqual([]);
    });

    it('begins when agents are old for an hour, and when results wait', async () => {
      const fixture = fixtureOf();
      const { berlin } = fixture;
      const id = await channel(fixture, ['shop']);
      await fixture.poll(berlin);
      // While the service is upgraded, a replica is as old as the agents.
      const both = [keeper(fixture), keeper(fixture, { version: '0.2.9' })];
      await pass(fixture, 60, ...both);
      await report(fixture, berlin, { version: '0.2.9' });
      await pass(fixture, 60, ...both);
      await fixture.store.query(
        "update monitoring_problems set since = since - interval '58 minutes'",
      );
      await pass(fixture, 60, ...both);
      expect(await notices(fixture, id)).toEqual([]);
      await pass(fixture, 30, ...both);
      expect(await notices(fixture, id)).toEqual(['AGENT_OUTDATED']);
      await report(fixture, berlin, { version: '0.2.9', oldestMs: 301_000 });
      await pass(fixture, 150, ...both);
      expect(await notices(fixture, id)).toEqual(['AGENT_OUTDATED', 'RESULTS_WAITING']);
      // Nothing is known of agents that are gone.
      await report(fixture, berlin, { isGone: true });
      await pass(fixture, 300, ...both);
      expect(await notices(fixture, id)).toHaveLength(2);
      await report(fixture, berlin, { oldestMs: 60_000 });
      await pass(fixture, 90, ...both);
      expect((await notices(fixture, id)).toSorted()).toEqual([
        'AGENT_OUTDATED',
        'AGENT_OUTDATED_RECOVERY',
        'RESULTS_WAITING',
        'RESULTS_WAITING_RECOVERY',
      ]);
    });

    it('begins when a location misses more than a tenth of its slots', async () => {
      const fixture = fixtureOf();
      const { berlin, store, clock, mine } = fixture;
      const id = await channel(fixture, ['shop']);
      const miss = (count: number, reason: string) =>
        store.query(
          `insert into missed_slots (account_id, check_id, location, slot, last_slot, count, reason)
           values ($1, 'shop', 'berlin', $2::timestamptz, $3::timestamptz, $4::int, $5)`,
          [
            mine.accountId,
            new Date(clock.wallMs() - (count - 1) * 60_000),
            new Date(clock.wallMs()),
            count,
            reason,
          ],
        );
      await fixture.poll(berlin);
      await report(fixture, berlin, {});
      const both = await replicas(fixture);
      // One minute later the first slot of the ranges is not in the window any more.
      await miss(15, 'location_silent');
      clock.spend(1);
      // A check that fails with retries, which says nothing of the location.
      await miss(10, 'previous_run_active');
      clock.spend(1);
      await miss(4, 'agent_starved');
      await pass(fixture, 60, ...both);
      expect(await notices(fixture, id)).toEqual([]);
      await miss(1, 'agent_busy');
      await pass(fixture, 15, ...both);
      expect(await notices(fixture, id)).toEqual(['SLOTS_MISSED']);
      const { json } = await mine.get('/v1/monitoring-problems');
      expect(json).toMatchObject([
        {
          kind: 'SLOTS_MISSED',
          severity: 'critical',
          headline: 'Location berlin misses slots',
          location: { id: berlin.id, slug: 'berlin', name: 'berlin' },
          channel: null,
        },
      ]);
      const found = async (filter: string) =>
        (await mine.get(`/v1/monitoring-problems?${filter}`)).json.length;
      expect(await found(`locationId=${berlin.id}&kind=SLOTS_MISSED`)).toBe(1);
      expect(await found(`locationId=${randomUUID()}`)).toBe(0);
      expect(await found(`channelId=${id}`)).toBe(0);
      expect(await found('kind=CHANNEL_FAILING')).toBe(0);
      expect(json[0].message).toContain(
        '5 slots of about 15 in the last 15 minutes were not run (33 %), mostly agent_starved.',
      );
      await pass(fixture, 1_020, ...both);
      expect(await notices(fixture, id)).toEqual(['SLOTS_MISSED', 'SLOTS_MISSED_RECOVERY']);
      expect((await mine.get('/v1/monitoring-problems')).json).toEqual([]);
    });

    it.each([
      ['agent_stopped', true, []],
      ['agent_asleep', true, []],
      ['unassigned', true, []],
      ['agent_busy', true, ['SLOTS_MISSED']],
      ['agent_stopped', false, ['SLOTS_MISSED']],
    ])(
      'of slots missed for %s, with vedette up %s, begins: %j',
      async (reason, isOnDemand, expected) => {
        const fixture = fixtureOf();
        const { berlin, store, clock, mine } = fixture;
        const id = await channel(fixture, ['shop']);
        await fixture.poll(berlin);
        await report(fixture, berlin, {});
        const one = keeper(fixture, { isOnDemand });
        await pass(fixture, 60, one);
        await store.query(
          `insert into missed_slots (account_id, check_id, location, slot, last_slot, count, reason)
         values ($1, 'shop', 'berlin', $2::timestamptz, $3::timestamptz, 8, $4)`,
          [mine.accountId, new Date(clock.wallMs() - 420_000), new Date(clock.wallMs()), reason],
        );
        await pass(fixture, 60, one);
        expect(await notices(fixture, id)).toEqual(expected);
      },
    );

    it('is sent to the other channels if one fails, until it delivers again', async () => {
      const fixture = fixtureOf();
      const { store, clock, mine } = fixture;
      const failing = await channel(fixture, []);
      const other = await channel(fixture, []);
      const quiet = await channel(fixture, [], { sendMonitoringProblems: [] });
      let last = '';
      const finish = (state: 'sent' | 'failed', channelId = failing) => {
        last = randomUUID();
        return store.query(
          `insert into alert_deliveries (id, account_id, channel_id, check_id, alert_id, alert_type,
             reminder, notice, state, due_at, created_at, finished_at, last_error)
           values ($1, $2, $3::bigint, 'home', $1, 'ALERT_FAILURE', 0, '{}', $4, $5::timestamptz,
             $5::timestamptz, $5::timestamptz, 'the answer was the status 404')`,
          [last, mine.accountId, channelId, state, new Date(clock.wallMs())],
        );
      };
      const sentTo = async (id: number): Promise<readonly string[]> =>
        (await mine.get(`${CHANNELS}/${id}/deliveries?limit=100`)).json
          .toReversed()
          .map(({ alertType }: { readonly alertType: string }) => alertType)
          .filter((type: string) => type !== 'ALERT_FAILURE');
      const both = await replicas(fixture);
      await finish('sent');
      clock.spend(1_000);
      await finish('failed');
      await pass(fixture, 90, ...both);
      expect(await sentTo(other)).toEqual(['CHANNEL_FAILING']);
      expect(await sentTo(failing)).toEqual([]);
      expect(await sentTo(quiet)).toEqual([]);
      expect((await mine.get('/v1/monitoring-problems')).json).toMatchObject([
        {
          kind: 'CHANNEL_FAILING',
          headline: 'Channel ops@example.com does not take notifications',
          message: expect.stringContaining('the answer was the status 404'),
          location: null,
          channel: { id: failing, type: 'EMAIL', name: 'ops@example.com' },
        },
      ]);
      expect((await mine.get(`/v1/monitoring-problems?channelId=${failing}`)).json).toHaveLength(1);
      // Channels that fail at the same time are not notified of each other.
      await finish('failed', quiet);
      await finish('failed', other);
      await pass(fixture, 90, ...both);
      expect(await sentTo(other)).toEqual(['CHANNEL_FAILING']);
      await finish('sent');
      await pass(fixture, 30, ...both);
      expect(await sentTo(other)).toEqual(['CHANNEL_FAILING', 'CHANNEL_FAILING_RECOVERY']);
      // They are reported to the first that delivers again.
      expect(await sentTo(failing)).toEqual(['CHANNEL_FAILING', 'CHANNEL_FAILING']);
      // Nothing was delivered yet: the notification waits to be sent again, then it is past the retention.
      clock.spend(1_000);
      await finish('failed');
      await pass(fixture, 90, ...both);
      const open = async (): Promise<readonly number[]> =>
        (await mine.get('/v1/monitoring-problems')).json
          .map((each: { readonly channel: { readonly id: number } }) => each.channel.id)
          .toSorted((one: number, other: number) => one - other);
      expect(await open()).toEqual([failing, other, quiet]);
      const resent = `${CHANNELS}/${failing}/deliveries/${last}/resend`;
      expect((await mine.post(resent)).status).toBe(200);
      await pass(fixture, 30, ...both);
      await store.query("delete from alert_deliveries where check_id = 'home'");
      await pass(fixture, 30, ...both);
      expect(await open()).toEqual([failing, other, quiet]);
      // A channel that is gone has not recovered.
      await mine.delete(`${CHANNELS}/${quiet}`);
      await pass(fixture, 30, ...both);
      expect(await open()).toEqual([failing, other]);
      await finish('sent');
      await finish('sent', other);
      await pass(fixture, 30, ...both);
      expect(await open()).toEqual([]);
      expect((await sentTo(failing)).toSorted()).toEqual([
        'CHANNEL_FAILING',
        'CHANNEL_FAILING',
        'CHANNEL_FAILING_RECOVERY',
      ]);
    });

    it('is read once by a cursor, though it begins long after it was found', async () => {
      const fixture = fixtureOf();
      const { berlin, store, mine, clock } = fixture;
      await fixture.poll(berlin);
      const both = await replicas(fixture);
      let path = '/v1/monitoring-problems?cursor=start';
      /** Reads on until there is one: transactions of other tests on the same server delay it. */
      const next = async (): Promise<readonly string[]> => {
        for (;;) {
          const reply = await mine.get(path);
          path = `/v1/monitoring-problems?cursor=${reply.headers['x-next-cursor']}`;
          if (reply.json.length > 0) return reply.json.map(({ kind }: { kind: string }) => kind);
        }
      };
      await report(fixture, berlin, { clockAheadMs: 9_000 });
      await pass(fixture, 15, ...both);
      await store.query(
        `insert into missed_slots (account_id, check_id, location, slot, last_slot, count, reason)
         values ($1, 'shop', 'berlin', $2::timestamptz, $3::timestamptz, 5, 'agent_busy')`,
        [mine.accountId, new Date(clock.wallMs() - 240_000), new Date(clock.wallMs())],
      );
      await pass(fixture, 15, ...both);
      expect(await next()).toEqual(['SLOTS_MISSED']);
      await pass(fixture, 60, ...both);
      expect(await next()).toEqual(['AGENT_CLOCK_OFF']);
    });

    it('is over for those who were notified of it, however long it lasted', async () => {
      const fixture = fixtureOf();
      const { berlin, store, clock } = fixture;
      const id = await channel(fixture, ['shop']);
      await fixture.poll(berlin);
      const both = await replicas(fixture);
      /** Deletes what is past the retention, now. */
      const retain = async (): Promise<number> => {
        const beforeMs = clock.wallMs() + 1;
        await store.query(
          "update alert_deliveries set state = 'sent', finished_at = created_at where state = 'waiting'",
        );
        return deleteDeliveriesBefore(store, { beforeMs, limit: 100 });
      };
      await report(fixture, berlin, { clockAheadMs: 9_000 });
      await pass(fixture, 90, ...both);
      expect(await retain()).toBe(0);
      await report(fixture, berlin, {});
      await pass(fixture, 90, ...both);
      expect(await notices(fixture, id)).toEqual(['AGENT_CLOCK_OFF', 'AGENT_CLOCK_OFF_RECOVERY']);
      expect(await retain()).toBe(2);
    });

    it('ends without a notice if its agents are gone for a day: nobody knows whether it is over', async () => {
      const fixture = fixtureOf();
      const { berlin, clock, mine } = fixture;
      const id = await channel(fixture, ['shop']);
      await fixture.poll(berlin);
      const both = await replicas(fixture);
      await report(fixture, berlin, { clockAheadMs: 9_000 });
      await pass(fixture, 90, ...both);
      await report(fixture, berlin, { clockAheadMs: 9_000, isGone: true });
      clock.spend(23 * HOUR_MS);
      await pass(fixture, 150, ...both);
      expect((await mine.get('/v1/monitoring-problems')).json).toHaveLength(1);
      clock.spend(HOUR_MS);
      await pass(fixture, 150, ...both);
      expect((await mine.get('/v1/monitoring-problems')).json).toEqual([]);
      expect(await notices(fixture, id)).toEqual(['AGENT_CLOCK_OFF']);
    });

    it('is found by scans that take half a minute; slower ones are logged once', async () => {
      const fixture = fixtureOf();
      const { berlin, clock } = fixture;
      const id = await channel(fixture, ['shop']);
      await fixture.poll(berlin);
      const logs = captureLog();
      let takesMs = 50_000;
      const slow = keeper(fixture, {
        log: logs.log,
        readDisk: async () => {
          clock.spend(takesMs);
          return null;
        },
      });
      const warnings = () => logs.records().map(({ msg }) => msg);
      await report(fixture, berlin, { clockAheadMs: 9_000 });
      await pass(fixture, 300, slow);
      expect(await notices(fixture, id)).toEqual([]);
      expect(warnings()).toEqual([
        expect.stringContaining('problems of monitoring itself have not been checked for 5 min'),
      ]);
      takesMs = 30_000;
      await pass(fixture, 90, slow);
      expect(await notices(fixture, id)).toEqual(['AGENT_CLOCK_OFF']);
    });

    it('belongs to the first account if the disk of the database is nearly full', async () => {
      const fixture = fixtureOf();
      const { store, mine } = fixture;
      const [first] = await store.query<{ id: string }>(
        'select id from accounts order by created_at, id limit 1',
      );
      let freeBytes = GIB;
      const one = keeper(fixture, { readDisk: async () => ({ freeBytes, sizeBytes: 100 * GIB }) });
      await pass(fixture, 150, one);
      const stored = () =>
        store.query<{ accountId: string; message: string }>(
          'select account_id, message from monitoring_problems where begun_at is not null',
        );
      expect(await stored()).toMatchObject([
        {
          accountId: first?.id,
          message: expect.stringMatching(/^1\.0 GiB of 100\.0 GiB are free/),
        },
      ]);
      expect(one.counts()).toMatchObject({
        open: { DISK_NEARLY_FULL: 1 },
        disk: { freeBytes: GIB },
      });
      expect((await mine.get('/v1/monitoring-problems')).json).toHaveLength(
        first?.id === mine.accountId ? 1 : 0,
      );
      freeBytes = 15 * GIB;
      await pass(fixture, 90, one);
      expect(await stored()).toEqual([]);
    });

    it('waits for the end of a maintenance window that silences its checks', async () => {
      const fixture = fixtureOf();
      const { berlin, mine } = fixture;
      await fixture.check('tagged', { privateLocations: ['berlin'], tags: ['works'] });
      const made = await mine.post('/v1/maintenance-windows', {
        name: 'A window',
        startsAt: fixture.at(0),
        endsAt: fixture.at(600),
        repeatUnit: 'DAY',
        silenceAlertsTags: ['works'],
      });
      expect(made.status).toBe(201);
      const late = await channel(fixture, ['tagged']);
      await fixture.poll(berlin);
      await report(fixture, berlin, { clockAheadMs: 9_000 });
      const both = await replicas(fixture);
      await pass(fixture, 300, ...both);
      expect(await notices(fixture, late)).toEqual([]);
      await pass(fixture, 300, ...both);
      expect(await notices(fixture, late)).toEqual(['AGENT_CLOCK_OFF']);
    });

    it('is named in what receivers get, with one key for its beginning and its end', async () => {
      const fixture = fixtureOf();
      const { berlin } = fixture;
      const server = await hookServer();
      const id = await makeChannel(fixture, {
        type: 'WEBHOOK',
        config: { name: 'Hook', url: server.url },
        subscriptions: [{ checkId: 'shop' }],
      });
      await fixture.poll(berlin);
      await report(fixture, berlin, {});
      const both = await replicas(fixture);
      startWorker(fixture);
      await report(fixture, berlin, { clockAheadMs: 3_210 });
      await pass(fixture, 90, ...both);
      await deliveriesWhen(fixture, id, whenAll('sent'));
      await report(fixture, berlin, { clockAheadMs: 0 });
      await pass(fixture, 90, ...both);
      await deliveriesWhen(fixture, id, (rows) => rows.length === 2 && whenAll('sent')(rows));
      const stored = await fixture.store.query<{ notice: AlertNotice }>(
        'select notice from alert_deliveries where channel_id = $1::bigint',
        [id],
      );
      const keys = stored.map(({ notice }) => incidentKeyOf(fixture.mine.accountId, notice));
      expect(new Set(keys).size).toBe(1);
      const bodies = server.requests.map(({ body }) => JSON.parse(body));
      const facts = {
        CHECK_ID: null,
        CHECK_NAME: null,
        CHECK_TYPE: null,
        RUN_LOCATION: 'berlin',
        RESPONSE_TIME: null,
        RESULT_LINK: `https://vedette.test/locations/${berlin.id}`,
      };
      expect(bodies).toMatchObject([
        {
          ...facts,
          ALERT_TITLE: CLOCK,
          ALERT_TYPE: 'AGENT_CLOCK_OFF',
          SINCE: expect.stringMatching(/^\d{4}-/),
          ERROR_MESSAGE: expect.stringContaining('is 3.21 s ahead of that of the service'),
        },
        {
          ...facts,
          ALERT_TITLE: `Over: ${CLOCK} (after 2 min)`,
          ALERT_TYPE: 'AGENT_CLOCK_OFF_RECOVERY',
          LASTED: '2 min',
          ERROR_MESSAGE: null,
        },
      ]);
    });
  });
});
