import type { Store } from '../../../src/service/database/store.ts';

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1440;
const DAY_MS = DAY_MINUTES * MINUTE_MS;
/** The days of a month, and the day in which it begins. */
const DAYS = 31;
const EARLIER_MONTHS = 2;
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
 * they had come in the order of their slots.
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
    rollUp,
  }: {
    readonly accountId: string;
    readonly check: object;
    readonly nowMs: number;
    readonly share: number;
    /** Computes the roll-ups of what is stored. */
    readonly rollUp: () => Promise<void>;
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
      $2::timestamptz::date, $2::timestamptz::date)::text`;
  await store.query(partitions, [new Date(firstMinute * MINUTE_MS), new Date(nowMs)]);
  await store.query('alter table result_metrics disable trigger runs_added');
  for (let minute = firstMinute; minute < lastMinute; minute += DAY_MINUTES) {
    await store.transaction((tx) => tx.query(ONE_DAY, [accountId, LOCATIONS, minute]), {
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    });
  }
  await store.query('alter table result_metrics enable trigger runs_added');
  // Autovacuum would have done it by now.
  await store.query('vacuum (analyze) result_metrics');
  // All at once, as after an upgrade.
  await store.query(
    `insert into rollup_backfill
     select generate_series(date_trunc('day', $1::timestamptz, 'UTC'), $2, '24 hours')`,
    [new Date(firstMinute * MINUTE_MS), new Date(nowMs)],
  );
  await rollUp();
  await addEarlierRollUps(store);
  await store.query('vacuum (analyze) result_rollups');
  const [row] = await store.query<{ results: number }>(
    'select count(*) as results from result_metrics',
  );
  const made = await store.query<{ id: string; kind: CheckKind }>(
    'select id, kind from bench_checks',
  );
  const idsOf = (kind: CheckKind): readonly string[] =>
    made.filter((one) => one.kind === kind).map(({ id }) => id);
  return {
    results: row?.results ?? 0,
    checks: made.length,
    ids: { minutely: idsOf('minutely'), parallel: idsOf('parallel'), other: idsOf('other') },
  };
}

/** Roll-ups of earlier months, whose results are gone: those of this month again. */
async function addEarlierRollUps(store: Store): Promise<void> {
  const columns = await store.query<{ name: string }>(
    `select attname::text as name from pg_attribute
     where attrelid = 'result_rollups'::regclass and attnum > 0 order by attnum`,
  );
  const names = columns.map(({ name }) => name).join(', ');
  for (let months = 1; months <= EARLIER_MONTHS; months += 1) {
    const earlier = names.replace(' start,', ` start - interval '${months * DAYS * 24} hours',`);
    const copy = `insert into result_rollups (${names}) select ${earlier} from result_rollups
      where span in (60, 1440) and start >= $1::timestamptz on conflict do nothing`;
    await store.transaction((tx) => tx.query(copy, [new Date(Date.now() - DAYS * DAY_MS)]), {
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    });
  }
}

/** A day from a minute on, with a few slow responses, a few failures, and all phases of each run. */
const ONE_DAY = `
  insert into result_metrics (account_id, check_id, slot, run_key, run_location, passed,
    status_code, retries, response_time, wait, dns, tcp, first_byte, download)
  select $1, c.id, to_timestamp(minute * 60), hashtextextended(c.id || place, minute), place,
    chance < 0.98, case when chance < 0.98 then 200 when chance < 0.995 then 503 end,
    (chance > 0.97)::int, total, total * 0.01, total * 0.1, total * 0.15, total * 0.64, total * 0.1
  from generate_series($3::bigint, $3::bigint + ${DAY_MINUTES - 1}) minute
    join bench_checks c on (minute + c.number) % c.minutes = 0
    cross join unnest($2::text[]) with ordinality as place (place, at)
    cross join lateral (select random() as chance where c.id is not null and minute > at) as chance
    cross join lateral (select 20 + c.number % 50 - 15 * ln(1 - random()) as total
      where chance is not null) as time
  where c.kind = 'parallel' or (minute / c.minutes) % cardinality($2::text[]) = at - 1
  order by minute`;
