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
interface Held {
  readonly from: Moment;
  readonly leaseMs: number;
}

/** How long the agent may take its lease for its own. */
export class LeaseWatch {
  readonly #clock: Clock;
  /** Of the last poll. */
  #sent: Moment;
  /** By the last poll that was answered; null where there is no lease. */
  #answered: Held | null = null;
  /** The same by the one that is under way, where it was sent in time: it has arrived, as far as is known. */
  #held: Held | null = null;
  /** It had ended when a poll was sent that was answered since. */
  #ended: Held | null = null;
  /** The last one that ended and after which `told` was called. */
  #renewed: Held | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#sent = momentOf(clock);
  }

  /** A poll is sent. */
  sent(): void {
    this.#sent = momentOf(this.#clock);
    if (this.#held !== null && !isOver(this.#held, this.#sent)) {
      this.#held = { ...this.#held, from: this.#sent };
    }
  }

  /** It was answered; with null it failed, or is not waited for any more. */
  over(answer: Pick<PollResponse, 'epoch' | 'leaseMs'> | null): void {
    if (answer !== null) {
      if (this.#held !== null && isOver(this.#held, this.#sent)) this.#ended = this.#held;
      const { epoch, leaseMs } = answer;
      // Of epoch 0: the agent was ended.
      this.#answered = epoch === 0 ? null : { from: this.#sent, leaseMs };
    }
    this.#held = this.#answered;
  }

  /** The answer to the last poll, with all that came before it, is with whoever runs the checks. */
  told(): void {
    this.#renewed = this.#ended ?? this.#renewed;
    this.#ended = null;
  }

  since(moment: Moment): LeaseChange {
    const wentOn = (held: Held | null): boolean => held !== null && !isOver(held, moment);
    const isHeldOver = this.#held !== null && isOver(this.#held, momentOf(this.#clock));
    if ((isHeldOver && wentOn(this.#held)) || wentOn(this.#ended)) return 'ended';
    return wentOn(this.#renewed) ? 'renewed' : 'unchanged';
  }
}

function isOver({ from, leaseMs }: Held, at: Moment): boolean {
  return passedMs(from, at) > leaseMs;
}
