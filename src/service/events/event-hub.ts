import type { Clock } from '../../runtime/clock.ts';
import { messageOf } from '../../runtime/errors.ts';
import { groupBy } from '../../runtime/group-by.ts';
import type { Logger } from '../../runtime/logger.ts';
import { sleep } from '../../runtime/wait.ts';
import { WakeSignal } from '../../runtime/wake-signal.ts';
import type { ListPosition } from '../database/lists/list-walk.ts';
import type { Store } from '../database/store.ts';
import { EVENTS_CHANNEL, eventsAfter, type FollowedEvent } from './sql.ts';

/** Receives the events of an account in order, each exactly once. */
export interface Follower {
  readonly accountId: string;
  /** The follower has all events up to this position. */
  position: ListPosition;
  readonly onEvents: (events: readonly FollowedEvent[]) => void;
  /**
   * Called after each batch of earlier events. Resolves when the client has read the batch; null if it already
   * has.
   */
  readonly onBatch: () => Promise<void> | null;
}

interface Following {
  readonly follower: Follower;
  /**
   * Events that arrived while the follower reads earlier ones; null once it has these. `read again` while its
   * client reads a batch: events of that time are read from the database afterwards.
   */
  waiting: FollowedEvent[] | 'read again' | null;
}

interface Account {
  readonly followings: Set<Following>;
  /** The position of the shared read; null until a follower has all earlier events. */
  position: ListPosition | null;
}

/** Maximum number of events of an account in one statement. */
const BATCH = 500;
const ACCOUNTS_AT_ONCE = 500;
/** How often to poll, in order to find events whose notification was lost. */
const POLL_MS = 5_000;
/** The first delay before reading again while transactions before an event have not ended. */
const FIRST_UNSETTLED_MS = 20;
const MAX_UNSETTLED_MS = 1_000;
const RETRY_MS = 1_000;

/**
 * Listens and reads once for all followers of this process: a notification causes one read for each account,
 * however many followers it has.
 */
export class EventHub {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #accounts = new Map<string, Account>();
  readonly #due = new Set<string>();
  readonly #unsettled = new Set<string>();
  readonly #wakeUp = new WakeSignal();

  constructor({ store, clock, log }: { store: Store; clock: Clock; log: Logger }) {
    this.#store = store;
    this.#clock = clock;
    this.#log = log;
  }

