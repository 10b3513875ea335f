import type { Clock } from '../../../runtime/clock.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { ThrottledLog } from '../../../runtime/throttled-log.ts';
import type { StarvationMark } from '../../net/overtime.ts';
import type { CpuAccount } from './cpu-accounting.ts';
import type { StarvationMeter } from './starvation.ts';

/** What is left out under starvation, the most dispensable first. */
export const SHEDDABLE = ['evidence', 'detail', 'run'] as const;
export type Sheddable = (typeof SHEDDABLE)[number];

/** Each is left out when the agent was starved for this share of the last window. */
const SHARES: Readonly<Record<Sheddable, number>> = { evidence: 0.3, detail: 0.6, run: 0.9 };
const WINDOW_MS = 5_000;

/** A cause that explains this share of the starvation is reported as its cause. */
const TELLING_SHARE = 0.25;
/** Share of one CPU from which the agent's own work counts as the cause. */
const OWN_LOAD_SHARE = 0.8;

const CAUSES = {
  quota: ['its CPU limit (quota) pauses it', 'raise the CPU limit of the container'],
  steal: [
    'the hypervisor gives its CPU to other machines (steal)',
    'move the virtual machine, or give it CPUs of its own',
  ],
  'own load': [
    'its own work takes all of a CPU',
    'lower JOB_CONCURRENCY or the number of checks, or add an agent to the location',
  ],
  neighbours: [
    'other processes of this machine take the CPU',
    'move them, or give the agent more CPU shares (a CPU request)',
  ],
} as const;
export type StarvationCause = keyof typeof CAUSES;

/** Names what starved the agent between two accounts. */
export function causeOf(
  before: CpuAccount,
  after: CpuAccount,
  { starvedMs, elapsedMs }: { readonly starvedMs: number; readonly elapsedMs: number },
): StarvationCause {
  if (after.throttledMs - before.throttledMs >= TELLING_SHARE * starvedMs) return 'quota';
  if (after.stolenMs - before.stolenMs >= TELLING_SHARE * starvedMs) return 'steal';
  return after.ownMs - before.ownMs >= OWN_LOAD_SHARE * elapsedMs ? 'own load' : 'neighbours';
}

export interface CpuPressureOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly meter: Pick<StarvationMeter, 'mark' | 'sinceMs'>;
  readonly readAccount: () => CpuAccount;
}

interface Window {
  /** Monotonic. */
  readonly startMs: number;
  readonly mark: StarvationMark;
  readonly account: CpuAccount;
}

/**
 * Decides what to leave out while the agent is short of CPU, by the share of the last five seconds
 * in which it was starved, and logs the cause and the cure at most once a minute.
 */
export class CpuPressure {
  readonly #options: CpuPressureOptions;
  readonly #throttled: ThrottledLog;
  /** By check, whether its last slot was left out. Bounded by the checks. */
  readonly #shedLast = new Map<string, boolean>();
  #window: Window;
  #share = 0;
  #cause: StarvationCause = 'neighbours';

  constructor(options: CpuPressureOptions) {
    this.#options = options;
    this.#throttled = new ThrottledLog(options.clock, options.log);
    this.#window = this.#openWindow();
  }

  sheds(what: 'evidence' | 'detail'): boolean {
    this.#update();
    return this.#isDue(what);
  }

  /** Whether a check's slot is left out: every second slot of a check, half of the checks at a time. */
  shedsRunOf(checkId: string): boolean {
    this.#update();
    if (!this.#isDue('run')) {
      this.#shedLast.clear();
      return false;
    }
    const isShed = !(this.#shedLast.get(checkId) ?? this.#shedLast.size % 2 === 1);
    this.#shedLast.set(checkId, isShed);
    return isShed;
  }

  /** An attempt had no verdict. */
  starved(): void {
    this.#update();
    const [why, cure] = CAUSES[this.#cause];
    const left = SHEDDABLE.filter((what) => this.#isDue(what)).join(', ');
    const sharePercent = Math.round(this.#share * 100);
    this.#throttled.warn(
      'starved',
      { cause: this.#cause, sharePercent, leftOut: left === '' ? 'nothing' : left },
      `the agent is short of CPU, so it makes attempts again and misses slots: ${why}; ${cure}`,
    );
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

  #openWindow(): Window {
    const { clock, meter, readAccount } = this.#options;
    return { startMs: clock.monotonicMs(), mark: meter.mark(), account: readAccount() };
  }
}
