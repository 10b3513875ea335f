import { messageOf, VedetteError } from '../../runtime/errors.ts';
import { sleep } from '../../runtime/wait.ts';
import { WakeSignal } from '../../runtime/wake-signal.ts';
import { type ApiClient, isInterrupted } from '../service-api/api-client.ts';
import { followEvents } from '../service-api/follow-events.ts';
import type { Terminal } from '../terminal.ts';
import type { Board } from './board.ts';

export interface WatchParts {
  readonly client: Pick<ApiClient, 'openEvents'>;
  readonly clock: Terminal['clock'];
  readonly read: (signal: AbortSignal) => Promise<Board>;
  /** @param trouble why the board could not be read again; null if it is current */
  readonly show: (board: Board, trouble: string | null) => void;
}

/** How often response times and ages are read again, because results are not events. */
const REFRESH_MS = 60_000;
/** Combines events within this time into one reading: changes of many checks cause many events. */
const BATCH_MS = 500;
/** Events that change states, names or the order of checks, or acknowledge their alerts. */
const MATTERS = /^(?:(?:check|group|location)\.(?!agent_)|alert\.(?:un)?acknowledged$)/;

/**
 * Shows the board, and updates it after each change until the signal aborts. If it cannot be read, keeps the last
 * one.
 *
 * @throws VedetteError where it could not be read even once, or the key was revoked
 */
export async function watchBoard(parts: WatchParts, signal: AbortSignal): Promise<void> {
  const { client, clock, show } = parts;
  const changed = new WakeSignal();
  const ended = new AbortController();
  const matters = (kind: string): boolean => MATTERS.test(kind);
  const following = followEvents(
    { client, clock, matters, onChange: changed.ring },
    AbortSignal.any([signal, ended.signal]),
  );
  try {
    let last: Board | null = null;
    for (;;) {
      const found = await readAgain(parts, last !== null, signal);
      if (found === null) return;
      last = found.board ?? last;
      if (last !== null) show(last, found.trouble);
      await changed.wait(clock, REFRESH_MS, signal);
      if (!(await sleep(clock, BATCH_MS, signal))) return;
    }
  } finally {
    ended.abort();
    await following;
  }
}

interface Found {
  readonly board: Board | null;
  readonly trouble: string | null;
}

/** @returns null if the signal aborted */
async function readAgain(
  { read }: Pick<WatchParts, 'read'>,
  isRepeated: boolean,
  signal: AbortSignal,
): Promise<Found | null> {
  try {
    return { board: await read(signal), trouble: null };
  } catch (thrown) {
    if (isInterrupted(thrown)) return null;
    const mayPass = thrown instanceof VedetteError && thrown.kind === 'environment';
    if (!isRepeated || !mayPass) throw thrown;
    return { board: null, trouble: messageOf(thrown) };
  }
}
