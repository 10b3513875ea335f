import type { AlertContext } from '../../../model/alerting/alert-state-machine.ts';
import { freshFor, isTooLate } from '../../../model/alerting/verdict-freshness.ts';
import { dependencyLevels } from '../../../model/check/dependencies.ts';
import { slotRuleOf } from '../../../model/schedule/slot-rule.ts';
import { MINUTE_MS } from '../../../model/time-units.ts';
import type { Sql } from '../../database/store.ts';
import type { AlertRecord, AlertSubject } from '../states.sql.ts';
import { findParents, type StoredParent } from './parents.sql.ts';

/**
 * When a check that others depend on passes again, their alerts wait this long after its slot for a run that shows
 * whether they still fail.
 */
const RUN_AFTER_PARENT_MS = 5 * MINUTE_MS;

type Child = Pick<AlertSubject, 'dependsOn'>;
type HoldInForce = Required<Pick<AlertContext, 'hold' | 'holdUntilMs'>>;

/** The checks of one account that others depend on, as read and judged in a transaction. */
export class Parents {
  readonly #byId: Map<string, StoredParent>;

  constructor(stored: readonly StoredParent[]) {
    this.#byId = new Map(stored.map((parent) => [parent.checkId, parent]));
  }

  /** Records a judgement that is not stored yet. */
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

  /** The failing checks that delay alerts of the child. */
  failingOf(child: Child, atMs: number): readonly Pick<StoredParent, 'checkId' | 'name'>[] {
    return this.#holding(child).filter((parent) => failsWhen(atMs, parent));
  }

  /** @param untilMs until when a check delays notices, epoch milliseconds; null if it does not */
  #hold(child: Child, untilMs: (parent: StoredParent) => number | null): HoldInForce {
    const parents = this.#holding(child);
    if (parents.length === 0) return { hold: 'none', holdUntilMs: null };
    const ends = parents.flatMap((parent) => untilMs(parent) ?? []);
    if (ends.length === 0) return { hold: 'briefly', holdUntilMs: null };
    const lastMs = Math.max(...ends);
    return { hold: 'held', holdUntilMs: lastMs === UNTIL_IT_ENDS ? null : lastMs };
  }

  /** Without checks that are deleted, deactivated or muted, or that no location runs: they delay no notices. */
  #holding({ dependsOn }: Child): readonly StoredParent[] {
    return dependsOn
      .flatMap((id) => this.#byId.get(id) ?? [])
      .filter(({ isActive, isMuted, isAssigned }) => isActive && !isMuted && isAssigned);
  }
}

/** It is unknown when a failure ends. */
const UNTIL_IT_ENDS = Number.POSITIVE_INFINITY;

/**
 * Whether the check fails at an instant and delays notices: it still reports results, and its failure was sent, or will
 * be sent once the checks that it depends on pass or its maintenance window ends.
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

/** The slot that ended its last failure; epoch milliseconds. 0 if it never failed, or fails now. */
function failureEndedMs({ state }: StoredParent): number {
  return state === null || state.condition === 'failing' ? 0 : (state.failureEndedMs ?? 0);
}

/** Runs a query only if a check depends on another. */
export async function parentsOf(
  tx: Sql,
  accountId: string,
  subjects: readonly AlertSubject[],
): Promise<Parents> {
  const ids = [...new Set(subjects.flatMap(({ dependsOn }) => dependsOn))];
  return new Parents(await findParents(tx, { accountId, ids }));
}

/** The checks in an order in which each comes after those that it depends on. */
export function parentsFirst(subjects: readonly AlertSubject[]): readonly AlertSubject[] {
  if (subjects.every(({ dependsOn }) => dependsOn.length === 0)) return subjects;
  const { levels, inCycles } = dependencyLevels(
    subjects.map((subject) => ({ id: subject.checkId, dependsOn: subject.dependsOn, subject })),
  );
  // The service accepts no cycles.
  return [...levels.flat(), ...inCycles].map(({ subject }) => subject);
}
