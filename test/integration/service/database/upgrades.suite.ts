import { randomBytes } from 'node:crypto';
import { cpSync, readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSecretBox, KEY_BYTES } from '../../../../src/runtime/secret-box.ts';
import { MIGRATIONS_FOLDER, migrate } from '../../../../src/service/database/migrate.ts';
import type { Store } from '../../../../src/service/database/store.ts';
import { RECOVERED_TEXT } from '../../../../src/service/incidents/incident-trigger.ts';
import { deleteOldIncidentsOfChecks } from '../../../../src/service/incidents/trigger.sql.ts';
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

type Rows = readonly { readonly row: object }[];

/** What becomes of a database of the previous release. */
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
      'takes results of before from a location %s, and from no other',
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
const OF_BEFORE = [
  `insert into accounts (id, name) values ('mine', 'Mine')`,
  `insert into private_locations (id, account_id, slug, name, proxy_url)
   values ('berlin', 'mine', 'berlin', 'b', null),
     ('oslo', 'mine', 'oslo', 'o', 'http://user:proxy-pw@proxy.test:3128')`,
  `insert into agents (account_id, location_id, id, version, instance_id, capabilities, concurrency)
   values ('mine', 'oslo', 'agent', '0.1.0', 'i', '{}', 1)`,
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
