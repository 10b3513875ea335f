import { type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { type ApiError, asApiError, isAbort } from './errors.ts';
import { type LiveEvent, onLive } from './live-connection.ts';
import { NEVER_MS, wait } from './wait.ts';

/** Data that a page reads. It stays cached for some time after the page is left. */
export interface Query<Data> {
  /** Null before the first response. Stays while it is read again. */
  readonly data: ReadonlySignal<Data | null>;
  /** The error of the last read; null after a success. */
  readonly error: ReadonlySignal<ApiError | null>;
  readonly isLoading: ReadonlySignal<boolean>;
  /** Reads it again. Resolves with whether it was read: false after an error, or if another read replaced this one. */
  reload(): Promise<boolean>;
  /** Replaces the data, for example by the response to a change. */
  set(data: Data): void;
}

export interface QueryOptions {
  /** Kinds of resources (`check`, `location`), or of events (`check.status_changed`), after whose changes it is read again. */
  readonly on?: readonly string[];
  /** Whether one of these events concerns the data. Default: all do. */
  readonly concerns?: (event: LiveEvent) => boolean;
}

interface Entry<Data> extends Query<Data> {
  readonly data: Signal<Data | null>;
  readonly error: Signal<ApiError | null>;
  readonly isLoading: Signal<boolean>;
  load: (signal: AbortSignal) => Promise<Data>;
  options: QueryOptions;
  users: number;
  running: AbortController | null;
  /** Whether a change arrived during the read or shortly after. */
  isStale: boolean;
  lastReadMs: number;
}

/** The most entries of pages that are no longer shown. */
const MAX_KEPT = 40;
/** The least time between two reads of the same data, regardless of the number of events. */
const MIN_INTERVAL_MS = 1_000;

/** Older data is read again when it is shown, because not all data has events. */
const MAX_AGE_MS = 15_000;

/** By key, the least recently used first. */
const entries = new Map<string, Entry<unknown>>();

onLive((events) => {
  for (const entry of entries.values()) {
    const isConcerned = events === null || events.some((event) => concerns(entry.options, event));
    if (isConcerned) refresh(entry);
  }
});

function concerns({ on = [], concerns: filter }: QueryOptions, event: LiveEvent): boolean {
  const { kind } = event;
  const isOfKind = on.some((each) => kind === each || kind.startsWith(`${each}.`));
  return isOfKind && (filter?.(event) ?? true);
}

/** Data that is not shown is read again when it is shown. */
function refresh(entry: Entry<unknown>): void {
  entry.isStale = true;
  if (entry.users > 0 && entry.running === null) void run(entry);
}

/** @returns whether it was read */
async function run(entry: Entry<unknown>): Promise<boolean> {
  const controller = new AbortController();
  entry.running = controller;
  entry.isLoading.value = true;
  try {
    do {
      await wait(entry.lastReadMs + MIN_INTERVAL_MS - performance.now(), controller.signal);
      controller.signal.throwIfAborted();
      entry.isStale = false;
      entry.lastReadMs = performance.now();
      const data = await entry.load(controller.signal);
      if (entry.running !== controller) return false;
      entry.data.value = data;
      entry.error.value = null;
    } while (entry.isStale);
    return true;
  } catch (error) {
    if (entry.running !== controller || isAbort(error)) return false;
    entry.error.value = asApiError(error);
    return false;
  } finally {
    if (entry.running === controller) {
      entry.running = null;
      entry.isLoading.value = false;
    }
  }
}

function stop(entry: Entry<unknown>): void {
  entry.running?.abort();
  entry.running = null;
  entry.isLoading.value = false;
}

function entryOf<Data>(key: string, load: Entry<Data>['load'], options: QueryOptions): Entry<Data> {
  const known = entries.get(key) as Entry<Data> | undefined;
  if (known !== undefined) {
    entries.delete(key);
    entries.set(key, known as Entry<unknown>);
    known.load = load;
    known.options = options;
    return known;
  }
  const entry: Entry<Data> = {
    data: signal<Data | null>(null),
    error: signal<ApiError | null>(null),
    isLoading: signal(true),
    load,
    options,
    users: 0,
    running: null,
    isStale: true,
    lastReadMs: NEVER_MS,
    reload() {
      stop(entry as Entry<unknown>);
      entry.lastReadMs = NEVER_MS;
      return run(entry as Entry<unknown>);
    },
    set(data) {
      stop(entry as Entry<unknown>);
      entry.data.value = data;
      entry.error.value = null;
      entry.isStale = false;
    },
  };
  entries.set(key, entry as Entry<unknown>);
  const unused = [...entries].filter(([, { users }]) => users === 0);
  for (const [old] of unused.slice(0, Math.max(0, unused.length - MAX_KEPT))) {
    if (old !== key) entries.delete(old);
  }
  return entry;
}

/**
 * Reads data while the component is shown, and again after the events that `options` name. Components
 * with the same key share the data.
 *
 * @param key names the resource and everything that the response depends on, for example `checks?type=URL`
 */
export function useQuery<Data>(
  key: string,
  load: (signal: AbortSignal) => Promise<Data>,
  options: QueryOptions = {},
): Query<Data> {
  const [held, hold] = useState<{ key: string; entry: Entry<Data> } | null>(null);
  const entry = held?.key === key ? held.entry : entryOf(key, load, options);
  entry.load = load;
  entry.options = options;
  useEffect(() => {
    hold({ key, entry });
    // It may have been dropped between the rendering and now.
    entries.set(key, entry as Entry<unknown>);
    entry.users += 1;
    const isOld = performance.now() - entry.lastReadMs > MAX_AGE_MS;
    if (entry.running === null && (entry.isStale || isOld || entry.error.value !== null)) {
      void run(entry as Entry<unknown>);
    }
    return () => {
      entry.users -= 1;
      if (entry.users > 0) return;
      if (entry.running !== null) entry.isStale = true;
      stop(entry as Entry<unknown>);
    };
  }, [key]);
  return entry;
}

/** Reads the matching data of all pages again, after a change by this page. */
export function invalidate(matches: (key: string) => boolean): void {
  for (const [key, entry] of entries) {
    if (!matches(key)) continue;
    entry.lastReadMs = NEVER_MS;
    refresh(entry);
  }
}
