import type { Store } from '../../../src/service/database/store.ts';

const MINUTE_MS = 60_000;
const HOUR_MINUTES = 60;
const DAY_MINUTES = 1440;
const DAY_MS = DAY_MINUTES * MINUTE_MS;
/** Another number of days of results, for example 16. */
const { BENCH_DAYS } = process.env;
const MONTH_DAYS = 31;
/** The days for which there are roll-ups by day. */
const YEAR_DAYS = 365;
/** The days for which there are roll-ups by quarter hour. */
const QUARTER_DAYS = 8;
const LOCATIONS = ['berlin', 'oslo', 'lisbon'];
/** The connections to the database that make data at the same time. */
const CONNECTIONS = 4;
/** Time limit for the largest index. */
const STATEMENT_TIMEOUT_MS = 3_600_000;

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

/** The data that an earlier run made in this database; null if there is none. */
export async function findData(
  store: Store,
): Promise<(MadeData & { readonly accountId: string }) | null> {
  const [table] = await store.query<{ isThere: boolean }>(
    `select to_regclass('bench_data') is not null as is_there`,
  );
  if (table?.isThere !== true) return null;
  const [made] = await store.query<{ accountId: string; results: number }>(
    'select account_id, results from bench_data',
  );
  if (made === undefined) throw new Error('the database has only a part of the data: drop it');
  return { ...made, ...(await readChecks(store)) };
}

async function readChecks(store: Store): Promise<Pick<MadeData, 'checks' | 'ids'>> {
  const made = await store.query<{ id: string; kind: CheckKind }>(
    'select id, kind from bench_checks order by id',
  );
  const idsOf = (kind: CheckKind): readonly string[] =>
    made.filter((one) => one.kind === kind).map(({ id }) => id);
  return {
    checks: made.length,
    ids: { minutely: idsOf('minutely'), parallel: idsOf('parallel'), other: idsOf('other') },
  };
}

/**
 * Makes checks of the account, the data that analytics keep of their results in the 31 days before
 * now, as if they had come in the order of their slots, and the roll-ups by day of the year before.
 * The database makes one day and copies it to all others, in tables whose indexes are added
 * afterwards. The tables are unlogged, which makes no difference to readers.
 *
 * @param share of ten million results
 * @param check the body of every check
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
  const beganMs = performance.now();
  const say = (text: string): void =>
    progress(`${text} after ${Math.round((performance.now() - beganMs) / 1000)} s`);
  await store.query('create table bench_data (account_id text, results bigint)');
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
  await store.query('analyze bench_checks');
  await store.query(
    `insert into checks (account_id, id, check_type, name, activated, muted, frequency, body)
     select $1, id, 'API', 'Orders', true, false, minutes, $2::jsonb from bench_checks`,
    [accountId, check],
  );
  const lastMinute = Math.floor(nowMs / MINUTE_MS);
  const today = Math.floor(lastMinute / DAY_MINUTES);
  const firstDay = today - Number(BENCH_DAYS ?? MONTH_DAYS);
  const dateOf = (day: number): Date => new Date(day * DAY_MS);
  await store.query(
    `select make_result_partitions($1::timestamptz::date, $2::timestamptz::date),
       make_rollup_partitions($3::timestamptz::date, $2::timestamptz::date, $4::timestamptz::date)::text`,
    [
      dateOf(firstDay),
      dateOf(today),
      dateOf(today - YEAR_DAYS),
      dateOf(Math.max(firstDay, today - QUARTER_DAYS)),
    ],
  );
  const columns = await rollUpColumns(store);
  const partitions = await detachPartitions(store);
  await makeFirstDay(store, { accountId, columns, day: today - 1, signal });
  say('the first day');
  const tables: DayTable[] = partitions.flatMap((partition) =>
    daysOf(partition, { firstDay, today }),
  );
  let results = 0;
  await inParallel(tables, signal, async ({ name, source, time, day }) => {
    const list = time === 'slot' ? RUN_COLUMNS : columns;
    const shifted = `${time} + interval '${(day - today + 1) * 24} hours'`;
    const values = list.map((column) => (column === time ? shifted : column));
    const rows = await store.transaction(
      (tx) =>
        tx.query<{ made: number }>(
          `with made as (
             insert into ${name} (${list.join(', ')}) select ${values.join(', ')} from ${source}
             where ${shifted} < $1 returning 1)
           select count(*) as made from made`,
          [new Date(nowMs)],
        ),
      { statementTimeoutMs: STATEMENT_TIMEOUT_MS },
    );
    if (time === 'slot') results += rows[0]?.made ?? 0;
    say(`a day of ${name}`);
  });
  const largestFirst = await store.query<Partition>(
    `select p.* from jsonb_to_recordset($1::jsonb)
       as p (parent text, name text, bound text, key text, "keyName" text)
     order by pg_relation_size(p.name::regclass) desc`,
    [JSON.stringify(partitions)],
  );
  await inParallel(largestFirst, signal, async (partition) => {
    await addKey(store, partition);
    // In a real service, autovacuum would have done this.
    await store.query(`vacuum (analyze) ${partition.name}`);
    say(`index of ${partition.name}`);
  });
  for (const { parent, name, bound } of partitions) {
    await store.query(`alter table ${parent} attach partition ${name} ${bound}`);
  }
  await store.query(STATUSES, [accountId, LOCATIONS[0] ?? '', new Date(lastMinute * MINUTE_MS)]);
  await store.query('vacuum (analyze) checks, check_statuses');
  await store.query('analyze result_rollups');
  await store.query('insert into bench_data values ($1, $2)', [accountId, results]);
  const [size] = await store.query<{ gib: number }>(
    'select pg_database_size(current_database())::float8 / 1024 ^ 3 as gib',
  );
  say(`the database has ${size?.gib.toFixed(1)} GiB`);
  return { results, ...(await readChecks(store)) };
}

/** Does the work for each item, for as many at once as there are connections. */
async function inParallel<T>(
  items: readonly T[],
  signal: AbortSignal,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const left = [...items];
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      for (let item = left.shift(); item !== undefined; item = left.shift()) {
        signal.throwIfAborted();
        await work(item);
      }
    }),
  );
}

