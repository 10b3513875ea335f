import type { Writable } from 'node:stream';
import type { MissedSlots } from '../../model/result/missed-slots.ts';
import type { CheckResult } from '../../model/result/result.ts';
import { messageOf } from '../../runtime/errors.ts';
import { Queue } from '../../runtime/fifo-queue.ts';
import type { Logger } from '../../runtime/logger.ts';
import { countText } from '../../runtime/text/count-text.ts';
import { type LineKind, LineQueue } from './line-queue.ts';
import type { ResultSink } from './result-sink.ts';

export interface NdjsonSinkOptions {
  /** stdout, as a rule. */
  readonly output: Writable;
  /** Called for lost lines, with their number (always 1 or more). */
  readonly onDropped: (kind: LineKind, count: number) => void;
  readonly log: Logger;
  /** Maximum bytes of lines that wait for a slow reader. Default: 16 MiB. */
  readonly maxBufferBytes?: number;
}

const DEFAULT_MAX_BUFFER_BYTES = 16 * 1024 * 1024;

/**
 * Writes each result as one line of JSON, and missed slots as `{"missed": …}`.
 *
 * | mode | a new line | entered by |
 * |---|---|---|
 * | flowing | is written | – |
 * | waiting | waits in the queue, bounded | the output's buffer is full |
 * | broken | is dropped and counted | the output failed or was closed; permanent |
 *
 * Writes only while the output's buffer is not full, so that hardly more than one line waits there.
 * A line is written completely or not at all.
 */
export class NdjsonSink implements ResultSink {
  readonly #output: Writable;
  readonly #options: NdjsonSinkOptions;
  readonly #queue: LineQueue;
  readonly #idle = new Set<() => void>();
  #mode: 'flowing' | 'waiting' | 'broken' = 'flowing';
  /** Lines passed to the output and not confirmed yet; it confirms in order. */
  readonly #unconfirmed = new Queue<LineKind>();
  #lostToSlowness = 0;

  constructor(options: NdjsonSinkOptions) {
    this.#options = options;
    this.#output = options.output;
    const { maxBufferBytes = DEFAULT_MAX_BUFFER_BYTES } = options;
    this.#queue = new LineQueue(maxBufferBytes, (kind) => this.#lost(kind));
    this.#output.on('error', (error) => this.#break(messageOf(error)));
    this.#output.on('close', () => this.#break('it was closed'));
    this.#output.on('drain', () => {
      if (this.#mode === 'waiting') this.#mode = 'flowing';
      this.#pump();
    });
  }

  result(result: CheckResult): void {
    this.#add(result.resultType === 'ATTEMPT' ? 'attempt' : 'result', result);
  }

  missed(missed: MissedSlots): void {
    this.#add('missed', { missed });
  }

  async flush(signal: AbortSignal): Promise<void> {
    if (!this.#isIdle() && !signal.aborted) {
      await new Promise<void>((resolve) => {
        const done = (): void => {
          signal.removeEventListener('abort', done);
          this.#idle.delete(done);
          resolve();
        };
        signal.addEventListener('abort', done, { once: true });
        this.#idle.add(done);
      });
    }
    const left = this.#queue.length + this.#unconfirmed.length;
    if (left === 0) return;
    const lines = countText(left, 'line of results was', 'lines of results were');
    this.#options.log.warn(`${lines} not read in time`);
  }

  #add(kind: LineKind, value: unknown): void {
    if (this.#mode === 'broken' || !this.#output.writable) {
      this.#break('it was closed');
      this.#options.onDropped(kind, 1);
      return;
    }
    let json: string;
    try {
      json = JSON.stringify(value);
    } catch (error) {
      this.#options.log.error({ err: error, kind: 'internal' }, 'a result cannot be written');
      this.#options.onDropped(kind, 1);
      return;
    }
    this.#queue.push({ kind, bytes: Buffer.from(`${json}\n`) });
    this.#pump();
  }

  #pump(): void {
    while (this.#mode === 'flowing') {
      const line = this.#queue.shift();
      if (line === null) return;
      this.#unconfirmed.push(line.kind);
      const hasRoom = this.#output.write(line.bytes, (error) => this.#confirmed(error));
      if (!hasRoom && this.#mode === 'flowing') this.#mode = 'waiting';
    }
  }

  #confirmed(error: Error | null | undefined): void {
    if (error) this.#break(messageOf(error));
    // Lines that were unconfirmed when the output broke are counted already.
    if (this.#mode === 'broken') return;
    this.#unconfirmed.shift();
    this.#wakeIfIdle();
  }

  #lost(kind: LineKind): void {
    this.#options.onDropped(kind, 1);
    this.#lostToSlowness += 1;
    if (this.#lostToSlowness > 1) return;
    this.#options.log.warn(
      'results are not read from stdout fast enough: the oldest are dropped (vedette_results_dropped_total counts them)',
    );
  }

  #break(reason: string): void {
    if (this.#mode === 'broken') return;
    this.#mode = 'broken';
    this.#options.log.error(
      { reason },
      'stdout cannot be written any more: results continue as metrics only (vedette_results_dropped_total counts the lost lines)',
    );
    // A destroyed output may never confirm the lines that were passed to it.
    for (let kind = this.#unconfirmed.shift(); kind !== null; kind = this.#unconfirmed.shift()) {
      this.#options.onDropped(kind, 1);
    }
    for (let line = this.#queue.shift(); line !== null; line = this.#queue.shift()) {
      this.#options.onDropped(line.kind, 1);
    }
    this.#wakeIfIdle();
  }

  #isIdle(): boolean {
    return this.#queue.length === 0 && this.#unconfirmed.length === 0;
  }

  #wakeIfIdle(): void {
    if (!this.#isIdle()) return;
    for (const done of [...this.#idle]) done();
  }
}
