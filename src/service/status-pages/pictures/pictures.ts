import { createHash } from 'node:crypto';
import type { Clock } from '../../../runtime/clock.ts';
import { messageOf } from '../../../runtime/errors.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { LruCache } from '../../../runtime/lru-cache.ts';
import { runEvery } from '../../../runtime/run-every.ts';
import type { AccountKey } from '../../database/account-key.ts';
import { withoutRecorder } from '../../database/recorded-store.ts';
import { removeInBatches } from '../../database/retention.ts';
import type { Store } from '../../database/store.ts';
import type { PictureSource } from './fetch-picture.ts';
import { createFetchQueue, nameOf } from './fetch-queue.ts';
import type { PictureKind, PictureOutcome } from './picture.ts';
import {
  type ClaimedPicture,
  claimPicture,
  deleteUnusedPictures,
  duePictures,
  expirePictures,
  findPicture,
  type PictureKey,
  type StoredPicture,
  savePicture,
  savePictureProblem,
} from './pictures.sql.ts';

export interface PagePicturesParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly pictureSource: PictureSource;
}

/** The logos and icons of status pages: src/service/README.md, "Pictures of status pages". */
export interface PagePictures {
  /**
   * Fetches the pictures of a page whose URLs were not fetched yet. Resolves when this is done, or after WAIT_MS;
   * the work then continues in the background. Never rejects.
   */
  fetch(key: AccountKey, kinds: readonly PictureKind[]): Promise<void>;
  /** Fetches all pictures of a page again, like `fetch`, but rejects if the database is away. */
  fetchAgain(key: AccountKey, kinds: readonly PictureKind[]): Promise<void>;
  /**
   * null if the page has no such picture.
   *
   * @param hash of the requested picture, if known; allows the use of a cache
   */
  read(key: PictureKey, hash: string | null): Promise<StoredPicture | null>;
  /** Fetches due pictures until the signal aborts: retries, and pictures that other processes did not fetch. */
  maintain(signal: AbortSignal): Promise<void>;
}

/** How long a request that saves a page waits for its pictures. */
const WAIT_MS = 5_000;
/** Longer than a download, and the decoder of all that are fetched at once, may take. */
const LEASE_MS = 120_000;
const SCAN_EVERY_MS = 30_000;
const MAX_BACK_OFF_MS = 120_000;
/** Pictures of one scan, and rows that a statement deletes. */
const ROWS_AT_ONCE = 20;
/** Maximum number of pictures of an account in a scan: they are fetched one after the other, and the scan waits. */
const OF_ACCOUNT = 4;
/** The delay after each failure; afterwards only on request. */
const RETRY_AFTER_MS = [1, 5, 30, 120, 720, 1_440, 1_440].map((minutes) => minutes * 60_000);
/** 132 bits. */
const HASH_CHARS = 22;
const CACHE_BYTES = 16 * 1024 * 1024;

export function createPagePictures(parts: PagePicturesParts): PagePictures {
  const { store, clock, log, pictureSource } = parts;
  const cache = new LruCache<StoredPicture>(CACHE_BYTES);
  const stopping = new AbortController();
  const fetchQueue = createFetchQueue();

  /** @returns whether this process fetched it */
  function fetchOne(key: PictureKey, isAsked: boolean): Promise<boolean> {
    return fetchQueue.run(key, async () => {
      if (stopping.signal.aborted) return false;
      const atMs = clock.wallMs();
      const claimed = await claimPicture(store, { ...key, isAsked, atMs, leaseMs: LEASE_MS });
      if (claimed === null) return false;
      const outcome = await pictureSource.fetch(key.kind, claimed.url, stopping.signal);
      await save(key, claimed, outcome);
      return true;
    });
  }

  async function save(
    key: PictureKey,
    claimed: ClaimedPicture,
    outcome: PictureOutcome,
  ): Promise<void> {
    if (outcome.ok) {
      const { picture } = outcome;
      const hash = createHash('sha256').update(picture.bytes).digest('base64url');
      await savePicture(store, {
        ...key,
        ...claimed,
        picture,
        hash: hash.slice(0, HASH_CHARS),
      });
      return;
    }
    const retryAfterMs = outcome.isFinal ? undefined : RETRY_AFTER_MS[claimed.attempt - 1];
    const nextAttemptAtMs = retryAfterMs === undefined ? null : clock.wallMs() + retryAfterMs;
    await savePictureProblem(store, {
      ...key,
      ...claimed,
      problem: outcome.problem,
      nextAttemptAtMs,
    });
  }

  /** Logs failures of the database: `maintain` tries again after the lease. */
  async function fetchAll(
    { accountId, id: pageId }: AccountKey,
    kinds: readonly PictureKind[],
  ): Promise<void> {
    await Promise.all(
      kinds.map((kind) =>
        fetchOne({ accountId, pageId, kind }, true).then(
          () => {},
          (error: unknown) => {
            if (stopping.signal.aborted) return;
            log.warn({ pageId }, `the ${kind} of a status page was not saved: ${messageOf(error)}`);
          },
        ),
      ),
    );
  }

  const fetch: PagePictures['fetch'] = async (key, kinds) => {
    // Not recorded: the request changes the URL, and the picture is derived from it.
    await withoutRecorder(() => within(clock, WAIT_MS, fetchAll(key, kinds)));
  };

  /** @returns whether there are probably more */
  async function fetchDue(): Promise<boolean> {
    const scan = { atMs: clock.wallMs(), limit: ROWS_AT_ONCE, ofAccount: OF_ACCOUNT };
    const due = await duePictures(store, scan);
    const fetched = await Promise.all(due.map((key) => fetchOne(key, false)));
    return fetched.includes(true);
  }

  return {
    fetch,

    async fetchAgain(key, kinds) {
      const { accountId, id: pageId } = key;
      await withoutRecorder(() =>
        expirePictures(store, { accountId, pageId, atMs: clock.wallMs() }),
      );
      await fetch(key, kinds);
    },

    async read(key, hash) {
      const name = nameOf(key);
      const cached = cache.get(name);
      if (cached !== undefined && cached.hash === hash) return cached;
      const found = await findPicture(store, key);
      if (found === null) return null;
      cache.set(name, found, found.bytes.length);
      return found;
    },

    async maintain(signal) {
      const onAbort = (): void => stopping.abort();
      signal.addEventListener('abort', onAbort, { once: true });
      if (signal.aborted) onAbort();
      const options = {
        everyMs: SCAN_EVERY_MS,
        maxMs: MAX_BACK_OFF_MS,
        failure: 'pictures of status pages cannot be fetched now',
        kindOf: messageOf,
        log,
      };
      const work = async (): Promise<boolean> => {
        const remove = (limit: number) => deleteUnusedPictures(store, { limit });
        await removeInBatches(ROWS_AT_ONCE, remove, signal);
        return await fetchDue();
      };
      await runEvery(clock, options, work, signal);
      await fetchQueue.idle();
      await pictureSource.close();
    },
  };
}

/** Resolves with the work, at the latest after `limitMs`. The work must not reject. */
function within(clock: Clock, limitMs: number, work: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(limitMs, resolve);
    void work.then(() => {
      cancel();
      resolve();
    });
  });
}
