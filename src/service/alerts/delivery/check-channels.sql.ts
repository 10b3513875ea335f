import type { AlertType } from '../../../model/alerting/alert.ts';
import type { Sql } from '../../database/store.ts';
import { DIGEST_KEY } from '../bundling/bundle-key.ts';

/** A pair of a check and a channel: its notices are sent in order. */
export type CheckChannel = {
  readonly channelId: number;
  readonly checkId: string;
};

/** Every combination of these channels and checks. */
interface PairsQuery {
  readonly accountId: string;
  readonly channelIds: readonly number[];
  readonly checkIds: readonly string[];
}

/** A query for the channels and the checks of these pairs. */
export function pairsAmong(accountId: string, pairs: readonly CheckChannel[]): PairsQuery {
  return {
    accountId,
    channelIds: [...new Set(pairs.map(({ channelId }) => channelId))],
    checkIds: [...new Set(pairs.map(({ checkId }) => checkId))],
  };
}

/** The same, with what distinguishes a problem from its end. */
interface ProblemsQuery extends PairsQuery {
  /** The types of alerts that report the end of a problem. */
  readonly ends: readonly AlertType[];
}

const PAIR = 'channel.id as channel_id, given.id as check_id';
const PAIRS = 'unnest($2::bigint[]) as channel (id), unnest($3::text[]) as given (id)';
/** Selects the deliveries `d` of a pair. */
const IS_OF_PAIR = 'd.account_id = $1 and d.check_id = given.id and d.channel_id = channel.id';
/** Whether the delivery `d` waits for a digest that nobody has begun to send. */
const WAITS_FOR_DIGEST = `d.state = 'waiting' and d.attempts = 0 and d.bundle_key is not distinct from '${DIGEST_KEY}'`;

/**
 * Whether the last notice of the pair was of a problem, not of its end; null without one. Certificates do not count.
 *
 * @param among which of the deliveries `d` count
 */
function endsWithProblem(among: string): string {
  return `(select d.alert_type from alert_deliveries d
    where ${IS_OF_PAIR} and d.alert_type <> 'ALERT_SSL' and ${among}
    order by d.seq desc limit 1) <> all ($4::text[])`;
}

/**
 * Whether the check and channel of a delivery have no earlier (`<`) or later (`>`) delivery that is to be sent, apart
 * from one that waits for a digest. Not by `not exists`: the planner expects no unfinished rows, and then joins all of
 * them with all. Not by `is null` either: the planner expects that of one row in two hundred, and then reads and sorts
 * all rows instead of stopping after the first ones.
 *
 * @param delivery the name of the delivery's row in the statement
 */
export function hasNoneOfPair(delivery: string, side: '<' | '>'): string {
  return `coalesce((select other.seq from alert_deliveries other
    where other.account_id = ${delivery}.account_id and other.channel_id = ${delivery}.channel_id
      and other.check_id = ${delivery}.check_id and other.finished_at is null
      and other.bundle_key is distinct from '${DIGEST_KEY}' and other.seq ${side} ${delivery}.seq
    order by other.seq limit 1), ${delivery}.seq) ${side === '<' ? '>=' : '<='} ${delivery}.seq`;
}

/** The pairs with an unfinished delivery, apart from one that waits for a digest. */
export function unfinishedPairs(
  sql: Sql,
  { accountId, channelIds, checkIds }: PairsQuery,
): Promise<readonly CheckChannel[]> {
  return sql.query<CheckChannel>(
    `select ${PAIR} from ${PAIRS} where exists (select from alert_deliveries d
       where ${IS_OF_PAIR} and d.finished_at is null and d.bundle_key is distinct from $4)`,
    [accountId, channelIds, checkIds, DIGEST_KEY],
  );
}

/**
 * The pairs whose last notice was of a problem, not of its end: the channel was notified of the current
 * problem.
 */
export function pairsWithProblem(
  sql: Sql,
  { accountId, channelIds, checkIds, ends }: ProblemsQuery,
): Promise<readonly CheckChannel[]> {
  return sql.query<CheckChannel>(`select ${PAIR} from ${PAIRS} where ${endsWithProblem('true')}`, [
    accountId,
    channelIds,
    checkIds,
    ends,
  ]);
}

/** A pair, with its notices that wait for a digest and those that do not. */
type DigestPair = CheckChannel & {
  /** When the digest that contains a notice of the check is due; null without one. */
  readonly digestAt: Date | null;
  /** Whether the channel knows of the problem: its last notice outside of a pending digest was of one. */
  readonly isProblemKnown: boolean;
};

export function digestPairs(
  sql: Sql,
  { accountId, channelIds, checkIds, ends }: ProblemsQuery,
): Promise<readonly DigestPair[]> {
  return sql.query<DigestPair>(
    `select ${PAIR},
       (select max(d.digest_at) from alert_deliveries d
         where ${IS_OF_PAIR} and d.finished_at is null and ${WAITS_FOR_DIGEST}) as digest_at,
       coalesce(${endsWithProblem(`not (${WAITS_FOR_DIGEST})`)}, false) as is_problem_known
     from ${PAIRS}`,
    [accountId, channelIds, checkIds, ends],
  );
}