  /** Reads until the signal aborts. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const end = await this.#listen(signal);
    let unsettledMs = FIRST_UNSETTLED_MS;
    let polledMs = this.#clock.monotonicMs();
    while (!signal.aborted) {
      if (this.#due.size === 0) {
        const pollInMs = Math.max(0, polledMs + POLL_MS - this.#clock.monotonicMs());
        const isUnsettled = this.#unsettled.size > 0;
        const delayMs = isUnsettled ? Math.min(pollInMs, unsettledMs) : pollInMs;
        await this.#wakeUp.wait(this.#clock, delayMs, signal);
        if (isUnsettled) {
          unsettledMs = Math.min(unsettledMs * 2, MAX_UNSETTLED_MS);
          for (const id of this.#unsettled) this.#due.add(id);
        }
        if (this.#clock.monotonicMs() - polledMs >= POLL_MS) {
          polledMs = this.#clock.monotonicMs();
          for (const id of this.#accounts.keys()) this.#due.add(id);
        }
        continue;
      }
      try {
        if (await this.#readDue()) unsettledMs = FIRST_UNSETTLED_MS;
      } catch (error) {
        this.#log.warn(`events could not be read, trying again: ${messageOf(error)}`);
        await sleep(this.#clock, RETRY_MS, signal);
      }
    }
    await end();
  }

  /**
   * Passes all events after the follower's position to it, until the signal aborts. Resolves when the follower
   * has received the events that were already stored.
   *
   * @throws StoreError where earlier events cannot be read
   */
  async follow(follower: Follower, signal: AbortSignal): Promise<void> {
    const { accountId } = follower;
    const account = this.#accounts.get(accountId) ?? { followings: new Set(), position: null };
    this.#accounts.set(accountId, account);
    const following: Following = { follower, waiting: [] };
    account.followings.add(following);
    const end = (): void => {
      account.followings.delete(following);
      const isLast = account.followings.size === 0 && this.#accounts.get(accountId) === account;
      if (isLast) this.#accounts.delete(accountId);
    };
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
    let waiting: FollowedEvent[] = [];
    try {
      for (let isBehind = true; isBehind && !signal.aborted; ) {
        // Waiting events were settled before this read, so the read returns them.
        waiting = [];
        following.waiting = waiting;
        const found = await eventsAfter(this.#store, [{ accountId, ...follower.position }], BATCH);
        const settled = found.filter(({ isSettled }) => isSettled);
        give(follower, settled);
        isBehind = settled.length === BATCH;
        const taken = follower.onBatch();
        if (taken === null) continue;
        // Events that arrive while the client reads a long batch must not count as unread.
        following.waiting = 'read again';
        await taken;
        isBehind = true;
      }
    } catch (error) {
      end();
      throw error;
    }
    following.waiting = null;
    give(follower, waiting);
    account.position ??= follower.position;
    this.#wake([accountId]);
  }

  /** Reads the accounts that are due. Returns whether followers received an event. */
  async #readDue(): Promise<boolean> {
    const ids = [...this.#due].slice(0, ACCOUNTS_AT_ONCE);
    const asked = ids.flatMap((accountId) => {
      const position = this.#accounts.get(accountId)?.position;
      return position === null || position === undefined ? [] : [{ accountId, ...position }];
    });
    for (const id of ids) {
      this.#due.delete(id);
      this.#unsettled.delete(id);
    }
    if (asked.length === 0) return false;
    const found = await eventsAfter(this.#store, asked, BATCH).catch((error: unknown) => {
      for (const id of ids) this.#due.add(id);
      throw error;
    });
    let hasGiven = false;
    for (const [accountId, events] of groupBy(found, ({ accountId }) => accountId)) {
      const settled = events.filter(({ isSettled }) => isSettled);
      if (settled.length < events.length) this.#unsettled.add(accountId);
      if (settled.length === BATCH) this.#due.add(accountId);
      const account = this.#accounts.get(accountId);
      const last = settled.at(-1);
      if (account === undefined || last === undefined) continue;
      hasGiven = true;
      account.position = positionOf(last);
      for (const { follower, waiting } of account.followings) {
        if (waiting === null) give(follower, settled);
        else if (waiting !== 'read again') waiting.push(...settled);
      }
    }
    return hasGiven;
  }

  #wake(ids: Iterable<string>): void {
    for (const id of ids) if (this.#accounts.has(id)) this.#due.add(id);
    if (this.#due.size > 0) this.#wakeUp.ring();
  }

  async #listen(signal: AbortSignal): Promise<() => Promise<void>> {
    while (!signal.aborted) {
      try {
        return await this.#store.listen(
          EVENTS_CHANNEL,
          (accountId) => this.#wake([accountId]),
          () => this.#wake(this.#accounts.keys()),
        );
      } catch (error) {
        this.#log.warn(`events are not listened to, trying again: ${messageOf(error)}`);
        await sleep(this.#clock, RETRY_MS, signal);
      }
    }
    return async () => {};
  }
}

/** Passes on the events that the follower does not have yet. */
function give(follower: Follower, events: readonly FollowedEvent[]): void {
  const { position, id } = follower.position;
  const after = [BigInt(position), BigInt(id)] as const;
  const fresh = events.filter((event) => {
    const at = BigInt(event.position);
    return at > after[0] || (at === after[0] && BigInt(event.id) > after[1]);
  });
  const last = fresh.at(-1);
  if (last === undefined) return;
  follower.position = positionOf(last);
  follower.onEvents(fresh);
}

function positionOf({ position, id }: FollowedEvent): ListPosition {
  return { position, id: String(id) };
}
