import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Check } from '../../../model/check/check.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { ThrottledLog } from '../../../runtime/throttled-log.ts';
import type { CheckSet } from '../check-source.ts';
import { type Expanded, expandCheck } from './expand-check.ts';
import type { TargetFeed } from './target-feed.ts';

export interface TargetChecksParts {
  readonly feeds: readonly TargetFeed[];
  readonly maxChecks: number;
  readonly clock: Clock;
  readonly log: Logger;
}

interface Refused {
  readonly checkId: string;
  readonly one: Omit<Extract<Expanded, { ok: false }>, 'ok'>;
}

const TARGETS_PER_YIELD = 20;
/** Refused targets that are logged one by one. */
const MAX_LOGGED = 5;
const LOG_PERIOD_MS = 600_000;

interface Expansion {
  /** The check that TARGETS_FROM names. */
  readonly check: Check;
  readonly byTarget: ReadonlyMap<string, Expanded>;
}

/** Makes the checks for targets, and reuses those that did not change since the last time. */
export class TargetChecks {
  readonly #parts: TargetChecksParts;
  readonly #throttled: ThrottledLog;
  readonly #last = new Map<TargetFeed, Expansion>();

  constructor(parts: TargetChecksParts) {
    this.#parts = parts;
    this.#throttled = new ThrottledLog(parts.clock, parts.log, { periodMs: LOG_PERIOD_MS });
  }

  /** The checks of a set that TARGETS_FROM does not name. */
  others({ checks }: CheckSet): readonly Check[] {
    const modules = new Set(this.#parts.feeds.map(({ checkId }) => checkId));
    return checks.filter(({ id }) => !modules.has(id));
  }

  /** The checks for targets, made of the checks of a set that TARGETS_FROM names. */
  async expand(set: CheckSet): Promise<readonly Check[]> {
    const { feeds, maxChecks } = this.#parts;
    const byId = new Map(set.checks.map((check) => [check.id, check]));
    /** The target of each check by the check's id; null for a check without a target. */
    const known = new Map<string, string | null>(this.others(set).map(({ id }) => [id, null]));
    const found: Check[] = [];
    const refused: Refused[] = [];
    let taken = 0;
    let hasRest = false;
    for (const feed of feeds) {
      const { checkId, documents } = feed;
      const check = byId.get(checkId);
      if (check === undefined) {
        const what = 'TARGETS_FROM names a check that the file does not have';
        this.#throttled.warn(`no ${checkId}`, { checkId }, what);
        continue;
      }
      const last = this.#last.get(feed);
      const before = last?.check === check ? last.byTarget : new Map<string, Expanded>();
      const byTarget = new Map<string, Expanded>();
      this.#last.set(feed, { check, byTarget });
      for (const one of expandCheck(check, documents, before)) {
        hasRest = found.length >= maxChecks;
        if (hasRest) break;
        taken += 1;
        if (taken % TARGETS_PER_YIELD === 0) await yieldToEventLoop();
        byTarget.set(one.target, one);
        if (!one.ok) refused.push({ checkId, one });
        else if (!known.has(one.check.id)) {
          known.set(one.check.id, one.target);
          found.push(one.check);
        } else if (known.get(one.check.id) !== one.target) {
          const problem = `there is a check ${one.check.id} already`;
          refused.push({ checkId, one: { ...one, isSecret: false, problem } });
        }
      }
    }
    if (hasRest) this.#warnOfTheRest();
    this.#logRefused(refused);
    return found;
  }

  #warnOfTheRest(): void {
    const { feeds, maxChecks } = this.#parts;
    const groups = feeds.flatMap(({ documents }) => documents.flatMap((one) => one.groups));
    const targets = groups.reduce((sum, group) => sum + group.targets.length, 0);
    const what = `only the first ${maxChecks} targets make checks`;
    this.#throttled.warn('rest', { targets }, what);
  }

  #logRefused(refused: readonly Refused[]): void {
    for (const { checkId, one } of refused.slice(0, MAX_LOGGED)) {
      const { document, at, isSecret, target, problem } = one;
      const shown = { checkId, document, at, ...(isSecret ? {} : { target }) };
      this.#throttled.warn(`${document} ${at}`, shown, `a target makes no check: ${problem}`);
    }
    if (refused.length <= MAX_LOGGED) return;
    this.#throttled.warn('refused', { targets: refused.length }, 'targets make no checks');
  }
}
