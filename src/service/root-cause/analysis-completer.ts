import type { Analysis } from '../../model/result/root-cause-analysis.ts';
import type { Clock } from '../../runtime/clock.ts';
import { messageOf } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { Store } from '../database/store.ts';
import type { AnalysisInput } from './analysis-input.ts';
import {
  claimPending,
  completeAnalysis,
  dropPending,
  releasePending,
  useModelOnce,
} from './claims.sql.ts';
import type { RootCauseProvider } from './provider.ts';
import { readAnalysisInput } from './read-analysis-input.ts';
import { RULES_MODEL, rulesProvider } from './rules/rules-provider.ts';
import { type ClaimedAnalysis, insertPending, type MadeAnalysis } from './sql.ts';

export interface CompleterParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** Makes a UUID. */
  readonly ids: () => string;
  /** Null for only the rules. */
  readonly model: RootCauseProvider | null;
  /** For one call of the model, including retries. */
  readonly modelLimitMs: number;
  /** Analyses by the model for each account and day (UTC). */
  readonly dailyLimit: number;
}

/** Completes pending analyses. Several may run concurrently, also in other replicas. */
export interface AnalysisCompleter {
  /** Completes a batch with the rules. @returns how many */
  byRules(signal: AbortSignal): Promise<number>;
  /** Completes one with the model. @returns how many */
  byModel(signal: AbortSignal): Promise<number>;
}

const RULES_BATCH = 25;
/** The rules make no requests. */
const NEVER = new AbortController().signal;
const RULES_LEASE_MS = 60_000;
/** The lease for database work, in addition to the time of the model. */
const MODEL_LEASE_MS = 60_000;
/** An analysis that was claimed this often without being completed gets a fixed text. */
const MAX_CLAIMS = 3;
const RETRY_MS = 15_000;
/** Limit of automatic analyses of a check by the model per day; the rules have their own limit. */
const MAX_MODEL_PER_DAY = 50;

