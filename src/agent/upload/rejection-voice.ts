import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { Rejected } from './batch.ts';

const SAY_AGAIN_MS = 60_000;
/** A newer service may have more codes than this build knows, but not without end. */
const MAX_CODES = 32;

interface Heard {
  atMs: number;
  unsaid: number;
}

/** Tells of rejected records: for each code at once, then once a minute with the count of the rest. */
export class RejectionVoice {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #heard = new Map<string, Heard>();

  constructor(clock: Clock, log: Logger) {
    this.#clock = clock;
    this.#log = log;
  }

  rejected(rejections: readonly Rejected[]): void {
    for (const { record, code, message } of rejections) {
      const heard = this.#of(code);
      heard.unsaid += 1;
      const nowMs = this.#clock.monotonicMs();
      if (nowMs - heard.atMs < SAY_AGAIN_MS) continue;
      this.#log.warn(
        { code, count: heard.unsaid, kind: record.kind, id: record.id, problem: message },
        'the service refuses results for good: they are dropped, and counted by vedette_rejected_total',
      );
      heard.atMs = nowMs;
      heard.unsaid = 0;
    }
  }

  #of(code: string): Heard {
    const name = this.#heard.has(code) || this.#heard.size < MAX_CODES ? code : 'other';
    const heard = this.#heard.get(name) ?? { atMs: Number.NEGATIVE_INFINITY, unsaid: 0 };
    this.#heard.set(name, heard);
    return heard;
  }
}
