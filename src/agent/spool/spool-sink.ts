import { sequenceIdOf } from '../../model/ids.ts';
import type { MissedSlots } from '../../model/result/missed-slots.ts';
import type { CheckResult } from '../../model/result/result.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import { isInTime } from '../../runtime/wait.ts';
import { missedRecordOf } from '../../wire/v1/results.ts';
import type { ResultSink } from '../output/result-sink.ts';
import { type TrimmedResult, trimForWire } from '../output/trim-for-wire.ts';
import type { Spool, SpoolKind, SpoolSlots } from './spool.ts';

export interface SpoolSinkOptions {
  readonly spool: Spool;
  /** Gets all results and missed slots too (stdout); null: no other sink. */
  readonly alsoTo: ResultSink | null;
  readonly clock: Clock;
  readonly log: Logger;
  /** The location that missed slots are recorded for. */
  readonly location: () => string;
}

/**
 * Puts results into the spool, each as the JSON that goes to the service. The same attempt of the
 * same run always has the same id, and so have the same missed slots: duplicates are ignored.
 */
export class SpoolSink implements ResultSink {
  readonly #options: SpoolSinkOptions;

  constructor(options: SpoolSinkOptions) {
    this.#options = options;
  }

  result(result: CheckResult): void {
    this.#putResult(result);
    this.#options.alsoTo?.result(result);
  }

  missed(missed: MissedSlots): void {
    const record = missedRecordOf(missed, this.#options.location());
    const { checkId, slot, lastSlot, count } = missed;
    const slots = { checkId, slot, lastSlot, count };
    this.#put('missed', record.id, Buffer.from(JSON.stringify(record)), slots);
    this.#options.alsoTo?.missed(missed);
  }

  /** Neither sink's flush waits for the other's. */
  async flush(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#flushSpool(signal), this.#options.alsoTo?.flush(signal)]);
  }

  #putResult(result: CheckResult): void {
    const { log } = this.#options;
    let fitted: TrimmedResult;
    try {
      fitted = trimForWire(result);
    } catch (error) {
      log.error({ err: error, kind: 'internal' }, 'a result cannot be written');
      return;
    }
    const { checkId, id, resultType } = result;
    if (!fitted.isValid) {
      log.error(
        { checkId, id, kind: 'internal' },
        'a result does not match the wire schema; please report it',
      );
    }
    if (resultType === 'ATTEMPT') this.#put('attempt', id, fitted.body);
    else this.#put('result', id, fitted.body, slotsOf(result));
  }

  /** Resolves when all is on disk: the next start sends it. */
  async #flushSpool(signal: AbortSignal): Promise<void> {
    const { spool, log } = this.#options;
    const isOnDisk = await isInTime(spool.committed(), signal);
    const { records } = spool.depth;
    if (records === 0 || (isOnDisk && spool.state !== 'memory')) return;
    log.warn({ records }, 'some pending results are not on disk');
  }

  #put(kind: SpoolKind, id: string, body: Buffer, slots?: SpoolSlots): void {
    const { spool, clock } = this.#options;
    spool.put({ kind, id, atMs: clock.wallMs(), body, slots });
  }
}

/** Undefined for runs on request and retries of another location: they have no slot here. */
function slotsOf({ checkId, checkRunId, runLocation, sequenceId }: CheckResult) {
  if (sequenceIdOf(checkId, runLocation, checkRunId) !== sequenceId) return undefined;
  return { checkId, slot: checkRunId, lastSlot: checkRunId, count: 1 };
}