export function createAnalysisCompleter(parts: CompleterParts): AnalysisCompleter {
  const { store, clock, log, ids, model, modelLimitMs, dailyLimit } = parts;
  let limitLoggedFor: string | null = null;

  const tookMs = (startedMs: number): number =>
    Math.round((clock.monotonicMs() - startedMs) * 1000) / 1000;

  /** Completes it with the rules; without input, with a fixed text. */
  async function finishByRules(claimed: ClaimedAnalysis, startedMs: number): Promise<void> {
    const input = await inputOf(claimed);
    const analysis =
      input === null || input === 'fault'
        ? analysisWithoutInput(input === null ? 'result-gone' : 'fault')
        : await analysisByRules(claimed, input);
    const made: MadeAnalysis = {
      provider: 'rules',
      model: RULES_MODEL,
      durationMs: tookMs(startedMs),
      analysis,
    };
    await store.transaction(async (tx) => {
      const isMine = await completeAnalysis(tx, claimed, made);
      const isNext = claimed.origin === 'automatic' && claimed.askedProvider === 'rules';
      if (!isMine || !isNext || model === null || input === null || input === 'fault') return;
      await insertPending(tx, {
        accountId: claimed.accountId,
        analyses: [{ ...claimed, id: ids() }],
        origin: 'automatic',
        askedProvider: 'openai',
        createdAtMs: clock.wallMs(),
        maxPerDay: MAX_MODEL_PER_DAY,
      });
    });
  }

  async function inputOf(claimed: ClaimedAnalysis): Promise<AnalysisInput | null | 'fault'> {
    try {
      return await readAnalysisInput(store, claimed.accountId, claimed);
    } catch (error) {
      if (claimed.claim < MAX_CLAIMS) throw error;
      log.warn({ analysisId: claimed.id }, `no evidence could be read: ${messageOf(error)}`);
      return 'fault';
    }
  }

  async function analysisByRules({ id }: ClaimedAnalysis, input: AnalysisInput): Promise<Analysis> {
    try {
      const answer = await rulesProvider.analyse(input, NEVER);
      if (answer.ok) return answer.analysis;
    } catch (error) {
      log.error({ err: error, analysisId: id }, 'the rules failed: a fault of the service');
    }
    return analysisWithoutInput('fault');
  }

  /** Completes a requested analysis with the rules. Drops an automatic one: the group already has one by the rules. */
  async function fallBack(claimed: ClaimedAnalysis, startedMs: number): Promise<void> {
    if (claimed.origin === 'automatic') await dropPending(store, claimed);
    else await finishByRules(claimed, startedMs);
  }

  function logLimit(day: string): void {
    if (limitLoggedFor === day) return;
    limitLoggedFor = day;
    log.warn(
      `an account reached the daily model limit of ${dailyLimit} (RCA_DAILY_LIMIT); only rules are used until tomorrow (UTC)`,
    );
  }

  async function askModel(
    asked: RootCauseProvider,
    claimed: ClaimedAnalysis,
    signal: AbortSignal,
  ): Promise<void> {
    const startedMs = clock.monotonicMs();
    const { accountId, id: analysisId } = claimed;
    const input =
      claimed.claim > MAX_CLAIMS ? null : await readAnalysisInput(store, accountId, claimed);
    if (input === null) return fallBack(claimed, startedMs);
    const day = new Date(clock.wallMs()).toISOString().slice(0, 10);
    if (!(await useModelOnce(store, { accountId, day, limit: dailyLimit }))) {
      logLimit(day);
      return fallBack(claimed, startedMs);
    }
    const answer = await asked.analyse(input, signal);
    if (!answer.ok) {
      if (signal.aborted) return releasePending(store, claimed, 0);
      log.warn({ analysisId }, `kept the rules' analysis: ${answer.problem}`);
      return fallBack(claimed, startedMs);
    }
    await completeAnalysis(store, claimed, {
      provider: asked.name,
      model: answer.model,
      durationMs: tookMs(startedMs),
      analysis: answer.analysis,
    });
  }

  /** Releases a failed analysis for a later retry, and rethrows. */
  async function guarded(claimed: ClaimedAnalysis, work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      await releasePending(store, claimed, RETRY_MS * claimed.claim);
      throw error;
    }
  }

  return {
    async byRules(signal) {
      const claim = (askedProvider: 'rules' | 'openai', limit: number) =>
        claimPending(store, { askedProvider, leaseMs: RULES_LEASE_MS, limit });
      const claimed = [
        ...(await claim('rules', RULES_BATCH)),
        // Requested while the service had a model.
        ...(model === null ? await claim('openai', RULES_BATCH) : []),
      ];
      const faults: unknown[] = [];
      for (const one of claimed) {
        if (signal.aborted) {
          await releasePending(store, one, 0);
          continue;
        }
        const startedMs = clock.monotonicMs();
        const work =
          one.askedProvider === 'openai' ? fallBack(one, startedMs) : finishByRules(one, startedMs);
        // One failure does not stop the others.
        await guarded(one, work).catch((error: unknown) => faults.push(error));
      }
      if (faults.length > 0) throw faults[0];
      return claimed.length;
    },

    async byModel(signal) {
      if (model === null) return 0;
      const leaseMs = modelLimitMs + MODEL_LEASE_MS;
      const claimed = await claimPending(store, { askedProvider: 'openai', leaseMs, limit: 1 });
      for (const one of claimed) await guarded(one, askModel(model, one, signal));
      return claimed.length;
    },
  };
}

/** The analysis where no failed result is stored, or an internal error prevented one. */
function analysisWithoutInput(why: 'result-gone' | 'fault'): Analysis {
  const isGone = why === 'result-gone';
  return {
    classification: 'UNKNOWN',
    userImpact: 'Not known.',
    rootCause: isGone
      ? 'The failed result is not stored any more, so nothing can be concluded from it.'
      : 'The analysis could not be made, because of a fault of this service: see its log.',
    codeFix: isGone
      ? 'Ask for the analysis of a failure that is still stored, or keep results longer (RETENTION_DAYS).'
      : 'Look into the log of this service, and ask for the analysis again.',
    evidence: [],
    referenceLinks: [],
  };
}
