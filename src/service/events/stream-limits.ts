import { ServiceError } from '../errors.ts';

/** Ends a stream after a quarter of an hour: the client must then reconnect and authenticate again. */
export const MAX_HEARTBEATS = 60;
const MAX_STREAMS = 2_000;
const MAX_STREAMS_OF_ACCOUNT = 200;
const RETRY_SECONDS = 10;

/** Counts the event streams that are open in this process, and limits them. */
export class OpenStreams {
  readonly #openOf = new Map<string, number>();
  #open = 0;

  get count(): number {
    return this.#open;
  }

  /**
   * Counts a stream until the signal aborts.
   *
   * @throws ServiceError 429 if there are too many
   */
  admit(accountId: string, signal: AbortSignal): void {
    const ofAccount = this.#openOf.get(accountId) ?? 0;
    if (this.#open >= MAX_STREAMS || ofAccount >= MAX_STREAMS_OF_ACCOUNT) {
      throw new ServiceError(
        429,
        `There are too many event streams (at most ${MAX_STREAMS_OF_ACCOUNT} of an account and ${MAX_STREAMS} in all): end some, or try again later`,
        { headers: { 'retry-after': String(RETRY_SECONDS) } },
      );
    }
    this.#change(accountId, 1);
    signal.addEventListener('abort', () => this.#change(accountId, -1), { once: true });
  }

  #change(accountId: string, by: 1 | -1): void {
    this.#open += by;
    const ofAccount = (this.#openOf.get(accountId) ?? 0) + by;
    if (ofAccount === 0) this.#openOf.delete(accountId);
    else this.#openOf.set(accountId, ofAccount);
  }
}
