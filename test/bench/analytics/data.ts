import type { Store } from '../../../src/service/database/store.ts';

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1440;
const DAY_MS = DAY_MINUTES * MINUTE_MS;
/** The days of a month, and the day in which it begins. */
const DAYS = 31;
const EARLIER_MONTHS = 2;
/** There are quarter hours of it. */
const QUARTER_DAYS = 8;
const LOCATIONS = ['berlin', 'oslo', 'lisbon'];
/** Time limit for creating a day of ten million results. */
const STATEMENT_TIMEOUT_MS = 600_000;

/** These numbers of checks give ten million results in 31 days. */
const MIX: readonly {
  readonly name: CheckKind;
  readonly checks: number;
  readonly minutes: number;
}[] = [
  { name: 'minutely', checks: 45, minutes: 1 },
  { name: 'parallel', checks: 5, minutes: 1 },
  { name: 'other', checks: 250, minutes: 5 },
  { name: 'other', checks: 700, minutes: 10 },
  { name: 'other', checks: 1000, minutes: 30 },
  { name: 'other', checks: 650, minutes: 60 },
];

/** `minutely` runs in one location after the other, `parallel` every minute in all of them. */
export type CheckKind = 'minutely' | 'parallel' | 'other';

export interface MadeData {
  readonly results: number;
  readonly checks: number;
  /** The ids of the checks that the reports are about. */
  readonly ids: Readonly<Record<CheckKind, readonly string[]>>;
}

/**
 * Checks of the account, and what analytics keep of their results in the 31 days before now, as if
 * they had come in the order of their slots. Each day is loaded without its index, and rolled up by
 * one statement for all checks, which takes a fraction of the time that the service would need.
 *
 * @param share of ten million results
 * @param check a check's whole body, which all of them get
 */
export async function makeData(
  store: Store,
  {
    accountId,
    check,
    nowMs,
    share,
    progress,
    signal,
  }: {
    readonly accountId: string;
    readonly check: object;
    readonly nowMs: number;
    readonly share: number;
    readonly progress: (doing: string) => void;
    readonly signal: AbortSignal;
  },
): Promise<MadeData> {
  await store.query(
    'create table bench_checks (id text primary key, kind text, minutes int, number int)',
  );
  for (const { name, checks, minutes } of MIX) {
    await store.query(
      `insert into bench_checks
       select gen_random_uuid()::text, $1, $2::int, n from generate_series(1, $3::int) n`,
      [name, minutes, Math.ceil(checks * share)],
    );
  }
  await store.query(
    `insert into checks (account_id, id, check_type, name, activated, muted, frequency, body)
     select $1, id, 'API', 'Orders', true, false, minutes, $2::jsonb from bench_checks`,
    [accountId, check],
  );
  const lastMinute = Math.floor(nowMs / MINUTE_MS);
  const firstMinute = lastMinute - DAYS * DAY_MINUTES;
  const partitions = `select make_result_partitions($1::timestamptz::date, $2::timestamptz::date),
    make_rollup_partitions($1::timestamptz::date - ${DAYS * (EARLIER_MONTHS + 1)},
      $2::timestamptz::date, $1::timestamptz::date)::text`;
  await store.query(partitions, [new Date(firstMinute * MINUTE_MS), new Date(nowMs)]);
  const columns = await rollUpColumns(store);
  const beganMs = performance.now();
  let results = 0;
  for (let minute = firstMinute; minute < lastMinute; ) {
    signal.throwIfAborted();
    const end = Math.min(lastMinute, (Math.floor(minute / DAY_MINUTES) + 1) * DAY_MINUTES);
    results += await makeDay(store, { accountId, columns, from: minute, to: end });
    minute = end;
    const share = (minute - firstMinute) / (lastMinute - firstMinute);
    const seconds = Math.round((performance.now() - beganMs) / 1000);
    const left = Math.round((seconds / share) * (1 - share));
    progress(`${results.toLocaleString('en')} results after ${seconds} s, ${left} s more`);
  }
  await addEarlierRollUps(store, columns);
  await store.query(STATUSES, [accountId, LOCATIONS[0] ?? '', new Date(lastMinute * MINUTE_MS)]);
  // Autovacuum would have done it by now.
  await store.query('vacuum (analyze) result_rollups, checks, check_statuses');
  const made = await store.query<{ id: string; kind: CheckKind }>(
    'select id, kind from bench_checks',
  );
  const idsOf = (kind: CheckKind): readonly string[] =>
    made.filter((one) => one.kind === kind).map(({ id }) => id);
  const [size] = await store.query<{ gib: number }>(
    'select pg_database_size(current_database())::float8 / 1024 ^ 3 as gib',
  );
  progress(`the database has ${size?.gib.toFixed(1)} GiB`);
  return {
    results,
    checks: made.length,
    ids: { minutely: idsOf('minutely'), parallel: idsOf('parallel'), other: idsOf('other') },
  };
}

