import type { Rule } from './flatness.ts';
import type { Census } from './sampler.ts';

/** Also within a minute, although the compiler has not optimised all paths by then. */
const HEAP: Rule = { share: 0.1, plus: 4 };
/** For running checks; hanging ones add up during the first half minute. */
const perRun = (each: number, plus: number): Rule => ({
  share: 0,
  plus,
  besides: [{ series: 'vedette_running', each }],
});
const perRequest = (each: number, plus: number): Rule => ({
  share: 0,
  plus,
  besides: [{ series: 'vedette_service_http_requests_in_flight', each }],
});
const atMost = (plus: number): Rule => ({ share: 0, plus });

/** Runs that clients have requested; the test itself counts them. */
export const ASKED_RUNS = 'asked runs';

/** Names of series in MiB contain it; the others are counts. */
export const AGENT_RULES: Readonly<Record<string, Rule>> = {
  'heap MiB': HEAP,
  'buffers MiB': { share: 0.1, plus: 8 },
  // The allocator returns little of the memory of many simultaneous runs.
  'rss MiB': { share: 0.15, plus: 24 },
  threads: atMost(2),
  'fds: files': atMost(6),
  'fds: sockets': perRun(1, 20),
  // Pipes of the two programs of each of two diagnostic passes.
  'fds: others': atMost(12),
  handles: perRun(1, 20),
  timers: perRun(2, 30),
  vedette_queued: atMost(5),
  vedette_spool_records: atMost(500),
};

export const SERVICE_RULES: Readonly<Record<string, Rule>> = {
  'heap MiB': HEAP,
  'buffers MiB': { share: 0.1, plus: 8 },
  // Includes the embedded database's memory, which only grows, up to its limits.
  'rss MiB': { share: 0.15, plus: 64 },
  threads: atMost(2),
  // Its files stay open after their first use.
  'fds: files': atMost(50),
  'fds: sockets': perRequest(2, 10),
  'fds: others': atMost(6),
  handles: perRequest(2, 10),
  timers: perRequest(2, 10),
};

/** A leak of one per ended run would exceed it, even within a minute. */
export const AGENT_CENSUS: Readonly<Record<keyof Census, Rule>> = {
  mapEntries: {
    share: 0,
    plus: 250,
    besides: [
      // The spool's index has each record in a map, and the uploads have the waiting records.
      { series: 'vedette_spool_records', each: 2 },
      { series: 'vedette_running', each: 4 },
      // It remembers this many requested runs, to avoid duplicates.
      { series: ASKED_RUNS, each: 1 },
    ],
  },
  signals: perRun(2, 150),
  abortListeners: perRun(3, 150),
};
export const SERVICE_CENSUS: Readonly<Record<keyof Census, Rule>> = {
  mapEntries: atMost(400),
  signals: perRequest(3, 100),
  abortListeners: perRequest(5, 100),
};