type Partition = {
  readonly parent: string;
  readonly name: string;
  readonly bound: string;
  readonly key: string;
  readonly keyName: string;
};

/** The partitions of runs and roll-ups, now tables of their own without index. */
async function detachPartitions(store: Store): Promise<readonly Partition[]> {
  const partitions = await store.query<Partition>(
    `select i.inhparent::regclass::text as parent, c.oid::regclass::text as name,
       pg_get_expr(c.relpartbound, c.oid) as bound, pg_get_constraintdef(k.oid) as key,
       k.conname as key_name
     from pg_inherits i join pg_class c on c.oid = i.inhrelid
       join pg_constraint k on k.conrelid = c.oid and k.contype = 'p'
     where i.inhparent in ('result_metrics'::regclass, 'result_rollups'::regclass)
     order by c.relname`,
  );
  for (const { parent, name, keyName } of partitions) {
    await store.query(`alter table ${parent} detach partition ${name}`);
    await store.query(`alter table ${name} drop constraint ${keyName}`);
    await store.query(`alter table ${name} set unlogged`);
  }
  return partitions;
}

async function addKey(store: Store, { name, key, keyName }: Partition): Promise<void> {
  await store.transaction(
    async (tx) => {
      await tx.query(`set local maintenance_work_mem = '1GB'`);
      // As full as an index whose rows came one by one.
      await tx.query(`alter table ${name} add constraint ${keyName} ${key} with (fillfactor = 70)`);
    },
    { statementTimeoutMs: STATEMENT_TIMEOUT_MS },
  );
}

interface DayTable {
  readonly name: string;
  /** The table with one day of rows. */
  readonly source: string;
  readonly time: 'slot' | 'start';
  readonly day: number;
}

/** The days for which a partition gets rows. */
function daysOf(
  { name }: Partition,
  { firstDay, today }: { readonly firstDay: number; readonly today: number },
): readonly DayTable[] {
  const [, kind, year, month, day] =
    /^result_(metrics|rollups_15|rollups_60|rollups_1440)_(....)(..)(..)?$/.exec(name) ?? [];
  const from = Date.UTC(Number(year), Number(month) - 1, Number(day ?? 1)) / DAY_MS;
  const to = day === undefined ? Date.UTC(Number(year), Number(month)) / DAY_MS : from + 1;
  const first = kind === 'rollups_1440' ? today - YEAR_DAYS : firstDay;
  const days = Array.from({ length: to - from }, (_, at) => from + at).filter(
    (one) => one >= first && one <= today,
  );
  const time = kind === 'metrics' ? 'slot' : 'start';
  return days.map((one) => ({ name, source: `bench_${kind}`, time, day: one }));
}

