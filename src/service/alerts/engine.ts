import { MAX_THRESHOLD_DAYS } from '../../model/alerting/certificate-expiry.ts';
import type { Clock } from '../../runtime/clock.ts';
import { groupBy } from '../../runtime/group-by.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { Sql, Store } from '../database/store.ts';
import type { IncidentTrigger } from '../incidents/incident-trigger.ts';
import type { FinalsHandler } from '../results/finals-handler.ts';
import { applyJudgements } from './apply-judgements.ts';
import { parentsFirst, parentsOf } from './dependencies/parents.ts';
import { earlierVerdicts } from './earlier-verdicts.ts';
import { withFlapping } from './flapping.ts';
import { judgeRuns } from './judge.ts';
import { judgeDueChecks, keepJudgingDueChecks } from './judge-due-checks.ts';
import type { Silences } from './maintenance-silences.ts';
import type { Outbox } from './notice.ts';
import { type AlertObservation, observationOf } from './observation.ts';
import { findAlertSubjects } from './states.sql.ts';

export type { AlertObservation } from './observation.ts';

export interface AlertEngineParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** Makes a UUID. */
  readonly ids: () => string;
  readonly notices: Outbox;
  readonly incidents: IncidentTrigger;
  readonly silences: Silences;
}

/**
 * Judges checks and creates alerts (src/service/README.md, "Alerts"). The alert state of a check is a row that changes
 * only under the lock of the check, in the transaction that stores its results. Therefore all replicas share one state,
 * also after a restart, and no alert is created twice.
 */
export interface AlertEngine {
  /**
   * Judges runs, or states of heartbeats, in the order of their slots. Their checks are locked by
   * the caller (`lockSubjects`).
   *
   * @param atMs now; epoch milliseconds
   */
  observe(
    tx: Sql,
    accountId: string,
    observations: readonly AlertObservation[],
    atMs: number,
  ): Promise<void>;
  /** Judges results that are stored already. Runs one query if all checks pass. */
  readonly follow: FinalsHandler;
  /**
   * Judges the checks whose threshold in minutes or whose reminder is due.
   *
   * @returns how many checks it judged
   */
  sweep(): Promise<number>;
  /** Judges due checks about every second until the signal aborts. Logs failures. */
  maintain(signal: AbortSignal): Promise<void>;
}

export function createAlertEngine(parts: AlertEngineParts): AlertEngine {
  const { ids, silences } = parts;

  async function observe(
    tx: Sql,
    accountId: string,
    observations: readonly AlertObservation[],
    atMs: number,
  ): Promise<void> {
    if (observations.length === 0) return;
    const runsOf = groupBy(observations, ({ checkId }) => checkId);
    const subjects = await findAlertSubjects(tx, {
      accountId,
      checkIds: [...runsOf.keys()],
      named: [...runsOf.keys()].filter((id) =>
        runsOf.get(id)?.some(({ condition }) => condition !== 'passing'),
      ),
      certificates: observations.flatMap(certificateIn),
    });
    if (subjects.length === 0) return;
    const earlier = await earlierVerdicts(tx, { accountId, subjects, runsOf });
    const firstMs = Math.min(...observations.map(({ slotMs }) => slotMs));
    const isSilenced = await silences.from(tx, accountId, firstMs);
    const parents = await parentsOf(tx, accountId, subjects);
    const judgements = parentsFirst(subjects).map((subject) => {
      const { checkId } = subject;
      const runs = runsOf.get(checkId) ?? [];
      const circumstances = { atMs, isSilenced, parents, ids };
      const runsJudged = judgeRuns(subject, runs, earlier.get(checkId) ?? [], circumstances);
      const judgement = withFlapping(runsJudged, circumstances);
      parents.judged(subject, judgement.record);
      return judgement;
    });
    await applyJudgements(tx, parts, { accountId, judgements, atMs });
  }

  return {
    observe,

    async follow(tx, { accountId, current, atMs }) {
      const observations = [...current].flatMap((final) => observationOf(final) ?? []);
      await observe(tx, accountId, observations, atMs);
    },

    sweep() {
      return judgeDueChecks(parts);
    },

    maintain(signal) {
      return keepJudgingDueChecks(parts, signal);
    },
  };
}

/** The certificate of an observation, if it expires within the longest threshold that a channel can have. */
function certificateIn({ checkId, slotMs, sslDaysRemaining }: AlertObservation) {
  if (sslDaysRemaining === null) return [];
  if (sslDaysRemaining < 0 || sslDaysRemaining > MAX_THRESHOLD_DAYS) return [];
  return [{ checkId, slotMs, daysRemaining: sslDaysRemaining }];
}
