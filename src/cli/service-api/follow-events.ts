import { Backoff } from '../../runtime/backoff.ts';
import type { Clock } from '../../runtime/clock.ts';
import { sleep } from '../../runtime/wait.ts';
import { LineSplitter } from '../line-splitter.ts';
import type { ApiClient } from './api-client.ts';

export interface FollowOptions {
  readonly client: Pick<ApiClient, 'openEvents'>;
  readonly clock: Clock;
  /** Whether an event of this kind, such as `check.updated`, matters. */
  readonly matters: (kind: string) => boolean;
  /**
   * Called when a stream begins, because there may have been changes before, and after each event that matters.
   * Without a stream, called before each further attempt, so that the caller polls.
   */
  readonly onChange: () => void;
}

/** The delay between two attempts. The service ends each stream after a quarter of an hour. */
const BACKOFF = { minMs: 2_000, maxMs: 60_000 };
/** The service sends a comment every 15 s. */
const SILENCE_MS = 40_000;
/** Far longer than the name of a kind; longer lines are data, which is not used. */
const MAX_LINE_BYTES = 4_096;
/** HTML Standard, 9.2.6. */
const KIND = /^event: ?(\S+)$/;

/** Follows the events of the account (src/service/README.md, "Events") until the signal aborts. */
export async function followEvents(options: FollowOptions, signal: AbortSignal): Promise<void> {
  const { clock, onChange } = options;
  const backoff = new Backoff(BACKOFF);
  while (!signal.aborted) {
    if (await followOnce(options, signal)) backoff.reset();
    if (!(await sleep(clock, backoff.next(), signal))) return;
    onChange();
  }
}

/** @returns whether there was a stream */
async function followOnce(
  { client, clock, matters, onChange }: FollowOptions,
  signal: AbortSignal,
): Promise<boolean> {
  const attempt = new AbortController();
  const end = (): void => attempt.abort();
  signal.addEventListener('abort', end, { once: true });
  let cancelSilence = clock.after(SILENCE_MS, end);
  let isOpen = false;
  try {
    const chunks = await client.openEvents(attempt.signal);
    if (chunks === null) return false;
    isOpen = true;
    onChange();
    const lines = new LineSplitter(MAX_LINE_BYTES, (line) => {
      const kind = KIND.exec(line)?.[1];
      if (kind !== undefined && matters(kind)) onChange();
    });
    for await (const chunk of chunks) {
      cancelSilence();
      cancelSilence = clock.after(SILENCE_MS, end);
      lines.write(Buffer.from(chunk));
    }
    return true;
  } catch {
    // The connection failed, or nothing was received for too long. The next attempt may succeed.
    return isOpen;
  } finally {
    cancelSilence();
    signal.removeEventListener('abort', end);
    attempt.abort();
  }
}
