import { randomBytes, randomUUID } from 'node:crypto';
import { cpSync, readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSecretBox, KEY_BYTES } from '../../../../src/runtime/secret-box.ts';
import { findAccount } from '../../../../src/service/accounts/sql.ts';
import { findActiveApiKeyByHash } from '../../../../src/service/api-keys/sql.ts';
import { listToBeCancelled } from '../../../../src/service/check-runs/cancelling.sql.ts';
import { cancelRuns } from '../../../../src/service/check-runs/cancelling.ts';
import { MIGRATIONS_FOLDER, migrate } from '../../../../src/service/database/migrate.ts';
import type { Store } from '../../../../src/service/database/store.ts';
import { createGroupRuns } from '../../../../src/service/group-runs/group-runs.ts';
import { RECOVERED_TEXT } from '../../../../src/service/incidents/incident-trigger.ts';
import { deleteOldIncidentsOfChecks } from '../../../../src/service/incidents/trigger.sql.ts';
import { findActiveLocationKeysByHash } from '../../../../src/service/private-locations/location-keys.sql.ts';
import { listAssignedSlots } from '../../../../src/service/results/intake/assigned-slots.sql.ts';
import { isAssignedSlot } from '../../../../src/service/results/intake/assigned-slots.ts';
import { createOutdatedStates } from '../../../../src/service/results/statuses/outdated-states.ts';
import { decryptCredentials } from '../../../../src/service/secrets/credential-sealing.ts';
import { emptySchema, silentLog } from '../../../support/database/databases.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { makeTempFolder } from '../../../support/process/temp-folder.ts';
import { sealingReplica, unshared } from '../../../support/service/sealing-replica.ts';

/** The last migration of the previous release. */
const LAST_BEFORE = 12;
const SLOT = '2026-01-01T12:00:00Z';
const RESOLVED_AT = '2026-01-01T11:30:00Z';
const FAILING_SINCE = '2026-01-01T11:00:00Z';

const KEY_HASH = Buffer.alloc(32, 7);

type Rows = readonly { readonly row: object }[];

