import type { Analysis } from '../../model/result/root-cause-analysis.ts';
import type { Clock } from '../../runtime/clock.ts';
import { messageOf } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { Store } from '../database/port.ts';
import type { AnalysisInput } from './analysis-input.ts';
import {
  claimPending,
  completeAnalysis,
  dropPending,
  releasePending,
  useModelOnce,
} from './claims.sql.ts';
import { analysisWithoutInput } from './last-resort.ts';
import type { RootCauseProvider } from './provider.ts';
import { readAnalysisInput } from './read-analysis-input.ts';
import { RULES_MODEL, rulesProvider } from './rules/rules-provider.ts';
import { type ClaimedAnalysis, insertPending, type MadeAnalysis } from './sql.ts';

export interface MakerParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** Makes a UUID. */
  readonly ids: () => string;
  /** Who is asked beside the rules; null for nobody. */
  readonly model: RootCauseProvider | null;
  /** How long one call of it may take, retries included. */
  readonly modelLimitMs: number;
  /** Of the model, for each account and day (UTC). */
  readonly dailyLimit: number;
}

/** Makes the analyses that are pending. Any number of these may work at once, here and elsewhere. */
export interface AnalysisMaker {
  /** A few by the rules. @returns how many */
  byRules(signal: AbortSignal): Promise<number>;
  /** One by the model. @returns how many */
  byModel(signal: AbortSignal): Promise<number>;
}

const RULES_AT_ONCE = 25;
/** The rules wait for nothing. */
const NEVER = new AbortController().signal;
const RULES_LEASE_MS = 60_000;
/** Beside the time that the model may take: for the database. */
const MODEL_LEASE_MS = 60_000;
/** Whoever had it so often was ended by something each time: then it is made in the simplest way. */
const MAX_CLAIMS = 3;
const TRY_AGAIN_MS = 15_000;
/** Of the automatic ones of a check by the model; the rules have a bound of their own. */
const MAX_MODEL_A_DAY = 50;

export function createAnalysisMaker(parts: MakerParts): AnalysisMaker {
  const { store, clock, log, ids, model, modelLimitMs, dailyLimit } = parts;
  let limitToldOf: string | null = null;

  const tookMs = (startedMs: number): number =>
    Math.round((clock.monotonicMs() - startedMs) * 1000) / 1000;

  /** Completes it by the rules; without a case, in the simplest way. */
  async function finishByRules(claimed: ClaimedAnalysis, startedMs: number): Promise<void> {
    const file = await caseOf(claimed);
    const analysis =
      file === null || file === 'fault'
        ? analysisWithoutInput(file === null ? 'result-gone' : 'fault')
        : await ruled(claimed, file);
    const made: MadeAnalysis = {
      provider: 'rules',
      model: RULES_MODEL,
      durationMs: tookMs(startedMs),
      analysis,
    };
    await store.transaction(async (tx) => {
      const isMine = await completeAnalysis(tx, claimed, made);
      const isNext = claimed.origin === 'automatic' && claimed.askedProvider === 'rules';
      if (!isMine || !isNext || model === null || file === null || file === 'fault') return;
      await insertPending(tx, {
        accountId: claimed.accountId,
        analyses: [{ ...claimed, id: ids() }],
        origin: 'automatic',
        askedProvider: 'openai',
        createdAtMs: clock.wallMs(),
        maxADay: MAX_MODEL_A_DAY,
      });
    });
  }

  async function caseOf(claimed: ClaimedAnalysis): Promise<AnalysisInput | null | 'fault'> {
    try {
      return await readAnalysisInput(store, claimed.accountId, claimed);
    } catch (error) {
      if (claimed.claim < MAX_CLAIMS) throw error;
      log.warn({ analysisId: claimed.id }, `no evidence could be read: ${messageOf(error)}`);
      return 'fault';
    }
  }

  async function ruled({ id }: ClaimedAnalysis, file: AnalysisInput): Promise<Analysis> {
    try {
      const answer = await rulesProvider.analyse(file, NEVER);
      if (answer.ok) return answer.analysis;
    } catch (error) {
      log.error({ err: error, analysisId: id }, 'the rules failed: a fault of the service');
    }
    return analysisWithoutInput('fault');
  }

  /** The rules' analysis of a group stands already, where nobody asked for this one. */
  async function fallBack(claimed: ClaimedAnalysis, startedMs: number): Promise<void> {
    if (claimed.origin === 'automatic') await dropPending(store, claimed);
    else await finishByRules(claimed, startedMs);
  }

  function tellLimit(day: string): void {
    if (limitToldOf === day) return;
    limitToldOf = day;
    log.warn(
      `an account had its ${dailyLimit} analyses of the model today (RCA_DAILY_LIMIT): until tomorrow (UTC) the rules alone make them`,
    );
  }

  async function askModel(
    asked: RootCauseProvider,
    claimed: ClaimedAnalysis,
    signal: AbortSignal,
  ): Promise<void> {
    const startedMs = clock.monotonicMs();
    const { accountId, id: analysisId } = claimed;
    const file =
      claimed.claim > MAX_CLAIMS ? null : await readAnalysisInput(store, accountId, claimed);
    if (file === null) return fallBack(claimed, startedMs);
    const day = new Date(clock.wallMs()).toISOString().slice(0, 10);
    if (!(await useModelOnce(store, { accountId, day, limit: dailyLimit }))) {
      tellLimit(day);
      return fallBack(claimed, startedMs);
    }
    const answer = await asked.analyse(file, signal);
    if (!answer.ok) {
      if (signal.aborted) return releasePending(store, claimed, 0);
      log.warn({ analysisId }, `the rules' analysis stands: ${answer.problem}`);
      return fallBack(claimed, startedMs);
    }
    await completeAnalysis(store, claimed, {
      provider: asked.name,
      model: answer.model,
      durationMs: tookMs(startedMs),
      analysis: answer.analysis,
    });
  }

  /** What fails is somebody's again after a while, and the caller's to tell. */
  async function guarded(claimed: ClaimedAnalysis, work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      await releasePending(store, claimed, TRY_AGAIN_MS * claimed.claim);
      throw error;
    }
  }

  return {
    async byRules(signal) {
      const claim = (askedProvider: 'rules' | 'openai', limit: number) =>
        claimPending(store, { askedProvider, leaseMs: RULES_LEASE_MS, limit });
      const claimed = [
        ...(await claim('rules', RULES_AT_ONCE)),
        // Left behind by a service that had a model.
        ...(model === null ? await claim('openai', RULES_AT_ONCE) : []),
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
        // One that cannot be made keeps no other from being made.
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
