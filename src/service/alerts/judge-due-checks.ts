import type { Clock } from '../../runtime/clock.ts';
import { groupBy } from '../../runtime/group-by.ts';
import type { Logger } from '../../runtime/logger.ts';
import { runEvery } from '../../runtime/run-every.ts';
import type { Store } from '../database/store.ts';
import { storeErrorKind } from '../database/store-errors.ts';
import { applyJudgements, type JudgementEffects } from './apply-judgements.ts';
import { parentsOf } from './dependencies/parents.ts';
import { withFlapping } from './flapping.ts';
import { judgeTime } from './judge.ts';
import type { Silences } from './maintenance-silences.ts';
import { claimDueSubjects } from './states.sql.ts';

export interface DueChecksParts extends JudgementEffects {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly ids: () => string;
  readonly silences: Silences;
}

/** Bounds how long a transaction locks its checks. */
const CHECKS_PER_TRANSACTION = 100;
const JUDGE_EVERY_MS = 1000;
const MAX_BACK_OFF_MS = 30_000;

/**
 * Judges every check that is due. Replicas share the work: the one that claims a check locks it until its alerts are
 * stored.
 *
 * @returns how many it judged
 */
export async function judgeDueChecks(parts: DueChecksParts): Promise<number> {
  let judged = 0;
  for (;;) {
    const count = await judgeBatch(parts);
    judged += count;
    if (count < CHECKS_PER_TRANSACTION) return judged;
  }
}

function judgeBatch(effects: DueChecksParts): Promise<number> {
  const { store, clock, ids, silences } = effects;
  return store.transaction(async (tx) => {
    const atMs = clock.wallMs();
    const due = await claimDueSubjects(tx, { atMs, limit: CHECKS_PER_TRANSACTION });
    for (const [accountId, subjects] of groupBy(due, (subject) => subject.accountId)) {
      const isSilenced = await silences.from(tx, accountId, atMs);
      const parents = await parentsOf(tx, accountId, subjects);
      const parts = { atMs, isSilenced, parents, ids };
      const judgements = subjects.map((subject) => withFlapping(judgeTime(subject, parts), parts));
      await applyJudgements(tx, effects, { accountId, judgements, atMs });
    }
    return due.length;
  });
}

/** Logs the first of several failures, and backs off. */
export async function keepJudgingDueChecks(
  parts: DueChecksParts,
  signal: AbortSignal,
): Promise<void> {
  const { clock, log } = parts;
  const options = {
    everyMs: JUDGE_EVERY_MS,
    maxMs: MAX_BACK_OFF_MS,
    failure: 'due checks could not be judged',
    kindOf: storeErrorKind,
    log,
  };
  await runEvery(
    clock,
    options,
    async () => {
      await judgeDueChecks(parts);
    },
    signal,
  );
}
