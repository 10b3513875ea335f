import { elapsedMs, type Moment, momentOf } from '../../../runtime/boot-clock.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { PollResponse } from '../../../wire/v1/poll.ts';

/**
 * The state of the lease since a moment.
 *
 * - `unchanged`: it continues, or had ended before
 * - `ended`: it ended, and it is not known which agent has the checks
 * - `renewed`: it ended, and the checks of the next one are known
 */
export type LeaseChange = 'unchanged' | 'ended' | 'renewed';

/** A lease, which counts from the sending of the last poll that the service received in time. */
interface Lease {
  readonly from: Moment;
  readonly leaseMs: number;
}

/** Determines how long the agent has its lease. */
export class LeaseWatch {
  readonly #clock: Clock;
  /** When the last poll was sent. */
  #sent: Moment;
  /** The lease of the last answered poll; null without a lease. */
  #answered: Lease | null = null;
  /**
   * The same lease, extended by the poll in progress if that was sent in time: it is assumed to
   * arrive.
   */
  #current: Lease | null = null;
  /** The lease that had ended before the last answered poll was sent. */
  #ended: Lease | null = null;
  /** The last lease that ended and after which `answerPassedOn` was called. */
  #renewed: Lease | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#sent = momentOf(clock);
  }

  /** Called when a poll is sent. */
  sent(): void {
    this.#sent = momentOf(this.#clock);
    if (this.#current !== null && !isOver(this.#current, this.#sent)) {
      this.#current = { ...this.#current, from: this.#sent };
    }
  }

  /** Called when the poll was answered; null: it failed or was abandoned. */
  over(answer: Pick<PollResponse, 'epoch' | 'leaseMs'> | null): void {
    if (answer !== null) {
      if (this.#current !== null && isOver(this.#current, this.#sent)) this.#ended = this.#current;
      const { epoch, leaseMs } = answer;
      // Epoch 0: the agent was ended.
      this.#answered = epoch === 0 ? null : { from: this.#sent, leaseMs };
    }
    this.#current = this.#answered;
  }

  /** Called when the answer to the last poll and all previous ones were passed on. */
  answerPassedOn(): void {
    this.#renewed = this.#ended ?? this.#renewed;
    this.#ended = null;
  }

  since(moment: Moment): LeaseChange {
    const wasValid = (lease: Lease | null): boolean => lease !== null && !isOver(lease, moment);
    const isCurrentOver = this.#current !== null && isOver(this.#current, momentOf(this.#clock));
    if ((isCurrentOver && wasValid(this.#current)) || wasValid(this.#ended)) return 'ended';
    return wasValid(this.#renewed) ? 'renewed' : 'unchanged';
  }
}

function isOver({ from, leaseMs }: Lease, at: Moment): boolean {
  return elapsedMs(from, at) > leaseMs;
}
