import type { AlertType } from '../../../model/alerting/alert.ts';
import type { Sql } from '../../database/store.ts';
import { DIGEST_KEY } from '../grouping/bundle-key.ts';

/** A channel and a check: the notices of the one to the other keep their order. */
export type Lane = {
  readonly channelId: number;
  readonly checkId: string;
};

/** All pairs of these channels and checks. */
interface LanesQuery {
  readonly accountId: string;
  readonly channelIds: readonly number[];
  readonly checkIds: readonly string[];
}

/** The pairs of the channels and the checks of these. */
export function lanesAmong(accountId: string, lanes: readonly Lane[]): LanesQuery {
  return {
    accountId,
    channelIds: [...new Set(lanes.map(({ channelId }) => channelId))],
    checkIds: [...new Set(lanes.map(({ checkId }) => checkId))],
  };
}

/** The same, to ask who knows of which problem. */
interface ProblemsQuery extends LanesQuery {
  /** The types of alerts that report the end of a problem. */
  readonly ends: readonly AlertType[];
}

const LANE = 'channel.id as channel_id, given.id as check_id';
const LANES = 'unnest($2::bigint[]) as channel (id), unnest($3::text[]) as given (id)';
/** Selects the deliveries `d` of a lane. */
const IS_OF_LANE = 'd.account_id = $1 and d.check_id = given.id and d.channel_id = channel.id';
/** Whether the delivery `d` waits for a digest that nobody has begun to send. */
const WAITS_FOR_DIGEST = `d.state = 'waiting' and d.attempts = 0 and d.bundle_key is not distinct from '${DIGEST_KEY}'`;

/**
 * Whether the last notice of the lane was of a problem, not of its end; null without one. Certificates do not count.
 *
 * @param among which of the deliveries `d` count
 */
function endsWithProblem(among: string): string {
  return `(select d.alert_type from alert_deliveries d
    where ${IS_OF_LANE} and d.alert_type <> 'ALERT_SSL' and ${among}
    order by d.seq desc limit 1) <> all ($4::text[])`;
}

/**
 * Whether the lane of a delivery has no other on that side that is to be sent, but for one that waits for a digest. Not
 * by `not exists`: the planner expects no unfinished rows, and then joins all of them with all. Not by `is null` either:
 * it expects that of one row in two hundred, and then does not stop after the first ones, but reads and sorts all.
 *
 * @param delivery the name of its row in the statement
 */
export function hasNoneInLane(delivery: string, side: '<' | '>'): string {
  return `coalesce((select other.seq from alert_deliveries other
    where other.account_id = ${delivery}.account_id and other.channel_id = ${delivery}.channel_id
      and other.check_id = ${delivery}.check_id and other.finished_at is null
      and other.bundle_key is distinct from '${DIGEST_KEY}' and other.seq ${side} ${delivery}.seq
    order by other.seq limit 1), ${delivery}.seq) ${side === '<' ? '>=' : '<='} ${delivery}.seq`;
}

/** Those that have an unfinished delivery, but one that waits for a digest. */
export function unfinishedLanes(
  sql: Sql,
  { accountId, channelIds, checkIds }: LanesQuery,
): Promise<readonly Lane[]> {
  return sql.query<Lane>(
    `select ${LANE} from ${LANES} where exists (select from alert_deliveries d
       where ${IS_OF_LANE} and d.finished_at is null and d.bundle_key is distinct from $4)`,
    [accountId, channelIds, checkIds, DIGEST_KEY],
  );
}

/**
 * Those where the last notice was of a problem, not of its end: the channel was notified of the problem that
 * there is.
 */
export function lanesWithProblem(
  sql: Sql,
  { accountId, channelIds, checkIds, ends }: ProblemsQuery,
): Promise<readonly Lane[]> {
  return sql.query<Lane>(`select ${LANE} from ${LANES} where ${endsWithProblem('true')}`, [
    accountId,
    channelIds,
    checkIds,
    ends,
  ]);
}

/** What waits for a digest and what does not, of a check's notices to a channel. */
type DigestLane = Lane & {
  /** When the digest is due that contains a notice of the check; null without one. */
  readonly digestAt: Date | null;
  /** Whether the last notice that is in no digest still to be sent was of a problem: it is known already. */
  readonly isProblemKnown: boolean;
};

/** Each of them. */
export function digestLanes(
  sql: Sql,
  { accountId, channelIds, checkIds, ends }: ProblemsQuery,
): Promise<readonly DigestLane[]> {
  return sql.query<DigestLane>(
    `select ${LANE},
       (select max(d.digest_at) from alert_deliveries d
         where ${IS_OF_LANE} and d.finished_at is null and ${WAITS_FOR_DIGEST}) as digest_at,
       coalesce(${endsWithProblem(`not (${WAITS_FOR_DIGEST})`)}, false) as is_problem_known
     from ${LANES}`,
    [accountId, channelIds, checkIds, ends],
  );
}