/** Makes the results of a day (UTC) and their roll-ups, in separate tables. */
async function makeFirstDay(
  store: Store,
  {
    accountId,
    columns,
    day,
    signal,
  }: {
    readonly accountId: string;
    readonly columns: readonly string[];
    readonly day: number;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const list = columns.join(', ');
  for (const [name, like] of [
    ['made', 'result_metrics'],
    ['rollups_15', 'result_rollups'],
    ['rollups_60', 'result_rollups'],
  ] as const) {
    await store.query(`create unlogged table bench_${name} (like ${like})`);
  }
  const hours = Array.from({ length: DAY_MINUTES / HOUR_MINUTES }, (_, hour) => hour);
  await inParallel(hours, signal, async (hour) => {
    const from = day * DAY_MINUTES + hour * HOUR_MINUTES;
    await store.transaction(
      async (tx) => {
        await tx.query(`set local work_mem = '256MB'`);
        await tx.query(
          `with made as (${runsInto('bench_made')} returning *),
           quarters as (insert into bench_rollups_15 (${list}) ${rollUpOfRuns(15, columns)}),
           hours as (insert into bench_rollups_60 (${list}) ${rollUpOfRuns(60, columns)})
           select count(*) from made`,
          [accountId, LOCATIONS, from, from + HOUR_MINUTES - 1],
        );
      },
      { statementTimeoutMs: STATEMENT_TIMEOUT_MS },
    );
  });
  await store.transaction(
    async (tx) => {
      await tx.query(`set local work_mem = '512MB'`);
      await tx.query('create table bench_rollups_1440 (like result_rollups)');
      await tx.query(`insert into bench_rollups_1440 (${list}) ${rollUpOfHours(columns)}`);
      // Only the indexes of runs are read; rows in the order of an index are indexed quickly.
      await tx.query(
        `create table bench_metrics as select * from bench_made order by account_id, check_id, slot, run_key`,
      );
    },
    { statementTimeoutMs: STATEMENT_TIMEOUT_MS },
  );
  await store.query('drop table bench_made');
}

const KEY = ['account_id', 'check_id', 'span', 'start', 'run_location', 'status_code', 'passed'];
/** The columns of measures that have values; the others are null. */
const MEASURES = ['response_time', 'wait', 'dns', 'tcp', 'first_byte', 'download'];
const RUN_COLUMNS = [
  'account_id',
  'check_id',
  'slot',
  'run_key',
  'run_location',
  'passed',
  'status_code',
  'retries',
  ...MEASURES,
];

async function rollUpColumns(store: Store): Promise<readonly string[]> {
  const columns = await store.query<{ name: string }>(
    `select attname::text as name from pg_attribute
     where attrelid = 'result_rollups'::regclass and attnum > 0 order by attnum`,
  );
  const isMade = (name: string): boolean => {
    const [, measure] = /^(.+)_(?:count|sum|min|max)$/.exec(name) ?? [];
    return measure === undefined || MEASURES.includes(measure);
  };
  return columns.map(({ name }) => name).filter(isMade);
}

/**
 * Quarter hours or hours of the runs that were made, in the order of a roll-up, which does not keep
 * those of one check together. Sums of double precision are exact enough here, and quick.
 */
function rollUpOfRuns(span: 15 | 60, columns: readonly string[]): string {
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
  return `select ${columns.map(expressionOf).join(', ')} from made
    group by 1, 2, 3, 4, 5, 6, 7 order by 4, 2`;
}

/** Rolls a day up from its hours. */
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
  return `select ${columns.map(expressionOf).join(', ')} from bench_rollups_60
    group by 1, 2, 3, 4, 5, 6, 7 order by 2`;
}

/** Inserts the runs of some minutes with all phases; a few are slow, and a few fail. */
const runsInto = (table: string): string => `
  insert into ${table} (account_id, check_id, slot, run_key, run_location, passed,
    status_code, retries, response_time, wait, dns, tcp, first_byte, download)
  select $1, c.id, to_timestamp(minute * 60), hashtextextended(c.id || place, minute), place,
    chance < 0.98, case when chance < 0.98 then 200 when chance < 0.995 then 503 end,
    (chance > 0.97)::int, total, total * 0.01, total * 0.1, total * 0.15, total * 0.64, total * 0.1
  from bench_checks c
    cross join lateral generate_series(
      $3::bigint + (c.minutes - ($3::bigint + c.number) % c.minutes) % c.minutes, $4::bigint, c.minutes
    ) minute
    cross join lateral (select (minute / c.minutes) % cardinality($2::text[]) + 1 as turn) as turns
    cross join unnest($2::text[]) with ordinality as place (place, at)
    cross join lateral (select random() as chance where c.id is not null and minute > at) as chance
    cross join lateral (select 20 + c.number % 50 - 15 * ln(1 - random()) as total
      where chance is not null) as time
  where c.kind = 'parallel' or at = turn
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
