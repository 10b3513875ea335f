import {
  type OneOff,
  type OneOffMessage,
  type Refusal,
  readOneOff,
} from '../../../wire/v1/assignment.ts';
import { MAX_ONE_OFFS } from '../../../wire/v1/limits.ts';

/** Maximum number of known one-off runs. */
const MAX_KNOWN = 10 * MAX_ONE_OFFS;
/** Maximum length of the JSON of those that are not done. */
const MAX_BYTES = 64 * 1024 * 1024;

export interface TakenRuns {
  readonly runs: readonly OneOff[];
  readonly refused: readonly Refusal[];
}

/**
 * One-off runs. The service sends each in every answer until the agent reports it done; each is
 * passed on only once. One that exceeds the limits is accepted when the service sends it again
 * after others are done.
 */
export class KnownOneOffs {
  /**
   * The runs that were passed on, until the service knows that they are done: bytes of JSON by id.
   */
  readonly #known = new Map<string, number>();
  #bytes = 0;
  readonly #done = new Set<string>();

  /**
   * The new runs of an answer. An invalid run counts as done: sending it again would not help.
   */
  take(messages: readonly OneOffMessage[]): TakenRuns {
    const runs: OneOff[] = [];
    const refused: Refusal[] = [];
    for (const message of messages) {
      const { runId } = message;
      if (this.#known.has(runId)) continue;
      const read = readOneOff(message);
      // The parsed run is nested no deeper than a check; the message may be.
      const bytes = read.ok ? Buffer.byteLength(JSON.stringify(read.value)) : 0;
      if (this.#bytes + bytes > MAX_BYTES || !this.#makeRoom()) continue;
      this.#known.set(runId, bytes);
      this.#bytes += bytes;
      if (read.ok) {
        runs.push(read.value);
      } else {
        refused.push(read.refusal);
        this.done(runId);
      }
    }
    return { runs, refused };
  }

  /** Call it when the run's result is on disk, or the run was missed. */
  done(runId: string): void {
    if (!this.#known.has(runId)) return;
    this.#done.add(runId);
    this.#free(runId);
  }

  /**
   * Whether a run that a user cancelled was passed on. One that never was counts as done: an
   * earlier process had it, or it exceeded the limits.
   */
  cancelled(runId: string): boolean {
    if (this.#known.has(runId)) return true;
    if (this.#makeRoom()) {
      this.#known.set(runId, 0);
      this.#done.add(runId);
    }
    return false;
  }

  /** The ids for the next request, up to its limit. */
  get toAcknowledge(): string[] {
    return [...this.#done].slice(0, MAX_ONE_OFFS);
  }

  /** Called when the service knows that they are done. */
  acknowledged(runIds: readonly string[]): void {
    for (const runId of runIds) {
      this.#free(runId);
      this.#done.delete(runId);
      this.#known.delete(runId);
    }
  }

  /** Keeps only the id of the run. */
  #free(runId: string): void {
    const bytes = this.#known.get(runId);
    if (bytes === undefined) return;
    this.#bytes -= bytes;
    this.#known.set(runId, 0);
  }

  /** Removes the run that was done first: the service has expired runs of that age. */
  #makeRoom(): boolean {
    if (this.#known.size < MAX_KNOWN) return true;
    const [oldest] = this.#done;
    if (oldest === undefined) return false;
    this.acknowledged([oldest]);
    return true;
  }
}
