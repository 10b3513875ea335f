import type { Clock } from '../../../runtime/clock.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { LruCache } from '../../../runtime/lru-cache.ts';
import { ThrottledLog } from '../../../runtime/throttled-log.ts';
import type { StarvationMark } from '../../net/starvation-watch.ts';
import type { CpuAccount } from './cpu-accounting.ts';
import { CAUSES, causeOf, type StarvationCause } from './starvation-cause.ts';
import type { StarvationMeter } from './starvation-meter.ts';

/** What the agent skips under starvation, the least important first. */
export const SHEDDABLE = ['evidence', 'detail', 'run'] as const;
export type Sheddable = (typeof SHEDDABLE)[number];

/** Each is skipped if the agent was starved for this share of the last window. */
const SHARES: Readonly<Record<Sheddable, number>> = { evidence: 0.3, detail: 0.6, run: 0.9 };
const WINDOW_MS = 5_000;
/** Bounds the memory of checks that were removed in the meantime. */
const MAX_WITHOUT_VERDICT = 100_000;

export interface LoadSheddingOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly meter: Pick<StarvationMeter, 'mark' | 'sinceMs'>;
  readonly readAccount: () => CpuAccount;
}

/** The last slot of a check. `repeated`: it ran because the run before it had no verdict. */
type LastSlot = 'skipped' | 'run' | 'repeated';

interface Window {
  /** Monotonic. */
  readonly startMs: number;
  readonly mark: StarvationMark;
  readonly account: CpuAccount;
}

/**
 * Decides what to skip while the agent is short of CPU, by the share of the last five seconds in
 * which it was starved. Logs the cause and the remedy at most once per minute.
 */
export class LoadShedding {
  readonly #options: LoadSheddingOptions;
  readonly #throttled: ThrottledLog;
  /** By check, while runs are skipped. At most one entry per check. */
  readonly #lastSlots = new Map<string, LastSlot>();
  /** The checks whose last run ended without a verdict. */
  readonly #withoutVerdict = new LruCache<true>(MAX_WITHOUT_VERDICT);
  #window: Window;
  #share = 0;
  /** The cause of starvation in the last window that had any; null before the first one. */
  #cause: StarvationCause | null = null;

  constructor(options: LoadSheddingOptions) {
    this.#options = options;
    this.#throttled = new ThrottledLog(options.clock, options.log);
    this.#window = this.#openWindow();
  }

  sheds(what: 'evidence' | 'detail'): boolean {
    this.#update();
    return this.#isDue(what);
  }

  /**
   * Whether a slot is skipped: every second slot of a check, for half of the checks at a time. The
   * slot after a run without a verdict is not skipped, once in a row: otherwise a failing target
   * would have one chance in two periods to be seen.
   */
  shedsRunOf(checkId: string): boolean {
    this.#update();
    const hadNoVerdict = this.#withoutVerdict.get(checkId) ?? false;
    this.#withoutVerdict.delete(checkId);
    if (!this.#isDue('run')) {
      this.#lastSlots.clear();
      return false;
    }
    const next = this.#nextSlot(this.#lastSlots.get(checkId) ?? null, hadNoVerdict);
    this.#lastSlots.set(checkId, next);
    return next === 'skipped';
  }

  /** Called when the run of a slot ended without a verdict because the agent was short of CPU. */
  hadNoVerdict(checkId: string): void {
    this.#withoutVerdict.set(checkId, true);
  }

  /** Called when an attempt had no certain verdict. */
  starved(): void {
    this.#update();
    const cause = this.#cause ?? this.#causeSoFar();
    const [why, remedy] = CAUSES[cause];
    const left = SHEDDABLE.filter((what) => this.#isDue(what)).join(', ');
    const sharePercent = Math.round(this.#share * 100);
    this.#throttled.warn(
      'starved',
      { cause, sharePercent, leftOut: left === '' ? 'nothing' : left },
      `the agent is short of CPU, so it repeats attempts and misses slots: ${why}; ${remedy}`,
    );
  }

  #nextSlot(last: LastSlot | null, hadNoVerdict: boolean): LastSlot {
    if (last === 'skipped') return 'run';
    if (hadNoVerdict && last !== 'repeated') return 'repeated';
    // A new check joins the half that is smaller by now.
    if (last === null && this.#lastSlots.size % 2 === 1) return 'run';
    return 'skipped';
  }

  #isDue(what: Sheddable): boolean {
    return this.#share >= SHARES[what];
  }

  #update(): void {
    const { clock, meter, readAccount } = this.#options;
    const { startMs, mark, account } = this.#window;
    const elapsedMs = clock.monotonicMs() - startMs;
    if (elapsedMs < WINDOW_MS) return;
    const starvedMs = meter.sinceMs(mark);
    this.#share = Math.min(1, starvedMs / elapsedMs);
    if (starvedMs > 0) this.#cause = causeOf(account, readAccount(), { starvedMs, elapsedMs });
    this.#window = this.#openWindow();
  }

  /** The cause in the current window. Without starvation it is the agent's own work. */
  #causeSoFar(): StarvationCause {
    const { clock, meter, readAccount } = this.#options;
    const { startMs, mark, account } = this.#window;
    const starvedMs = meter.sinceMs(mark);
    if (starvedMs <= 0) return 'own load';
    return causeOf(account, readAccount(), { starvedMs, elapsedMs: clock.monotonicMs() - startMs });
  }

  #openWindow(): Window {
    const { clock, meter, readAccount } = this.#options;
    return { startMs: clock.monotonicMs(), mark: meter.mark(), account: readAccount() };
  }
}
