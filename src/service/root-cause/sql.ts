import type { Analysis, AnalysisProvider } from '../../model/result/root-cause-analysis.ts';
import type { AccountKey } from '../database/account-key.ts';
import { readList } from '../database/lists/lists.ts';
import type { AccountRange } from '../database/lists/page-entries.ts';
import type { Sql } from '../database/store.ts';
import { jsonText } from '../database/values.ts';

/** The failure that an analysis is about. */
export interface AnalysisSubject {
  readonly checkId: string;
  readonly checkType: string;
  readonly errorGroupId: string | null;
  readonly resultId: string;
  /** Epoch milliseconds. */
  readonly slotMs: number;
}

export type AnalysisOrigin = 'automatic' | 'requested';

/** A completed analysis. */
export interface MadeAnalysis {
  /** May differ from `askedProvider`. */
  readonly provider: AnalysisProvider;
  readonly model: string;
  readonly durationMs: number;
  readonly analysis: Analysis;
}

export interface StoredAnalysis extends AnalysisSubject {
  readonly id: string;
  /** null if the check is gone. */
  readonly checkName: string | null;
  readonly createdAt: Date;
  /** null while it is pending. */
  readonly made: MadeAnalysis | null;
}

/** A pending analysis with a lease. */
export interface ClaimedAnalysis extends AnalysisSubject {
  readonly accountId: string;
  readonly id: string;
  readonly origin: AnalysisOrigin;
  readonly askedProvider: AnalysisProvider;
  /** How often it was claimed, this time included. */
  readonly claim: number;
}

type AnalysisRow = Omit<StoredAnalysis, 'slotMs' | 'made'> & {
  readonly slot: Date;
  readonly provider: AnalysisProvider | null;
  readonly model: string | null;
  readonly durationMs: number | null;
  readonly analysis: Analysis | null;
};

const SUBJECT = 'id, check_id, check_type, error_group_id, result_id, slot';
const COLUMNS = `${SUBJECT}, created_at, provider, model, duration_ms, analysis,
  (select c.name from checks c where c.account_id = root_cause_analyses.account_id
    and c.id = root_cause_analyses.check_id) as check_name`;

function analysisOf(row: AnalysisRow): StoredAnalysis {
  const { slot, provider, model, durationMs, analysis, ...others } = row;
  const isMade = provider !== null && model !== null && durationMs !== null && analysis !== null;
  const made = isMade ? { provider, model, durationMs, analysis } : null;
  return { ...others, slotMs: slot.getTime(), made };
}

export interface NewAnalysis extends AnalysisSubject {
  readonly id: string;
}

/**
 * Inserts pending analyses.
 *
 * @param maxPerDay the limit of a check for its origin and provider in the last 24 hours, including
 *   these; those above it are not inserted
 * @returns how many were inserted
 */
export async function insertPending(
  sql: Sql,
  {
    accountId,
    analyses,
    origin,
    askedProvider,
    createdAtMs,
    maxPerDay,
  }: {
    readonly accountId: string;
    readonly analyses: readonly NewAnalysis[];
    readonly origin: AnalysisOrigin;
    readonly askedProvider: AnalysisProvider;
    readonly createdAtMs: number;
    readonly maxPerDay: number;
  },
): Promise<number> {
  const rows = analyses.map((one) => ({
    id: one.id,
    check_id: one.checkId,
    check_type: one.checkType,
    error_group_id: one.errorGroupId,
    result_id: one.resultId,
    slot: new Date(one.slotMs),
  }));
  const inserted = await sql.query(
    `insert into root_cause_analyses (account_id, ${SUBJECT}, origin, asked_provider, created_at)
     select $1, ${SUBJECT}, $3, $4, $5::timestamptz
     from (select *, row_number() over (partition by check_id order by slot, id) as number
       from jsonb_to_recordset($2::jsonb) as given (id text, check_id text, check_type text,
         error_group_id text, result_id text, slot timestamptz)) as given
     where given.number + (select count(*) from root_cause_analyses a
       where a.account_id = $1 and a.check_id = given.check_id and a.origin = $3
         and a.asked_provider = $4 and a.created_at > $5::timestamptz - interval '24 hours')
       <= $6::bigint
     returning 1`,
    [accountId, jsonText(rows), origin, askedProvider, new Date(createdAtMs), maxPerDay],
  );
  return inserted.length;
}

/** The pending requested analysis of the same failure by the same provider; null for none. */
export async function findPendingRequest(
  sql: Sql,
  {
    accountId,
    subject,
    askedProvider,
  }: {
    readonly accountId: string;
    readonly subject: AnalysisSubject;
    readonly askedProvider: AnalysisProvider;
  },
): Promise<StoredAnalysis | null> {
  const [row] = await sql.query<AnalysisRow>(
    `select ${COLUMNS} from root_cause_analyses
     where account_id = $1 and check_id = $2 and result_id = $3 and asked_provider = $4
       and error_group_id is not distinct from $5 and origin = 'requested' and state = 'PENDING'
     order by created_at, id limit 1`,
    [accountId, subject.checkId, subject.resultId, askedProvider, subject.errorGroupId],
  );
  return row === undefined ? null : analysisOf(row);
}

export async function findAnalysis(
  sql: Sql,
  { accountId, id }: AccountKey,
): Promise<StoredAnalysis | null> {
  const [row] = await sql.query<AnalysisRow>(
    `select ${COLUMNS} from root_cause_analyses where account_id = $1 and id = $2`,
    [accountId, id],
  );
  return row === undefined ? null : analysisOf(row);
}

export interface AnalysisFilter extends AccountRange {
  readonly checkId: string | null;
  readonly errorGroupId: string | null;
}

/** Completed ones, newest first. */
export async function listAnalyses(
  sql: Sql,
  { accountId, checkId, errorGroupId, ...range }: AnalysisFilter,
): Promise<readonly StoredAnalysis[]> {
  const params: unknown[] = [accountId];
  const conditions = ["account_id = $1 and state = 'COMPLETED'"];
  const where = (column: string, value: string | null): void => {
    if (value === null) return;
    params.push(value);
    conditions.push(`${column} = $${params.length}`);
  };
  where('check_id', checkId);
  where('error_group_id', errorGroupId);
  const list = {
    columns: COLUMNS,
    from: 'root_cause_analyses',
    where: conditions.join(' and '),
    params,
    order: 'created_at desc, id',
  };
  const rows = await readList<AnalysisRow>(sql, list, range);
  return rows.map(analysisOf);
}

/** Removes analyses older than the instant, also pending ones, up to the limit. */
export async function deleteAnalysesBefore(
  sql: Sql,
  { beforeMs, limit }: { readonly beforeMs: number; readonly limit: number },
): Promise<number> {
  const rows = await sql.query(
    `delete from root_cause_analyses where ctid = any (array(
       select ctid from root_cause_analyses where created_at < $1::timestamptz
       order by created_at limit $2::bigint))
     returning 1`,
    [new Date(beforeMs), limit],
  );
  return rows.length;
}
