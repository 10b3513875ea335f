import { Queue } from '../../runtime/fifo-queue.ts';

/** What a line contains: an ATTEMPT result, a FINAL one, or missed slots. */
export const LINE_KINDS = ['attempt', 'result', 'missed'] as const;
export type LineKind = (typeof LINE_KINDS)[number];

export interface Line {
  readonly kind: LineKind;
  readonly bytes: Buffer;
}

interface Waiting {
  readonly line: Line;
  readonly arrival: number;
}

/** The order in which lines are dropped: losing an attempt loses no run's outcome. */
const DROP_ORDER: readonly LineKind[] = ['attempt', 'result', 'missed'];

/**
 * Lines in the order of arrival, bounded in bytes. Beyond the bound, drops the oldest attempts
 * first, then the oldest results, then the oldest missed slots.
 */
export class LineQueue {
  readonly #maxBytes: number;
  readonly #onDropped: (kind: LineKind) => void;
  readonly #waiting: Readonly<Record<LineKind, Queue<Waiting>>> = {
    attempt: new Queue(),
    result: new Queue(),
    missed: new Queue(),
  };
  #arrivals = 0;
  #bytes = 0;

  constructor(maxBytes: number, onDropped: (kind: LineKind) => void) {
    this.#maxBytes = maxBytes;
    this.#onDropped = onDropped;
  }

  get length(): number {
    return LINE_KINDS.reduce((sum, kind) => sum + this.#waiting[kind].length, 0);
  }

  push(line: Line): void {
    this.#arrivals += 1;
    this.#waiting[line.kind].push({ line, arrival: this.#arrivals });
    this.#bytes += line.bytes.length;
    while (this.#bytes > this.#maxBytes) {
      const kind = DROP_ORDER.find((each) => this.#waiting[each].length > 0);
      if (kind === undefined) return;
      this.#take(kind);
      this.#onDropped(kind);
    }
  }

  /** The line that has waited longest; null if none waits. */
  shift(): Line | null {
    let oldest: LineKind | null = null;
    let oldestArrival = Number.POSITIVE_INFINITY;
    for (const kind of LINE_KINDS) {
      const arrival = this.#waiting[kind].peek()?.arrival ?? Number.POSITIVE_INFINITY;
      if (arrival < oldestArrival) {
        oldest = kind;
        oldestArrival = arrival;
      }
    }
    return oldest === null ? null : this.#take(oldest);
  }

  #take(kind: LineKind): Line | null {
    const line = this.#waiting[kind].shift()?.line ?? null;
    this.#bytes -= line?.bytes.length ?? 0;
    return line;
  }
}
