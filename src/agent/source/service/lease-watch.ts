import type { Clock } from '../../../runtime/clock.ts';
import { type Moment, momentOf, passedMs } from '../../../runtime/up-time.ts';
import type { PollResponse } from '../../../wire/v1/poll.ts';

/**
 * What became of the lease since a moment.
 *
 * - `unchanged`: it goes on, or had ended before
 * - `ended`: it ended, and who has the checks now is not known
 * - `renewed`: it ended, and the checks of the next one are known
 */
export type LeaseChange = 'unchanged' | 'ended' | 'renewed';

/** A lease, from the sending of the last poll that the service got in time. */
interface Lease {
  readonly from: Moment;
  readonly leaseMs: number;
}

/** How long the agent may take its lease for its own. */
export class LeaseWatch {
  readonly #clock: Clock;
  /** Of the last poll. */
  #sent: Moment;
  /** By the last poll that was answered; null where there is no lease. */
  #answered: Lease | null = null;
  /**
   * The same lease, extended by the poll under way where that was sent in time: it is assumed to
   * arrive.
   */
  #current: Lease | null = null;
  /** The lease that had ended when a poll was sent that was answered since. */
  #ended: Lease | null = null;
  /** The last one that ended and after which `told` was called. */
  #renewed: Lease | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#sent = momentOf(clock);
  }

  /** A poll is sent. */
  sent(): void {
    this.#sent = momentOf(this.#clock);
    if (this.#current !== null && !isOver(this.#current, this.#sent)) {
      this.#current = { ...this.#current, from: this.#sent };
    }
  }

  /** It was answered; with null it failed, or is not waited for any more. */
  over(answer: Pick<PollResponse, 'epoch' | 'leaseMs'> | null): void {
    if (answer !== null) {
      if (this.#current !== null && isOver(this.#current, this.#sent)) this.#ended = this.#current;
      const { epoch, leaseMs } = answer;
      // Of epoch 0: the agent was ended.
      this.#answered = epoch === 0 ? null : { from: this.#sent, leaseMs };
    }
    this.#current = this.#answered;
  }

  /** The answer to the last poll, and everything before it, was passed on to the listener. */
  told(): void {
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
  return passedMs(from, at) > leaseMs;
}
