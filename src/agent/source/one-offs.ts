import {
  type OneOff,
  type OneOffMessage,
  type Refusal,
  readOneOff,
} from '../../wire/v1/assignment.ts';
import { MAX_ONE_OFFS } from '../../wire/v1/limits.ts';

/** Runs beside the plan that are known at once; the service has taken back what is older. */
const MAX_KNOWN = 10 * MAX_ONE_OFFS;

export interface TakenRuns {
  readonly runs: readonly OneOff[];
  readonly refused: readonly Refusal[];
}

/**
 * Runs beside the plan. The service names each in every answer until it is told that the run is
 * done; here each is known by its id, so that it is passed on once.
 */
export class OneOffs {
  /** Ids of the runs that were passed on, until the service knows that they are done. */
  readonly #known = new Set<string>();
  readonly #done = new Set<string>();

  /** Those of an answer that are new. What cannot be read is done: to name it again helps nobody. */
  take(messages: readonly OneOffMessage[]): TakenRuns {
    const runs: OneOff[] = [];
    const refused: Refusal[] = [];
    for (const message of messages) {
      const { runId } = message;
      if (this.#known.has(runId)) continue;
      this.#remember(runId);
      const read = readOneOff(message);
      if (read.ok) {
        runs.push(read.value);
      } else {
        refused.push(read.refusal);
        this.#done.add(runId);
      }
    }
    return { runs, refused };
  }

  /** Its result is safe, or it was missed. */
  done(runId: string): void {
    if (this.#known.has(runId)) this.#done.add(runId);
  }

  /** What the next request tells; it takes no more at once. */
  get toTell(): string[] {
    return [...this.#done].slice(0, MAX_ONE_OFFS);
  }

  /** The service knows of them. */
  told(runIds: readonly string[]): void {
    for (const runId of runIds) {
      this.#done.delete(runId);
      this.#known.delete(runId);
    }
  }

  #remember(runId: string): void {
    this.#known.add(runId);
    if (this.#known.size <= MAX_KNOWN) return;
    const [oldest] = this.#known;
    if (oldest !== undefined) this.told([oldest]);
  }
}
