import type { AnalysisProvider, AnalysisRequest } from '../../model/result/root-cause-analysis.ts';
import { DAY_MS } from '../../model/time-units.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { ReceivedResult } from '../../wire/v1/check-result.ts';
import { type Allowance, unlimited } from '../accounts/allowance.ts';
import { findCheck } from '../checks/shared.sql.ts';
import type { AccountKey } from '../database/account-key.ts';
import type { Sql, Store } from '../database/store.ts';
import { findErrorGroup } from '../error-groups/shared.sql.ts';
import { conflict, invalid, notFound, ServiceError } from '../errors.ts';
import { type Page, rangeOf } from '../http/resources/paging.ts';
import type { FinalsHandler } from '../results/finals-handler.ts';
import { findResult } from '../results/shared.sql.ts';
import { createAnalysisCompleter } from './analysis-completer.ts';
import { createAnalysisWorker } from './analysis-worker.ts';
import { latestFailure } from './evidence.sql.ts';
import { groupsToAnalyse, summariesOfGroups } from './groups.sql.ts';
import type { RootCauseProvider } from './provider.ts';
import { resultIn } from './read-analysis-input.ts';
import {
  type AnalysisSubject,
  findAnalysis,
  findPendingRequest,
  insertPending,
  listAnalyses,
  type StoredAnalysis,
} from './sql.ts';

export type { StoredAnalysis } from './sql.ts';

export interface RootCauseParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** Makes a UUID. */
  readonly ids: () => string;
  /** Whole days, as for results. */
  readonly retentionDays: number;
  /** Default: unlimited. */
  readonly allowance?: Allowance;
  /** Null for only the rules. */
  readonly model?: RootCauseProvider | null;
  /** For one call of the model, including retries. */
  readonly modelLimitMs?: number;
  /** Analyses by the model for each account and day (UTC). */
  readonly dailyLimit?: number;
}

/** An analysis in the answer of an error group. */
export interface AnalysisSummary extends Readonly<Record<string, unknown>> {
  readonly id: string;
  readonly provider: string;
  readonly model: string;
  readonly classification: string;
  readonly rootCause: string;
  /** A day. */
  readonly created_at: string;
}

/** Why checks fail: src/service/README.md, "Root cause analyses". */
export interface RootCauseAnalyses {
  /**
   * Adds a pending analysis, or returns the pending one for the same failure.
   *
   * @throws ServiceError 402 where the plan does not include it, 404 for a check, a result or an error
   *   group that does not exist, 409 where there is no failure to analyse, 400 for the model where
   *   none is configured, 429 where the check had too many in a day
   */
  create(accountId: string, asked: AnalysisRequest): Promise<StoredAnalysis>;
  /** Also a pending one. @throws ServiceError 404 */
  read(key: AccountKey): Promise<StoredAnalysis>;
  /** Completed ones, newest first. */
  list(
    accountId: string,
    query: Page & { readonly checkId: string | null; readonly errorGroupId: string | null },
  ): Promise<readonly StoredAnalysis[]>;
  /** The newest of each group, newest first; groups without one are left out. */
  analysesOf(
    accountId: string,
    groupIds: readonly string[],
  ): Promise<ReadonlyMap<string, readonly AnalysisSummary[]>>;
  /**
   * Adds a pending analysis for each error group that is new or recurs. Must run before the error
   * groups record the failures.
   */
  readonly follow: FinalsHandler;
  /** Completes all pending analyses. */
  makePending(signal: AbortSignal): Promise<void>;
  /** Completes pending analyses and removes old ones until the signal aborts. Logs failures. */
  maintain(signal: AbortSignal): Promise<void>;
}

/** Limit of automatic analyses of a check by the rules per day. */
const MAX_AUTOMATIC_PER_DAY = 50;
const MAX_REQUESTED_PER_DAY = 200;
/** Maximum number of analyses of an error group in a response. */
const MAX_OF_GROUP = 10;
/** How many failures of a check are searched for the latest one of a group. */
const NEWEST_FAILURES = 2000;
const MODEL_WORKERS = 2;
const NO_LIMIT_MS = 60_000;

