import type { ReceivedResult } from '../../wire/v1/check-result.ts';
import { type List, readList } from '../database/lists/lists.ts';
import type { AccountRange } from '../database/lists/page-entries.ts';
import type { Sql } from '../database/store.ts';

/**
 * The column `body` of a stored result as the API shows it. Fields that the API defines as non-null
 * are removed if they are null; others stay.
 */
export const SHOWN_RESULT = `((body - 'agenticCheckResult'
    - case jsonb_typeof(body -> 'apiCheckResult') when 'null' then 'apiCheckResult' else '' end)
  #- case jsonb_typeof(body #> '{apiCheckResult,pcapDataUrl}')
       when 'null' then '{apiCheckResult,pcapDataUrl}' else '{}' end::text[])::text`;

/** A run and its slot, in epoch milliseconds. */
export interface RunSlot {
  readonly checkId: string;
  readonly sequenceId: string;
  readonly slotMs: number;
}

/** @returns the indexes of the runs that have a FINAL */
export async function indexesOfRunsWithFinal(
  sql: Sql,
  { accountId, runs }: { readonly accountId: string; readonly runs: readonly RunSlot[] },
): Promise<readonly number[]> {
  if (runs.length === 0) return [];
  // The lateral subquery with its offset forces an index lookup for each run, whatever the planner's
  // statistics say.
  const rows = await sql.query<{ number: number }>(
    `select (run.number - 1)::int as number
     from unnest($2::text[], $3::text[], $4::timestamptz[])
         with ordinality as run (check_id, sequence_id, slot, number)
       cross join lateral (select from check_results f
         where f.account_id = $1 and f.check_id = run.check_id
           and f.sequence_id = run.sequence_id and f.slot = run.slot and f.result_type = 'FINAL'
         offset 0) as final`,
    [
      accountId,
      runs.map(({ checkId }) => checkId),
      runs.map(({ sequenceId }) => sequenceId),
      runs.map(({ slotMs }) => new Date(slotMs)),
    ],
  );
  return rows.map(({ number }) => number);
}

/** A FINAL in a range of slots: `range` is the index of the range. */
type FinalInRange = {
  readonly range: number;
  readonly sequenceId: string;
  readonly slotMs: number;
};

/**
 * The FINALs from a first to a last slot, both included: faster than `indexesOfRunsWithFinal` for many runs of a
 * check.
 */
export async function finalsBetween(
  sql: Sql,
  {
    accountId,
    ranges,
  }: {
    readonly accountId: string;
    readonly ranges: readonly {
      readonly checkId: string;
      readonly slot: number;
      readonly lastSlot: number;
    }[];
  },
): Promise<readonly FinalInRange[]> {
  if (ranges.length === 0) return [];
  return sql.query<FinalInRange>(
    `select (given.number - 1)::int as range, final.sequence_id, final.slot_ms
     from unnest($2::text[], $3::timestamptz[], $4::timestamptz[])
         with ordinality as given (check_id, slot, last_slot, number)
       cross join lateral (
         select f.sequence_id, (extract(epoch from f.slot) * 1000)::bigint as slot_ms
         from check_results f
         where f.account_id = $1 and f.check_id = given.check_id
           and f.slot between given.slot and given.last_slot and f.result_type = 'FINAL'
         offset 0) as final`,
    [
      accountId,
      ranges.map(({ checkId }) => checkId),
      ranges.map(({ slot }) => new Date(slot)),
      ranges.map(({ lastSlot }) => new Date(lastSlot)),
    ],
  );
}

export interface ResultFilter extends AccountRange {
  readonly checkId: string;
  /** Epoch milliseconds of `created_at`: `toMs` is excluded. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly resultTypes: readonly ReceivedResult['resultType'][];
  readonly location: string | null;
  readonly checkType: string | null;
  readonly hasFailures: boolean | null;
}

/**
 * The bodies as JSON texts, newest first.
 *
 * @param maxBytes of all together
 * @returns null if they have more
 */
export async function listResults(
  sql: Sql,
  filter: ResultFilter,
  maxBytes: number,
): Promise<readonly string[] | null> {
  const params: unknown[] = [
    filter.accountId,
    filter.checkId,
    new Date(filter.fromMs),
    new Date(filter.toMs),
    filter.resultTypes,
  ];
  const conditions = ['result_type = any($5::text[])'];
  const where = (condition: string, value: unknown): void => {
    if (value === null) return;
    params.push(value);
    conditions.push(`${condition} = $${params.length}`);
  };
  where('run_location', filter.location);
  where('check_type', filter.checkType);
  where('has_failures', filter.hasFailures);
  const list: List = {
    columns: `${SHOWN_RESULT} as body, created_at, slot, id`,
    from: 'check_results',
    where: `account_id = $1 and check_id = $2 and created_at >= $3::timestamptz
       and created_at < $4::timestamptz`,
    filter: conditions.join(' and '),
    params,
    order: 'created_at desc, slot desc, id',
    wrap: (page, order, keys) => `select
        case when sum(octet_length(body)) over () <= ${maxBytes} then body end as body ${keys}
      from (${page}) as page ${order}`,
  };
  const rows = await readList<{ body: string | null }>(sql, list, filter);
  const bodies = rows.flatMap(({ body }) => (body === null ? [] : [body]));
  return bodies.length === rows.length ? bodies : null;
}

interface ResultOf {
  readonly accountId: string;
  readonly checkId: string;
  readonly id: string;
}

/** The body as JSON text, as it was received; null if there is no such result. */
export async function findResult(sql: Sql, key: ResultOf): Promise<string | null> {
  return readResult(sql, key, 'body::text');
}

/** The same as the API shows it. */
export async function findShownResult(sql: Sql, key: ResultOf): Promise<string | null> {
  return readResult(sql, key, SHOWN_RESULT);
}

async function readResult(
  sql: Sql,
  { accountId, checkId, id }: ResultOf,
  form: string,
): Promise<string | null> {
  const [row] = await sql.query<{ body: string }>(
    `select ${form} as body from check_results
     where account_id = $1 and check_id = $2 and id = $3
     order by slot desc limit 1`,
    [accountId, checkId, id],
  );
  return row?.body ?? null;
}
