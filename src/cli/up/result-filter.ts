import type { Check } from '../../model/check/check.ts';
import type { MissedReason, MissedSlots } from '../../model/result/missed-slots.ts';
import type { CheckResult } from '../../model/result/result.ts';
import { RUN_RESULTS, type RunResult, runResultOf } from '../../model/result/run-result.ts';
import { countText } from '../../runtime/text/count-text.ts';

/** With more checks than this, only changes are printed. */
export const MAX_PRINTED_CHECKS = 20;

export interface ResultFilterOptions {
  /** Whether every run is printed, regardless of the number of checks. */
  readonly all: boolean;
}

/**
 * Whether `up` prints only what changes: how a check ended otherwise than before. A first run is a change
 * unless it passed.
 */
export function printsChangesOnly(checks: readonly Check[], { all }: ResultFilterOptions): boolean {
  return !all && checks.filter(({ activated }) => activated).length > MAX_PRINTED_CHECKS;
}

/** Chooses what `up` prints of its checks. */
export class ResultFilter {
  readonly #options: ResultFilterOptions;
  readonly #ended = new Map<string, RunResult>();
  /** Why the last slots of a check were missed, until it runs again. */
  readonly #missing = new Map<string, MissedReason>();
  #checks: readonly Check[] = [];
  #ids: ReadonlySet<string> = new Set();
  #changesOnly: boolean = false;
  #hasRunAll = false;
  /** Slots before this were due before both processes were ready. Epoch milliseconds. */
  #sinceMs = Number.POSITIVE_INFINITY;

  constructor(options: ResultFilterOptions) {
    this.#options = options;
  }

  /** Sets the current checks of the file, and forgets what is known about others. */
  know(checks: readonly Check[]): void {
    this.#checks = checks;
    this.#ids = new Set(checks.map(({ id }) => id));
    this.#changesOnly = printsChangesOnly(checks, this.#options);
    for (const known of [this.#ended, this.#missing]) {
      for (const id of known.keys()) if (!this.#ids.has(id)) known.delete(id);
    }
  }

  /** Counts only slots that were due at `nowMs` or later. */
  begin(nowMs: number): void {
    this.#sinceMs = nowMs;
  }

  wants(result: CheckResult): boolean {
    if (result.resultType === 'ATTEMPT') return !this.#changesOnly;
    const { checkId } = result;
    const ended = runResultOf(result);
    const before = this.#ended.get(checkId) ?? 'passed';
    this.#ended.set(checkId, ended);
    this.#missing.delete(checkId);
    return !this.#changesOnly || ended !== before;
  }

  /**
   * False for slots of checks that are not in the file, and for slots from before both processes
   * were ready, with later ones of the same report: nobody expected runs then. The service has
   * both.
   */
  wantsMissed({ checkId, slot, reason }: MissedSlots): boolean {
    if (!this.#ids.has(checkId) || slot < this.#sinceMs) return false;
    const isNew = this.#missing.get(checkId) !== reason;
    this.#missing.set(checkId, reason);
    return !this.#changesOnly || isNew;
  }

  /** If only changes are printed: says once how all first runs ended, when each check has run. */
  takeFirstRound(): string | null {
    if (!this.#changesOnly || this.#hasRunAll) return null;
    const active = this.#checks.filter(({ activated }) => activated);
    const endings = active.map(({ id }) => this.#ended.get(id));
    if (endings.includes(undefined)) return null;
    this.#hasRunAll = true;
    const counts = RUN_RESULTS.flatMap((ending) => {
      const count = endings.filter((each) => each === ending).length;
      return count === 0 ? [] : [`${count} ${ending}`];
    });
    return `${countText(active.length, 'check has', 'checks have')} run once: ${counts.join(', ')}`;
  }
}