/** The results from one minute to another of one day (UTC), and their roll-ups. Returns how many. */
async function makeDay(
  store: Store,
  {
    accountId,
    columns,
    from,
    to,
  }: {
    readonly accountId: string;
    readonly columns: readonly string[];
    readonly from: number;
    readonly to: number;
  },
): Promise<number> {
  const bounds = [new Date(from * MINUTE_MS), new Date(to * MINUTE_MS)];
  const isQuarterly = to > Date.now() / MINUTE_MS - QUARTER_DAYS * DAY_MINUTES;
  const [results, name] = await store.transaction(
    async (tx) => {
      const [partition] = await tx.query<Partition>(PARTITION_OF, bounds.slice(0, 1));
      if (partition === undefined) throw new Error('a day has no partition');
      const { name, bound, key, keyName } = partition;
      await tx.query(`set local maintenance_work_mem = '256MB'`);
      await tx.query(`alter table result_metrics detach partition ${name}`);
      await tx.query(`alter table ${name} drop constraint ${keyName}`);
      const [made] = await tx.query<{ results: number }>(
        `with made as (${runsInto(name)} returning 1) select count(*) as results from made`,
        [accountId, LOCATIONS, from, to - 1],
      );
      // As full as an index is to which rows came one by one.
      await tx.query(`alter table ${name} add constraint ${keyName} ${key} with (fillfactor = 70)`);
      await tx.query(`alter table result_metrics attach partition ${name} ${bound}`);
      if (isQuarterly) await tx.query(rollUpOfRuns(name, 15, columns));
      await tx.query(rollUpOfRuns(name, 60, columns));
      await tx.query(rollUpOfHours(columns), bounds);
      return [made?.results ?? 0, name] as const;
    },
    { statementTimeoutMs: STATEMENT_TIMEOUT_MS },
  );
  // Autovacuum would have done it by now.
  await store.query(`vacuum (analyze) ${name}`);
  return results;
}

type Partition = {
  readonly name: string;
  readonly bound: string;
  readonly key: string;
  readonly keyName: string;
};

const PARTITION_OF = `
  select c.oid::regclass::text as name, pg_get_expr(c.relpartbound, c.oid) as bound,
    pg_get_constraintdef(k.oid) as key, k.conname as key_name
  from pg_inherits i join pg_class c on c.oid = i.inhrelid
    join pg_constraint k on k.conrelid = c.oid and k.contype = 'p'
  where i.inhparent = 'result_metrics'::regclass
    and c.relname = 'result_metrics_' || to_char($1::timestamptz at time zone 'UTC', 'YYYYMMDD')`;

const KEY = ['account_id', 'check_id', 'span', 'start', 'run_location', 'status_code', 'passed'];

async function rollUpColumns(store: Store): Promise<readonly string[]> {
  const columns = await store.query<{ name: string }>(
    `select attname::text as name from pg_attribute
     where attrelid = 'result_rollups'::regclass and attnum > 0 order by attnum`,
  );
  return columns.map(({ name }) => name);
}

/** Quarter hours or hours of a day's runs. Sums of double precision are good enough here, and quick. */
function rollUpOfRuns(partition: string, span: 15 | 60, columns: readonly string[]): string {
  const expressionOf = (column: string): string => {
    if (column === 'span') return String(span);
    if (column === 'start') return `date_bin('${span} minutes', slot, '1970-01-01T00:00:00Z')`;
    if (column === 'status_code') return 'coalesce(status_code, 0)';
    if (KEY.includes(column)) return column;
    if (column === 'runs') return 'count(*)';
    if (column === 'degraded') return 'count(*) filter (where degraded)';
    if (column === 'retries') return 'sum(retries)';
    const [, measure, sum] = /^(.+)_(count|sum|min|max)$/.exec(column) ?? [];
    if (sum === 'count') return `nullif(count(${measure}), 0)`;
    return sum === 'sum' ? `sum(${measure})::numeric` : `${sum}(${measure})`;
  };
  return `insert into result_rollups (${columns.join(', ')})
    select ${columns.map(expressionOf).join(', ')} from ${partition} group by 1, 2, 3, 4, 5, 6, 7`;
}