/** A database of the previous release after an upgrade. */
export function upgradeSuite(store: () => Store): void {
  describe('a database of the previous release', () => {
    const temp = makeTempFolder();
    const before = temp.file('previous-release');
    for (const name of readdirSync(MIGRATIONS_FOLDER)) {
      if (Number(name.slice(0, 4)) > LAST_BEFORE) continue;
      cpSync(`${MIGRATIONS_FOLDER}/${name}`, `${before}/${name}`);
    }
    afterAll(() => temp.remove());

    /** The rows of each table before the upgrade, and after it. */
    let rows: readonly { readonly table: string; readonly old: Rows; readonly now: Rows }[] = [];

    // Upgraded once for all tests, because it applies every migration.
    beforeAll(async () => {
      await emptySchema(store());
      await migrate(store(), silentLog(), { folder: before });
      await store().query("select make_result_partitions('2026-01-01', '2026-01-01')");
      for (const statement of OF_BEFORE) await store().query(statement);
      const rowsOf = (table: string): Promise<Rows> =>
        store().query(`select to_jsonb(t) as row from ${table} t order by 1`);
      const tables = await store().query<{ name: string }>(
        `select table_name as name from information_schema.tables
         where table_schema = current_schema() and table_type = 'BASE TABLE'
           and table_name <> 'schema_migrations' order by 1`,
      );
      const old = await Promise.all(tables.map(({ name }) => rowsOf(name)));
      await migrate(store(), silentLog());
      const now = await Promise.all(tables.map(({ name }) => rowsOf(name)));
      rows = tables.map(({ name }, at) => ({
        table: name,
        old: old[at] ?? [],
        now: now[at] ?? [],
      }));
    });

    it('keeps every row as it is', () => {
      expect(rows.flatMap(({ old }) => old).length).toBeGreaterThan(10);
      for (const { table, old, now } of rows) {
        expect(now, table).toHaveLength(old.length);
        for (const { row } of old) {
          expect(now.map((one) => one.row)).toContainEqual(expect.objectContaining(row));
        }
      }
    });

    it.each([
      ['that the check names', 'berlin', 'named'],
      ['that its group names', 'oslo', 'grouped'],
      ['that it is assigned to', 'oslo', 'assigned'],
      ['that lately lost it', 'oslo', 'lost'],
      ['that has results of it', 'oslo', 'run'],
      ['that missed slots of it', 'oslo', 'missed'],
    ])(
      'accepts results from before the upgrade from a location %s, and from no other',
      async (_, location, checkId) => {
        const holders: string[] = [];
        for (const locationId of ['berlin', 'oslo']) {
          const slots = await listAssignedSlots(store(), { locationId, checkIds: [checkId] });
          if (isAssignedSlot(slots, Date.parse(SLOT))) holders.push(locationId);
        }
        expect(holders).toEqual([location]);
      },
    );

    it('says since when its checks are in their states', async () => {
      const parts = { store: store(), clock: new FakeClock(), log: silentLog() };
      await createOutdatedStates(parts).refresh({ accountId: 'mine', checkId: null });
      expect(
        await store().query('select check_id, state, since from check_statuses order by 1'),
      ).toEqual([
        { checkId: 'beat', state: 'failing', since: new Date(FAILING_SINCE) },
        { checkId: 'run', state: 'failing', since: new Date(SLOT) },
      ]);
    });

    it('has its credentials encrypted when a service with a key first starts', async () => {
      const log = silentLog();
      const secrets = createSecretBox([randomBytes(KEY_BYTES)]);
      const on = unshared(store());
      const contents = async () =>
        JSON.stringify([
          await store().query('select to_jsonb(c) as row from checks c'),
          await store().query('select to_jsonb(l) as row from private_locations l'),
        ]);
      expect(await contents()).toMatch(/basic-pw.*proxy-pw/s);
      await sealingReplica(on, secrets).start();
      expect(await contents()).not.toMatch(/basic-pw|proxy-pw/);
      await decryptCredentials({ store: on, log, secrets });
      expect(await contents()).toMatch(/basic-pw.*proxy-pw/s);
    });

    it('keeps the incidents of checks in which a person wrote something, by their texts and times', async () => {
      const undone = new Error('the other tests have these rows, too');
      let left: readonly unknown[] = [];
      const deleting = store().transaction(async (tx) => {
        const old = { beforeMs: Date.parse(SLOT) + 1, limit: 100, recoveredText: RECOVERED_TEXT };
        await deleteOldIncidentsOfChecks(tx, old);
        left = await tx.query('select id from status_page_incidents order by n');
        throw undone;
      });
      await expect(deleting).rejects.toBe(undone);
      expect(left).toEqual([{ id: 'answered' }, { id: 'renamed' }]);
    });

    it('accepts its keys, whose last characters are unknown', async () => {
      const none = expect.objectContaining({ lastFour: null });
      expect(await findActiveApiKeyByHash(store(), KEY_HASH)).toEqual(none);
      expect(await findActiveLocationKeysByHash(store(), [KEY_HASH])).toEqual([none]);
    });

    it('writes the times of its accounts in UTC until they choose a zone', async () => {
      expect(await findAccount(store(), 'mine')).toMatchObject({
        timeZone: 'UTC',
        updatedAt: null,
      });
    });

    it('cancels the requested runs that it has, unless they have ended', async () => {
      const outcomes = await store().transaction((tx) =>
        cancelRuns(tx, 'mine', ['waiting', 'assigned', 'done', 'retry']),
      );
      expect(Object.fromEntries(outcomes)).toEqual({
        waiting: 'cancelled',
        assigned: 'cancelled',
        done: 'ended',
        retry: 'scheduled',
      });
      const holder = { accountId: 'mine', locationId: 'oslo', agentId: 'agent', epoch: 1 };
      expect(await listToBeCancelled(store(), holder, 10)).toEqual(['assigned']);
      const events = await store().query(
        `select resource_id as id from events where kind = 'check_run.finished'
           and data ->> 'state' = 'cancelled' order by 1`,
      );
      expect(events).toEqual([{ id: 'assigned' }, { id: 'waiting' }]);
    });

    it('takes channels to other services beside those that it has', async () => {
      await store().query(CHANNEL('PAGERDUTY'));
      await expect(store().query(CHANNEL('PIGEON'))).rejects.toThrow();
      expect(await store().query('select type from alert_channels order by id')).toEqual([
        { type: 'SLACK' },
        { type: 'PAGERDUTY' },
      ]);
    });

    it('notifies a channel of an alert and then of who took it', async () => {
      for (const id of ['told', 'taken']) {
        await store().query(
          `insert into alert_deliveries (id, account_id, channel_id, check_id, alert_id, alert_type,
             reminder, notice, due_at, created_at)
           select $1, account_id, id, 'shop', 'alert', 'ALERT_FAILURE', 0, '{}', now(), now()
           from alert_channels where type = 'SLACK'`,
          [id],
        );
      }
      expect(await store().query('select id from alert_deliveries order by seq')).toEqual([
        { id: 'told' },
        { id: 'taken' },
      ]);
    });

    it('runs the groups that it has', async () => {
      const groupRuns = createGroupRuns({
        store: store(),
        clock: new FakeClock(),
        log: silentLog(),
        ids: randomUUID,
      });
      const requestedBy = { kind: 'key', id: 'key' } as const;
      const asked = { location: null, requestedBy };
      const run = await groupRuns.request({ accountId: 'mine', id: 1 }, asked);
      expect(run).toMatchObject({ state: 'running', groupName: 'g' });
      expect(run.members).toMatchObject([
        { checkId: 'grouped', location: 'oslo', state: 'started' },
      ]);
      await groupRuns.cancel({ accountId: 'mine', id: run.id });
      expect(await groupRuns.get({ accountId: 'mine', id: run.id })).toMatchObject({
        state: 'cancelled',
        members: [{ state: 'cancelled' }],
      });
    });

    it('goes on with the assignments that it has', async () => {
      const slots = await listAssignedSlots(store(), {
        locationId: 'oslo',
        checkIds: ['assigned'],
      });
      const hourMs = 3_600_000;
      // Past the quarter of an hour for which any slot still counts.
      const nextHourMs = (Math.ceil(Date.now() / hourMs) + 1) * hourMs;
      expect(isAssignedSlot(slots, nextHourMs + 60_000)).toBe(true);
      expect(isAssignedSlot(slots, nextHourMs + 60_001)).toBe(false);
    });
  });
}

