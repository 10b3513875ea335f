import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import { sleep } from '../../runtime/wait.ts';
import { everyHour } from '../database/every-hour.ts';
import type { ListPosition } from '../database/lists/list-walk.ts';
import { removeInBatches } from '../database/retention.ts';
import type { Store } from '../database/store.ts';
import { ServiceError } from '../errors.ts';
import { type Page, rangeOf } from '../http/resources/paging.ts';
import { EventHub, type Follower } from './event-hub.ts';
import {
  deleteEventsBefore,
  deleteEventsBeyond,
  isBeforeDeleted,
  latestPosition,
  listEvents,
  type StoredEvent,
} from './sql.ts';
import { OpenStreams } from './stream-limits.ts';

export type { FollowedEvent, StoredEvent } from './sql.ts';

export interface EventsParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
}

/** A response that streams events. */
export interface EventFollower extends Follower {
  /** Called every 15 s. */
  readonly onHeartbeat: () => void;
}

export interface EventCounts {
  /** Streams that are open. */
  readonly open: number;
  /** Streams that ended because the client read too slowly. */
  readonly slow: number;
  /** Events that were deleted because their account had too many. */
  readonly dropped: number;
}

/** Events about the resources of an account: src/service/events/README.md. */
export interface Events {
  /** Newest first. */
  list(accountId: string, page: Page): Promise<readonly StoredEvent[]>;
  /** The position at which a new stream starts. */
  latest(): Promise<ListPosition>;
  /** @throws ServiceError 410 where events after the position are deleted */
  mustBeKept(accountId: string, position: ListPosition): Promise<void>;
  /**
   * Counts a stream until the signal aborts.
   *
   * @throws ServiceError 429 where there are too many
   */
  admit(accountId: string, signal: AbortSignal): void;
  /**
   * Passes all events after the follower's position to it, until the signal aborts. Resolves when the follower
   * has received the events that were already stored.
   *
   * @throws StoreError where they cannot be read
   */
  follow(follower: EventFollower, signal: AbortSignal): Promise<void>;
  /** Counts a stream that ended because its client read too slowly. */
  countSlow(): void;
  counts(): EventCounts;
  /** Reads new events, sends heartbeats and deletes old events until the signal aborts. */
  maintain(signal: AbortSignal): Promise<void>;
}

const HEARTBEAT_MS = 15_000;
const KEPT_MS = 2 * 86_400_000;
const KEPT_OF_ACCOUNT = 100_000;
/** Bounds how long a statement takes. */
const ROWS_AT_ONCE = 5_000;

export function createEvents(parts: EventsParts): Events {
  const { store, clock, log } = parts;
  const hub = new EventHub(parts);
  const followers = new Set<EventFollower>();
  const streams = new OpenStreams();
  let slow = 0;
  let dropped = 0;

  async function heartbeats(signal: AbortSignal): Promise<void> {
    while (await sleep(clock, HEARTBEAT_MS, signal)) {
      for (const follower of followers) follower.onHeartbeat();
    }
  }

  async function removeOld(signal: AbortSignal): Promise<void> {
    const beforeMs = clock.wallMs() - KEPT_MS;
    const remove = (limit: number) => deleteEventsBefore(store, { beforeMs, limit });
    await removeInBatches(ROWS_AT_ONCE, remove, signal);
    const beyond = await deleteEventsBeyond(store, KEPT_OF_ACCOUNT);
    dropped += beyond;
    if (beyond > 0) {
      log.warn(
        { deleted: beyond },
        `accounts had more than ${KEPT_OF_ACCOUNT} events in two days: their oldest were deleted`,
      );
    }
  }

  return {
    list: (accountId, page) => listEvents(store, { accountId, ...rangeOf(page) }),

    latest: async () => ({
      position: await latestPosition(store),
      id: String(Number.MAX_SAFE_INTEGER),
    }),

    async mustBeKept(accountId, position) {
      if (!(await isBeforeDeleted(store, { accountId, ...position }))) return;
      throw new ServiceError(
        410,
        'Events after this cursor are deleted already: read the resources again, and begin with cursor=start or without a cursor',
      );
    },

    admit: (accountId, signal) => streams.admit(accountId, signal),

    async follow(follower, signal) {
      if (signal.aborted) return;
      followers.add(follower);
      signal.addEventListener('abort', () => followers.delete(follower), { once: true });
      await hub.follow(follower, signal);
    },

    countSlow() {
      slow += 1;
    },

    counts: () => ({ open: streams.count, slow, dropped }),

    async maintain(signal) {
      await Promise.all([
        hub.run(signal),
        heartbeats(signal),
        everyHour(parts, 'old events could not be removed', () => removeOld(signal), signal),
      ]);
    },
  };
}
