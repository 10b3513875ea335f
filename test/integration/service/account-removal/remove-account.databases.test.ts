import { describe, expect, it } from 'vitest';
import { removeAccount } from '../../../../src/service/account-removal/remove-account.ts';
import { REMOVED_TABLES } from '../../../../src/service/account-removal/tables.ts';
import type { Store } from '../../../../src/service/database/store.ts';
import { forever } from '../../../support/artifacts/artifact-content.ts';
import { databases, silentLog } from '../../../support/database/databases.ts';
import { contentsOf } from '../../../support/hostile/database-contents.ts';
import { AGENT_HEADERS, type FullAccount } from '../../../support/hostile/full-account.ts';
import { useHostileFixture } from '../../../support/service/hostile-fixture.ts';

/** The tables that other statements delete from, before those of REMOVED_TABLES. */
const REMOVED_OTHERWISE = [
  // First, so that all access ends.
  'api_keys',
  'location_keys',
  'memberships',
  'one_time_links',
  // Together with their contents.
  'artifacts',
  'artifact_uploads',
];
/** Has an account_id that only says how far a day of all accounts is rolled up. */
const OF_NO_ACCOUNT = ['rollup_backfill'];
/** More than a transaction deletes, of several checks. */
const MANY_RESULTS = 12_000;

/** Counts of the tables that `contentsOf` leaves out, since time changes them. */
async function rollUpsOf(store: Store, accountId: string): Promise<number> {
  const [row] = await store.query<{ count: number }>(
    `select (select count(*) from result_rollups where account_id = $1)
       + (select count(*) from rollup_marks where account_id = $1) as count`,
    [accountId],
  );
  return row?.count ?? 0;
}

/** Results of checks that the account has no more, as they stay after their check. */
async function addManyResults(store: Store, accountId: string): Promise<void> {
  const today = `(now() at time zone 'UTC')::date`;
  await store.query(`select make_result_partitions(${today}, ${today})`);
  await store.query(
    `insert into check_results (check_id, account_id, id, result_type, slot, created_at,
       has_failures, has_errors, run_location, check_type, body)
     select 'old-' || n % 3, $1, 'r' || n, 'ATTEMPT',
       date_trunc('day', now(), 'UTC') + n * interval '1 millisecond', now(), false, false, 'x',
       'TCP', '{}'
     from generate_series(1, $2::integer) n`,
    [accountId, MANY_RESULTS],
  );
}

/** With the whole service running, as on PostgreSQL. */
describe.each(databases)('on %s', (kind) => {
  describe('the removal of an account', () => {
    const fixtureOf = useHostileFixture(kind);
    const remove = (
      { accountId }: Pick<FullAccount, 'accountId'>,
      onProgress: () => void = () => {},
      signal: AbortSignal = forever,
    ) => {
      const { store, contents } = fixtureOf();
      const parts = { store, contents, log: silentLog() };
      return removeAccount(parts, { id: accountId, name: 'mallory' }, onProgress, signal);
    };
    const statusWith = async (key: string, path: string, method = 'GET'): Promise<number> => {
      const headers = AGENT_HEADERS;
      return (await fixtureOf().send({ method, path, key, headers })).status;
    };
    const newAgentKey = async ({ apiKey, ids }: FullAccount): Promise<string> => {
      const path = `/v1/private-locations/${ids.location}/keys`;
      const made = await fixtureOf().send({ method: 'POST', path, key: apiKey });
      expect(made.status, made.text).toBe(201);
      return made.json.key;
    };

    it('knows every table that has rows of accounts, or rows that belong to such', async () => {
      const { store } = fixtureOf();
      const found = await store.query<{ name: string; kind: string }>(
        `select c.relname::text as name, c.relkind::text as kind
         from pg_class c join pg_attribute a on a.attrelid = c.oid
         where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
           and not c.relispartition and a.attname = 'account_id' and not a.attisdropped
         order by 1`,
      );
      const known = new Set([...REMOVED_TABLES.map(({ name }) => name), ...REMOVED_OTHERWISE]);
      const missing = found.filter(({ name }) => !known.has(name) && !OF_NO_ACCOUNT.includes(name));
      expect(missing, 'add it to src/service/account-removal/tables.ts').toEqual([]);

      const referring = await store.query<{ name: string }>(
        `select distinct conrelid::regclass::text as name from pg_constraint
         where contype = 'f' and confrelid::regclass::text = any($1::text[])`,
        [[...known, 'accounts']],
      );
      expect(referring.filter(({ name }) => !known.has(name))).toEqual([]);

      const partitioned = found.filter((table) => table.kind === 'p').map(({ name }) => name);
      const marked = REMOVED_TABLES.filter(({ isPartitioned }) => isPartitioned === true);
      expect(marked.map(({ name }) => name).toSorted()).toEqual(partitioned);
    });

    it('deletes all its data, also artifacts, and nothing of another account', async () => {
      const { store, newAttacker, victimsRows, files, settled } = fixtureOf();
      const mallory = await newAttacker();
      const agentKey = await newAgentKey(mallory);
      await addManyResults(store, mallory.accountId);
      await settled();
      const before = await victimsRows();
      const filesBefore = files().filter((path) => !path.includes(mallory.accountId));
      const filled = Object.keys(await contentsOf(store, mallory.accountId));
      expect(filled.length).toBeGreaterThan(40);
      let transactions = 0;
      const removal = await remove(mallory, () => {
        transactions += 1;
      });
      expect(removal.isDone).toBe(true);
      expect(removal.removed.get('result')).toBeGreaterThan(MANY_RESULTS);
      expect(removal.removed.get('user')).toBe(1);
      expect(removal.removed.get('artifact')).toBe(1);
      expect(transactions).toBeGreaterThan(30);

      expect(await contentsOf(store, mallory.accountId)).toEqual({});
      expect(await rollUpsOf(store, mallory.accountId)).toBe(0);
      const accounts = await store.query('select from accounts where id = $1', [mallory.accountId]);
      expect(accounts).toEqual([]);
      // The user belonged to no other account.
      const users = await store.query('select from users where email = $1', [mallory.email]);
      expect(users).toEqual([]);
      const left = files().filter((path) => path.includes(mallory.accountId));
      expect(left.filter((path) => /content|about\.json|parts/.test(path))).toEqual([]);
      expect(files().filter((path) => !path.includes(mallory.accountId))).toEqual(filesBefore);
      expect(await victimsRows()).toEqual(before);

      // Both are used for the first time: the service knows nothing of them from before.
      expect(await statusWith(mallory.readKey, '/v1/checks')).toBe(401);
      expect(await statusWith(agentKey, '/agent/v1/poll', 'POST')).toBe(401);
    });

    it('ends all access first, and deletes the rest when it is called again', async () => {
      const { store, newAttacker } = fixtureOf();
      const mallory = await newAttacker();
      const agentKey = await newAgentKey(mallory);
      const stop = new AbortController();
      const first = await remove(mallory, () => stop.abort(), stop.signal);
      expect(first.isDone).toBe(false);
      expect(await statusWith(mallory.readKey, '/v1/checks')).toBe(401);
      expect(await statusWith(agentKey, '/agent/v1/poll', 'POST')).toBe(401);
      const checks = await store.query('select from checks where account_id = $1', [
        mallory.accountId,
      ]);
      expect(checks.length).toBeGreaterThan(0);
      expect((await remove(mallory)).isDone).toBe(true);
      expect(await contentsOf(store, mallory.accountId)).toEqual({});
    });
  });
});