const CHECK = (id: string, names: string, group = 'null') =>
  `insert into checks (account_id, id, check_type, name, activated, muted, frequency, body, group_id)
   values ('mine', '${id}', 'URL', '${id}', true, false, 10,
     '{"privateLocations": [${names}]}', ${group})`;
const CHANNEL = (type: string) =>
  `insert into alert_channels (account_id, type, config, send_failure, send_recovery, send_degraded,
     ssl_expiry, ssl_expiry_threshold, created_at)
   values ('mine', '${type}', '{"url": "https://hooks.test/1"}', true, true, false, false, 30,
     '${SLOT}')`;
/** An incident that a check opened, and that its recovery resolved. */
const INCIDENT = (id: string, changedAt: string) => [
  `insert into status_page_incidents (account_id, id, name, severity, last_update_status, check_id,
     created_at, updated_at)
   values ('mine', '${id}', '${id}', 'MAJOR', 'RESOLVED', 'run', '${FAILING_SINCE}', '${changedAt}')`,
  `insert into status_page_incident_updates (account_id, incident_id, id, status, description,
     created_at)
   values ('mine', '${id}', '${id}1', 'INVESTIGATING', 'It fails.', '${FAILING_SINCE}'),
     ('mine', '${id}', '${id}2', 'RESOLVED', 'The service has recovered.', '${RESOLVED_AT}')`,
];
/** A run that is not scheduled, of a check that has no others. */
const RUN = (id: string, state: string, { reason = 'requested', agentId = 'null' } = {}) =>
  `insert into one_off_runs (id, account_id, location_id, check_id, reason, slot, sequence_id,
     not_after, agent_id, agent_epoch, state)
   values ('${id}', 'mine', 'oslo', 'assigned', '${reason}', '${SLOT}', 'of-${id}',
     now() + interval '1 minute', ${agentId}, 1, '${state}')`;