/** A day of its hours. */
function rollUpOfHours(columns: readonly string[]): string {
  const expressionOf = (column: string): string => {
    if (column === 'span') return '1440';
    if (column === 'start') return `date_bin('24 hours', start, '1970-01-01T00:00:00Z')`;
    if (KEY.includes(column)) return column;
    return /_min$/.test(column)
      ? `min(${column})`
      : /_max$/.test(column)
        ? `max(${column})`
        : `sum(${column})`;
  };
  return `insert into result_rollups (${columns.join(', ')})
    select ${columns.map(expressionOf).join(', ')} from result_rollups
    where span = 60 and start >= date_bin('24 hours', $1::timestamptz, '1970-01-01T00:00:00Z')
      and start < $2::timestamptz
    group by 1, 2, 3, 4, 5, 6, 7`;
}

/** Roll-ups of earlier months, whose results are gone: those of this month again. */
async function addEarlierRollUps(store: Store, columns: readonly string[]): Promise<void> {
  for (let months = 1; months <= EARLIER_MONTHS; months += 1) {
    const earlier = columns.map((name) =>
      name === 'start' ? `start - interval '${months * DAYS * 24} hours'` : name,
    );
    const copy = `insert into result_rollups (${columns.join(', ')})
      select ${earlier.join(', ')} from result_rollups
      where span in (60, 1440) and start >= $1::timestamptz on conflict do nothing`;
    await store.transaction((tx) => tx.query(copy, [new Date(Date.now() - DAYS * DAY_MS)]), {
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    });
  }
}

/** The runs of some minutes, with a few slow responses, a few failures, and all phases of each run. */
const runsInto = (table: string): string => `
  insert into ${table} (account_id, check_id, slot, run_key, run_location, passed,
    status_code, retries, response_time, wait, dns, tcp, first_byte, download)
  select $1, c.id, to_timestamp(minute * 60), hashtextextended(c.id || place, minute), place,
    chance < 0.98, case when chance < 0.98 then 200 when chance < 0.995 then 503 end,
    (chance > 0.97)::int, total, total * 0.01, total * 0.1, total * 0.15, total * 0.64, total * 0.1
  from generate_series($3::bigint, $4::bigint) minute
    join bench_checks c on (minute + c.number) % c.minutes = 0
    cross join unnest($2::text[]) with ordinality as place (place, at)
    cross join lateral (select random() as chance where c.id is not null and minute > at) as chance
    cross join lateral (select 20 + c.number % 50 - 15 * ln(1 - random()) as total
      where chance is not null) as time
  where c.kind = 'parallel' or (minute / c.minutes) % cardinality($2::text[]) = at - 1
  order by minute`;

/** The status of each check as of the last minute: one in fifty fails, since between a minute and a day. */
const STATUSES = `
  insert into check_statuses (account_id, check_id, name, has_failures, has_errors, is_degraded,
    longest_run, shortest_run, last_run_location, last_check_run_id, last_slot, last_response_time,
    created_at, state, since, state_slot, state_version, last_error_code, last_error_message,
    last_error_location, last_error_slot)
  select $1, c.id, 'Orders', fails, false, false, 200, 20, $2,
    (extract(epoch from $3::timestamptz) * 1000)::bigint::text, $3::timestamptz, 60,
    $3::timestamptz - interval '31 days', case when fails then 'failing' else 'passing' end,
    $3::timestamptz - (1 + c.number % 1440) * interval '1 minute', $3::timestamptz, 1,
    case when fails then 'CONNECT_REFUSED' end, case when fails then 'refused' end,
    case when fails then $2 end, case when fails then $3::timestamptz end
  from bench_checks c cross join lateral (select c.number % 50 = 1 as fails) as state`;
