import { signal } from '@preact/signals';
import { basePath } from '../shell/base-path.ts';
import { accountHeaders } from './client.ts';
import { EventStreamReader, type LiveEvent } from './read-event-stream.ts';
import { signInAgain } from './sign-in-again.ts';
import { backoffMs, wait } from './wait.ts';

export type { LiveEvent } from './read-event-stream.ts';

export type ConnectionState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'live' }
  /** The last connection ended; `sinceMs` is when. */
  | { readonly kind: 'offline'; readonly sinceMs: number };

/** Gets the events since the last call, oldest first; null: everything may have changed. */
export type LiveListener = (events: readonly LiveEvent[] | null) => void;

const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 15_000;
/** The service sends a comment every 15 s. */
const SILENCE_MS = 40_000;
/** Changes of many checks come as many events, which are passed on together after this time. */
const BATCH_MS = 100;
const MAX_BATCH = 500;

export const connection = signal<ConnectionState>({ kind: 'connecting' });

const listeners = new Set<LiveListener>();
let pending: LiveEvent[] | null = [];
let isWaiting = false;

/** Calls the listener after changes, until the returned function is called. */
export function onLive(listener: LiveListener): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

function handOn(event: LiveEvent | null): void {
  if (event === null || pending === null || pending.length >= MAX_BATCH) pending = null;
  else pending.push(event);
  if (isWaiting) return;
  isWaiting = true;
  setTimeout(() => {
    const events = pending;
    pending = [];
    isWaiting = false;
    for (const listener of [...listeners]) listener(events);
  }, BATCH_MS);
}

/**
 * Follows the events of the account until the signal aborts. Does not use an EventSource, which cannot send
 * the header for the account and does not distinguish 410 from a lost connection.
 */
export async function followEvents(ended: AbortSignal): Promise<void> {
  const reader = new EventStreamReader((event) => handOn(event));
  let failures = 0;
  let wasLive = false;
  while (!ended.aborted) {
    const attempt = new AbortController();
    const stop = (): void => attempt.abort();
    ended.addEventListener('abort', stop, { once: true });
    // Otherwise the end of the connection is noticed only after SILENCE_MS.
    addEventListener('offline', stop, { once: true });
    try {
      const response = await fetch(`${basePath}/v1/events`, {
        headers: {
          ...accountHeaders(),
          accept: 'text/event-stream',
          ...(reader.lastId === null ? {} : { 'last-event-id': reader.lastId }),
        },
        signal: attempt.signal,
      });
      // If leaving would lose something, waits until the user has signed in again in another tab.
      if (response.status === 401 && signInAgain()) return;
      if (response.status === 410) {
        // Events were lost: the stream starts again, and everything is read again.
        reader.forget();
        handOn(null);
        continue;
      }
      if (!response.ok || response.body === null) throw new Error(`status ${response.status}`);
      // Without an id, the stream does not contain the changes between the first read and now.
      if (wasLive && reader.lastId === null) handOn(null);
      failures = 0;
      wasLive = true;
      connection.value = { kind: 'live' };
      await read(response.body, reader, attempt);
    } catch {
      failures += 1;
    } finally {
      ended.removeEventListener('abort', stop);
      removeEventListener('offline', stop);
      attempt.abort();
    }
    if (ended.aborted) return;
    // The service ends streams from time to time and is then available at once.
    if (failures > 0 && connection.value.kind !== 'offline') {
      connection.value = { kind: 'offline', sinceMs: Date.now() };
    }
    await delay(failures, ended);
  }
}

async function read(
  body: ReadableStream<Uint8Array>,
  reader: EventStreamReader,
  attempt: AbortController,
): Promise<void> {
  const chunks = body.pipeThrough(new TextDecoderStream() as never) as ReadableStream<string>;
  const from = chunks.getReader();
  let watch: ReturnType<typeof setTimeout> | undefined;
  try {
    for (;;) {
      clearTimeout(watch);
      watch = setTimeout(() => attempt.abort(), SILENCE_MS);
      const { done, value } = await from.read();
      if (done) return;
      reader.read(value);
    }
  } finally {
    clearTimeout(watch);
  }
}

/** Ends at once when the browser is online again. */
function delay(failures: number, ended: AbortSignal): Promise<void> {
  return wait(backoffMs(failures, FIRST_DELAY_MS, MAX_DELAY_MS), ended, 'online');
}
