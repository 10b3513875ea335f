import type { Hold } from '../../../model/alerting/alert-state-machine.ts';
import { dependencyLevels } from '../../../model/check/dependencies.ts';
import { MINUTE_MS } from '../../../model/time-units.ts';
import type { Sql } from '../../database/store.ts';
import type { Silence } from '../maintenance-silences.ts';
import type { AlertRecord, AlertSubject } from '../states.sql.ts';
import { findParents, type StoredParent } from './parents.sql.ts';

/**
 * Where a check that others depend on has passed again, but they have not run since: so long after that slot
 * their alerts wait for a run that shows whether they still fail.
 */
const RUN_AFTER_PARENT_MS = 5 * MINUTE_MS;

type Child = Pick<AlertSubject, 'dependsOn'>;

/** The checks that others of one account depend on, as they are known in a transaction. */
export class Parents {
  readonly #byId: Map<string, StoredParent>;

  constructor(stored: readonly StoredParent[]) {
    this.#byId = new Map(stored.map((parent) => [parent.checkId, parent]));
  }

  /** Takes over a judgement that is not stored yet. */
  judged({ checkId }: Pick<AlertSubject, 'checkId'>, { state }: AlertRecord): void {
    const parent = this.#byId.get(checkId);
    if (parent === undefined) return;
    const { condition, startedSilenced, sinceMs } = state;
    this.#byId.set(checkId, { ...parent, condition, startedSilenced, sinceMs });
  }

  /** Whether a notice about a run in the slot waits. */
  holdAtSlot({ dependsOn }: Child, slotMs: number, isSilenced: Silence, atMs: number): Hold {
    return this.#hold(dependsOn, (parent) => {
      return fails(parent, isSilenced, atMs) || slotMs < passesSinceMs(parent);
    });
  }

  /**
   * Whether a notice waits at this time.
   *
   * @param sinceMs the slot in which the problem began
   */
  holdAtTime({ dependsOn }: Child, sinceMs: number, isSilenced: Silence, atMs: number): Hold {
    return this.#hold(dependsOn, (parent) => {
      const passesMs = passesSinceMs(parent);
      const isRecent = sinceMs < passesMs && atMs < passesMs + RUN_AFTER_PARENT_MS;
      return fails(parent, isSilenced, atMs) || isRecent;
    });
  }

  /** The ids of those that fail, and make alerts wait. */
  failingOf({ dependsOn }: Child, isSilenced: Silence, atMs: number): readonly string[] {
    return this.#holding(dependsOn)
      .filter((parent) => fails(parent, isSilenced, atMs))
      .map(({ checkId }) => checkId);
  }

  #hold(ids: readonly string[], holds: (parent: StoredParent) => boolean): Hold {
    const parents = this.#holding(ids);
    if (parents.length === 0) return 'none';
    return parents.some(holds) ? 'held' : 'briefly';
  }

  /** A check that was deleted since, or is deactivated or muted, holds nothing. */
  #holding(ids: readonly string[]): readonly StoredParent[] {
    return ids
      .flatMap((id) => this.#byId.get(id) ?? [])
      .filter(({ isActive, isMuted }) => isActive && !isMuted);
  }
}

/** A failure that nobody is told of holds only while the maintenance window lasts in which it began. */
function fails(
  { condition, startedSilenced, tags }: StoredParent,
  isSilenced: Silence,
  atMs: number,
): boolean {
  return condition === 'failing' && (!startedSilenced || isSilenced(tags, atMs));
}

/** The slot since which it does not fail; 0 if it never did. */
function passesSinceMs({ condition, sinceMs }: StoredParent): number {
  return condition === 'failing' ? 0 : sinceMs;
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