export function createRootCauseAnalyses(parts: RootCauseParts): RootCauseAnalyses {
  const { store, clock, ids, retentionDays, model = null, allowance = unlimited } = parts;
  const { modelLimitMs = NO_LIMIT_MS, dailyLimit = 0 } = parts;
  const completer = createAnalysisCompleter({ ...parts, model, modelLimitMs, dailyLimit });
  const modelWorkers = model === null ? 0 : MODEL_WORKERS;
  const worker = createAnalysisWorker({ ...parts, completer, modelWorkers });

  function providerOf({ provider }: AnalysisRequest): AnalysisProvider {
    if (provider === 'openai' && model === null) {
      const message =
        'must be rules here: this service has no model configured (RCA_URL and RCA_MODEL)';
      throw invalid([{ path: 'body.provider', message }]);
    }
    return provider ?? (model === null ? 'rules' : 'openai');
  }

  async function latest(
    accountId: string,
    checkId: string,
    errorGroupId: string | null,
  ): Promise<ReceivedResult> {
    const sinceMs = clock.wallMs() - (retentionDays + 1) * DAY_MS;
    const about = { accountId, checkId, errorGroupId, sinceMs, newest: NEWEST_FAILURES };
    const body = await latestFailure(store, about);
    if (body !== null) return resultIn(body);
    const what = errorGroupId === null ? 'check' : 'error group';
    throw conflict(`No stored failure of this ${what} to analyse`);
  }

  async function failureOf(accountId: string, asked: AnalysisRequest): Promise<AnalysisSubject> {
    if ('errorGroupId' in asked) {
      const { errorGroupId } = asked;
      const key = { accountId, kind: 'check', id: errorGroupId } as const;
      const group = await findErrorGroup(store, key);
      if (group === null) throw notFound('error group');
      return subjectOf(await latest(accountId, group.scope, errorGroupId), errorGroupId);
    }
    const { checkId, resultId } = asked;
    if ((await findCheck(store, { accountId, id: checkId })) === null) throw notFound('check');
    if (resultId === undefined) return subjectOf(await latest(accountId, checkId, null));
    const body = await findResult(store, { accountId, checkId, id: resultId });
    if (body === null) throw notFound('check result');
    const result = resultIn(body);
    if (!result.hasFailures && !result.hasErrors && !result.isDegraded) {
      throw conflict('This result passed; there is no failure to analyse');
    }
    return subjectOf(result);
  }

  return {
    async create(accountId, asked) {
      allowance.need(accountId, 'rootCauseAnalysis');
      const askedProvider = providerOf(asked);
      const subject = await failureOf(accountId, asked);
      const pending = await findPendingRequest(store, { accountId, subject, askedProvider });
      if (pending !== null) return pending;
      const id = ids();
      const createdAtMs = clock.wallMs();
      const inserted = await insertPending(store, {
        accountId,
        analyses: [{ ...subject, id }],
        origin: 'requested',
        askedProvider,
        createdAtMs,
        maxPerDay: MAX_REQUESTED_PER_DAY,
      });
      if (inserted === 0) throw tooMany();
      worker.wake();
      return { ...subject, id, createdAt: new Date(createdAtMs), made: null, checkName: null };
    },

    async read(key) {
      const found = await findAnalysis(store, key);
      if (found === null) throw notFound('root cause analysis');
      return found;
    },

    list(accountId, { checkId, errorGroupId, ...page }) {
      return listAnalyses(store, { accountId, checkId, errorGroupId, ...rangeOf(page) });
    },

    async analysesOf(accountId, groupIds) {
      const found = new Map<string, AnalysisSummary[]>();
      const asked = { accountId, groupIds, limitEach: MAX_OF_GROUP };
      for (const { groupId, createdAt, ...summary } of await summariesOfGroups(store, asked)) {
        const one = { ...summary, created_at: createdAt.toISOString().slice(0, 10) };
        const others = found.get(groupId);
        if (others === undefined) found.set(groupId, [one]);
        else others.push(one);
      }
      return found;
    },

    async follow(tx, { accountId, finals, atMs }) {
      const failed = latestOfEach(finals);
      if (failed.length > 0) await insertForGroups(tx, { accountId, failed, atMs, ids });
    },

    async makePending(signal) {
      while (!signal.aborted && (await completer.byRules(signal)) > 0);
      while (!signal.aborted && (await completer.byModel(signal)) > 0);
    },

    async maintain(signal) {
      await worker.maintain(signal);
      await model?.close();
    },
  };
}

function subjectOf(result: ReceivedResult, errorGroupId?: string): AnalysisSubject {
  return {
    checkId: result.checkId,
    checkType: result.checkType,
    errorGroupId: errorGroupId ?? result.errorGroupIds[0] ?? null,
    resultId: result.id,
    slotMs: result.checkRunId,
  };
}

interface GroupFailure {
  readonly errorGroupId: string;
  readonly result: ReceivedResult;
}

/** The latest failure of each error group. */
function latestOfEach(finals: readonly ReceivedResult[]): readonly GroupFailure[] {
  const latest = new Map<string, ReceivedResult>();
  for (const result of finals) {
    if (!result.hasFailures) continue;
    for (const id of result.errorGroupIds) {
      const before = latest.get(id);
      if (before === undefined || before.checkRunId < result.checkRunId) latest.set(id, result);
    }
  }
  return [...latest].map(([errorGroupId, result]) => ({ errorGroupId, result }));
}

async function insertForGroups(
  tx: Sql,
  {
    accountId,
    failed,
    atMs,
    ids,
  }: {
    readonly accountId: string;
    readonly failed: readonly GroupFailure[];
    readonly atMs: number;
    readonly ids: () => string;
  },
): Promise<void> {
  const seen = failed.map(({ errorGroupId, result }) => ({
    errorGroupId,
    // As in error groups, a failure is never later than its arrival.
    startedMs: Math.min(Date.parse(result.startedAt), atMs),
  }));
  const wanted = new Set(await groupsToAnalyse(tx, { accountId, seen }));
  if (wanted.size === 0) return;
  const analyses = failed
    .filter((_, index) => wanted.has(index))
    .map(({ errorGroupId, result }) => ({ ...subjectOf(result, errorGroupId), id: ids() }));
  await insertPending(tx, {
    accountId,
    analyses,
    origin: 'automatic',
    askedProvider: 'rules',
    createdAtMs: atMs,
    maxPerDay: MAX_AUTOMATIC_PER_DAY,
  });
}

function tooMany(): ServiceError {
  const retryAfterSeconds = 3600;
  return new ServiceError(
    429,
    `This check had ${MAX_REQUESTED_PER_DAY} analyses in 24 hours; look at those, or try again later`,
    {
      attributes: { limit: MAX_REQUESTED_PER_DAY, retryAfterSeconds },
      headers: { 'retry-after': String(retryAfterSeconds) },
    },
  );
}
