import PQueue from 'p-queue';
import type { PictureKey } from './pictures.sql.ts';

/** Pictures that this process fetches at once: bounds the memory of files that wait for the decoder. */
const MAX_FETCHING = 4;
/** Pictures of one account that may wait; `maintain` of any replica fetches the others. */
const MAX_WAITING = 20;

/** Bounds how many pictures this process fetches at once. */
export interface FetchQueue {
  /**
   * Queues the work for the picture, or returns the work that is already running or waiting for it. An account
   * fetches one picture at a time, so that its slow servers do not block other accounts.
   *
   * @returns false without doing the work if too many pictures of the account wait
   */
  run(key: PictureKey, work: () => Promise<boolean>): Promise<boolean>;
  /** Resolves when nothing is running or waiting. */
  idle(): Promise<void>;
}

export function createFetchQueue(): FetchQueue {
  const inProgress = new Map<string, Promise<boolean>>();
  const all = new PQueue({ concurrency: MAX_FETCHING });
  const ofAccounts = new Map<string, PQueue>();

  async function enqueue(accountId: string, work: () => Promise<boolean>): Promise<boolean> {
    const own = ofAccounts.get(accountId) ?? new PQueue({ concurrency: 1 });
    ofAccounts.set(accountId, own);
    if (own.size >= MAX_WAITING) return false;
    try {
      return await own.add(() => all.add(work));
    } finally {
      if (own.size + own.pending === 0) ofAccounts.delete(accountId);
    }
  }

  return {
    run(key, work) {
      const name = nameOf(key);
      const running = inProgress.get(name);
      if (running !== undefined) return running;
      const result = enqueue(key.accountId, work).finally(() => inProgress.delete(name));
      inProgress.set(name, result);
      return result;
    },

    async idle() {
      await Promise.allSettled(inProgress.values());
    },
  };
}

export function nameOf({ accountId, pageId, kind }: PictureKey): string {
  return `${accountId} ${pageId} ${kind}`;
}