const OF_BEFORE = [
  `insert into accounts (id, name) values ('mine', 'Mine')`,
  `insert into private_locations (id, account_id, slug, name, proxy_url)
   values ('berlin', 'mine', 'berlin', 'b', null),
     ('oslo', 'mine', 'oslo', 'o', 'http://user:proxy-pw@proxy.test:3128')`,
  `insert into agents (account_id, location_id, id, version, instance_id, capabilities, concurrency)
   values ('mine', 'oslo', 'agent', '0.1.0', 'i', '{}', 1)`,
  `insert into api_keys (id, account_id, name, key_hash, key_prefix, role)
   values ('key', 'mine', 'k', '\\x${KEY_HASH.toString('hex')}', 'ak_', 'admin')`,
  `insert into location_keys (id, account_id, location_id, key_hash, key_prefix)
   values ('key', 'mine', 'oslo', '\\x${KEY_HASH.toString('hex')}', 'pl_')`,
  CHANNEL('SLACK'),
  RUN('waiting', 'waiting'),
  RUN('assigned', 'assigned', { agentId: "'agent'" }),
  RUN('done', 'done'),
  RUN('retry', 'waiting', { reason: 'retry' }),
  `insert into check_groups (id, account_id, name, private_locations)
   overriding system value values (1, 'mine', 'g', '["oslo"]')`,
  CHECK('named', '"berlin"'),
  CHECK('grouped', '', '1'),
  `insert into checks (account_id, id, check_type, name, activated, muted, frequency, body)
   values ('mine', 'api', 'API', 'api', true, false, 10,
     '{"request": {"url": "https://a.test", "basicAuth": {"username": "u", "password": "basic-pw"}}}')`,
  ...['assigned', 'lost', 'run', 'missed'].map((id) => CHECK(id, '')),
  `insert into assignments (location_id, check_id, account_id, unassigned_reason, period_ms, phase_ms,
     stride, stride_index, check_revision, revision)
   values ('oslo', 'assigned', 'mine', 'no_agent', 3600000, 60000, 1, 0, 1, 1)`,
  `insert into assignment_tombstones (location_id, agent_id, check_id, revision)
   values ('oslo', 'agent', 'lost', 1)`,
  `insert into check_results (check_id, account_id, id, sequence_id, result_type, slot, created_at,
     has_failures, has_errors, run_location, check_type, body)
   values ('run', 'mine', 'r', 's', 'FINAL', '${SLOT}', '${SLOT}', true, false, 'oslo', 'URL', '{}')`,
  `insert into result_metrics (account_id, check_id, slot, run_key, run_location, passed, retries)
   values ('mine', 'run', '${SLOT}', 1, 'oslo', false, 0)`,
  `insert into check_statuses (account_id, check_id, name, has_failures, has_errors, is_degraded,
     last_run_location, last_slot)
   values ('mine', 'run', 'run', true, false, false, 'oslo', '${SLOT}')`,
  `insert into checks (account_id, id, check_type, name, activated, muted, frequency, body)
   values ('mine', 'beat', 'HEARTBEAT', 'beat', true, false, 0, '{}')`,
  `insert into heartbeats (account_id, check_id, ping_token, period_ms, grace_ms, failing_since)
   values ('mine', 'beat', 'token', 1000, 1000, '${FAILING_SINCE}')`,
  `insert into check_statuses (account_id, check_id, name, has_failures, has_errors, is_degraded,
     last_slot)
   values ('mine', 'beat', 'beat', true, false, false, '${SLOT}')`,
  ...INCIDENT('untouched', RESOLVED_AT),
  ...INCIDENT('answered', RESOLVED_AT),
  `insert into status_page_incident_updates (account_id, incident_id, id, status, description,
     created_at)
   values ('mine', 'answered', 'answered3', 'MONITORING', 'The disk was full.', '2026-01-01T11:10:00Z')`,
  // After the recovery, which is then no longer its last change.
  ...INCIDENT('renamed', SLOT),
  `insert into missed_slots (account_id, check_id, location, slot, last_slot, count, reason)
   values ('mine', 'missed', 'oslo', '${SLOT}', '${SLOT}', 1, 'agent_busy')`,
];
