import type { AlertContext } from '../../../model/alerting/alert-state-machine.ts';
import { freshFor, isTooLate } from '../../../model/alerting/late-verdicts.ts';
import { dependencyLevels } from '../../../model/check/dependencies.ts';
import { slotRuleOf } from '../../../model/schedule/slot-rule.ts';
import { MINUTE_MS } from '../../../model/time-units.ts';
import type { Sql } from '../../database/store.ts';
import type { AlertRecord, AlertSubject } from '../states.sql.ts';
import { findParents, type StoredParent } from './parents.sql.ts';

/**
 * Where a check that others depend on has passed again, but they have not run since: so long after that slot
 * their alerts wait for a run that shows whether they still fail.
 */
const RUN_AFTER_PARENT_MS = 5 * MINUTE_MS;

type Child = Pick<AlertSubject, 'dependsOn'>;
type HoldInForce = Required<Pick<AlertContext, 'hold' | 'holdUntilMs'>>;

/** The checks that others of one account depend on, as they are known in a transaction. */
export class Parents {
  readonly #byId: Map<string, StoredParent>;

  constructor(stored: readonly StoredParent[]) {
    this.#byId = new Map(stored.map((parent) => [parent.checkId, parent]));
  }

  /** Takes over a judgement that is not stored yet. */
  judged({ checkId }: Pick<AlertSubject, 'checkId'>, { state }: AlertRecord): void {
    const parent = this.#byId.get(checkId);
    if (parent !== undefined) this.#byId.set(checkId, { ...parent, state });
  }

  /** Whether a notice about a run in the slot waits. */
  holdAtSlot(child: Child, slotMs: number): HoldInForce {
    return this.#hold(child, (parent) => {
      if (failsWhen(slotMs, parent)) return UNTIL_IT_ENDS;
      return slotMs < failureEndedMs(parent) ? failureEndedMs(parent) + RUN_AFTER_PARENT_MS : null;
    });
  }

  /**
   * Whether a notice waits at this time.
   *
   * @param sinceMs the slot in which the problem began
   */
  holdAtTime(child: Child, sinceMs: number, atMs: number): HoldInForce {
    return this.#hold(child, (parent) => {
      if (failsWhen(atMs, parent)) return UNTIL_IT_ENDS;
      const untilMs = failureEndedMs(parent) + RUN_AFTER_PARENT_MS;
      return sinceMs < failureEndedMs(parent) && atMs < untilMs ? untilMs : null;
    });
  }

  /** Those that fail, and make alerts wait. */
  failingOf(child: Child, atMs: number): readonly Pick<StoredParent, 'checkId' | 'name'>[] {
    return this.#holding(child).filter((parent) => failsWhen(atMs, parent));
  }

  /** @param untilMs of a check that makes notices wait, epoch milliseconds; null for one that does not */
  #hold(child: Child, untilMs: (parent: StoredParent) => number | null): HoldInForce {
    const parents = this.#holding(child);
    if (parents.length === 0) return { hold: 'none', holdUntilMs: null };
    const ends = parents.flatMap((parent) => untilMs(parent) ?? []);
    if (ends.length === 0) return { hold: 'briefly', holdUntilMs: null };
    const lastMs = Math.max(...ends);
    return { hold: 'held', holdUntilMs: lastMs === UNTIL_IT_ENDS ? null : lastMs };
  }

  /** A check that was deleted since, is deactivated or muted, or that nothing runs, holds nothing. */
  #holding({ dependsOn }: Child): readonly StoredParent[] {
    return dependsOn
      .flatMap((id) => this.#byId.get(id) ?? [])
      .filter(({ isActive, isMuted, isAssigned }) => isActive && !isMuted && isAssigned);
  }
}

/** Nobody knows when a failure ends. */
const UNTIL_IT_ENDS = Number.POSITIVE_INFINITY;

/**
 * Whether the check fails at an instant, and makes notices wait: it still reports, and somebody was notified of the
 * failure, or will be, once what it depends on itself passes or its maintenance window ends.
 */
function failsWhen(
  instantMs: number,
  { checkId, frequency, frequencyOffset, state }: StoredParent,
): boolean {
  if (state?.condition !== 'failing') return false;
  const { verdicts, startedSilenced, notified, heldAtMs } = state;
  const lastMs = Math.max(...verdicts.map(({ slotMs }) => slotMs));
  const freshMs = freshFor(slotRuleOf(checkId, frequency, frequencyOffset).periodMs);
  if (isTooLate(lastMs, instantMs, freshMs)) return false;
  return notified !== null || heldAtMs !== undefined || startedSilenced;
}

/** The slot since which it does not fail; epoch milliseconds. 0 if it never did, or does. */
function failureEndedMs({ state }: StoredParent): number {
  return state === null || state.condition === 'failing' ? 0 : (state.failureEndedMs ?? 0);
}

/** Takes a statement only where a check depends on another. */
export async function parentsOf(
  tx: Sql,
  accountId: string,
  subjects: readonly AlertSubject[],
): Promise<Parents> {
  const ids = [...new Set(subjects.flatMap(({ dependsOn }) => dependsOn))];
  return new Parents(await findParents(tx, { accountId, ids }));
}

/** The same checks, each after those that it depends on. */
export function parentsFirst(subjects: readonly AlertSubject[]): readonly AlertSubject[] {
  if (subjects.every(({ dependsOn }) => dependsOn.length === 0)) return subjects;
  const { levels, inCycles } = dependencyLevels(
    subjects.map((subject) => ({ id: subject.checkId, dependsOn: subject.dependsOn, subject })),
  );
  // The service accepts no cycles.
  return [...levels.flat(), ...inCycles].map(({ subject }) => subject);
}
