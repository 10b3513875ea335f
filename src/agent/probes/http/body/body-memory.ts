import type { Clock } from '../../../../runtime/clock.ts';

/** Why a body is retained: to judge the attempt, or to show it if the attempt fails. */
export type BodyUse = 'assertions' | 'detail';
export const BODY_USES: readonly BodyUse[] = ['assertions', 'detail'];

/** Memory of one attempt for a body beyond what its result stores. */
export interface BodyMemory {
  /** Reserves more bytes until `close`; false if it cannot. */
  take(bytes: number, use: BodyUse): boolean;
  /** Releases all bytes; does nothing the second time. */
  close(): void;
}

export interface MemoryWait {
  readonly clock: Pick<Clock, 'after'>;
  readonly waitMs: number;
  readonly signal: AbortSignal;
  readonly keepsDetail: boolean;
}

interface Waiter {
  readonly bytes: number;
  grant(): void;
}

/** The share that is reserved for bodies that assertions need. */
const DETAIL_SHARE = 1 / 2;

/**
 * The memory that the bodies of all attempts share: a thousand simultaneous bodies of 25 MB must
 * not end the agent. Bodies only for display have at most half of it. While an attempt waits for
 * memory, only attempts that have waited get more: otherwise new attempts would take all memory
 * that becomes free, and a large request would never be granted.
 */
export class SharedBodyMemory {
  readonly #maxBytes: number;
  readonly #waiting = new Set<Waiter>();
  #freeBytes: number;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#freeBytes = maxBytes;
  }

  get freeBytes(): number {
    return this.#freeBytes;
  }

  /** @param keepsDetail whether a body that no assertion reads is wanted, too */
  open(keepsDetail: boolean): BodyMemory {
    return this.#memory(keepsDetail, 0);
  }

  /** Waits for memory, first come, first served; null if the time is up or the signal aborts. */
  reserve(bytes: number, { clock, waitMs, signal, keepsDetail }: MemoryWait) {
    const wanted = Math.min(bytes, this.#maxBytes);
    return new Promise<BodyMemory | null>((resolve) => {
      const end = (memory: BodyMemory | null): void => {
        this.#waiting.delete(waiter);
        cancel();
        signal.removeEventListener('abort', giveUp);
        resolve(memory);
        // This attempt may have blocked those that wait behind it.
        if (memory === null) this.#grant();
      };
      const giveUp = (): void => end(null);
      const waiter: Waiter = {
        bytes: wanted,
        grant: () => {
          this.#freeBytes -= wanted;
          end(this.#memory(keepsDetail, wanted));
        },
      };
      const cancel = clock.after(waitMs, giveUp);
      signal.addEventListener('abort', giveUp, { once: true });
      this.#waiting.add(waiter);
      if (signal.aborted) giveUp();
      else this.#grant();
    });
  }

  #grant(): void {
    for (const waiter of this.#waiting) {
      if (waiter.bytes > this.#freeBytes) return;
      waiter.grant();
    }
  }

  #memory(keepsDetail: boolean, reservedBytes: number): BodyMemory {
    let heldBytes = reservedBytes;
    let unusedBytes = reservedBytes;
    return {
      take: (bytes, use) => {
        const moreBytes = Math.max(0, bytes - unusedBytes);
        const isForDetail = use === 'detail';
        if (isForDetail && !keepsDetail) return false;
        if (isForDetail && moreBytes > 0 && !this.#hasForDetail(moreBytes)) return false;
        if (reservedBytes === 0 && this.#waiting.size > 0) return false;
        if (moreBytes > this.#freeBytes) return false;
        this.#freeBytes -= moreBytes;
        heldBytes += moreBytes;
        unusedBytes += moreBytes - bytes;
        return true;
      },
      close: () => {
        this.#freeBytes += heldBytes;
        heldBytes = 0;
        unusedBytes = 0;
        this.#grant();
      },
    };
  }

  #hasForDetail(bytes: number): boolean {
    return this.#waiting.size === 0 && this.#freeBytes - bytes >= this.#maxBytes * DETAIL_SHARE;
  }
}
