import type { Rule } from './soak-flatness.ts';
import type { Census } from './soak-sampler.ts';

/** Also in a minute, though the compiler has not seen all paths often enough by then. */
const HEAP: Rule = { share: 0.1, plus: 4 };
/** Of a run at work; what hangs adds up for the first half a minute, and has no end sooner. */
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

/** Runs that the clients have asked for; the test itself counts them. */
export const ASKED_RUNS = 'asked runs';

/** MiB are in the name of a series; the others are counts. */
export const AGENT_RULES: Readonly<Record<string, Rule>> = {
  'heap MiB': HEAP,
  'buffers MiB': { share: 0.1, plus: 8 },
  // The allocator gives back little of what many runs took at once.
  'rss MiB': { share: 0.15, plus: 24 },
  threads: atMost(2),
  'fds: files': atMost(6),
  'fds: sockets': perRun(1, 20),
  // Pipes: of the two programs of each of two diagnostic passes.
  'fds: others': atMost(12),
  handles: perRun(1, 20),
  timers: perRun(2, 30),
  vedette_queued: atMost(5),
  vedette_spool_records: atMost(500),
};

export const SERVICE_RULES: Readonly<Record<string, Rule>> = {
  'heap MiB': HEAP,
  'buffers MiB': { share: 0.1, plus: 8 },
  // The embedded database's memory is in it, which only grows, up to its bounds.
  'rss MiB': { share: 0.15, plus: 64 },
  threads: atMost(2),
  // Its files stay open from their first use on.
  'fds: files': atMost(50),
  'fds: sockets': perRequest(2, 10),
  'fds: others': atMost(6),
  handles: perRequest(2, 10),
  timers: perRequest(2, 10),
};

/** One for each run that was ended meanwhile would be more, also in a minute. */
export const AGENT_CENSUS: Readonly<Record<keyof Census, Rule>> = {
  mapEntries: {
    share: 0,
    plus: 250,
    besides: [
      // The spool's index has each record in a map, and the uploads have what waits for them.
      { series: 'vedette_spool_records', each: 2 },
      { series: 'vedette_running', each: 4 },
      // It remembers so many of those that were asked for, so as not to make one twice.
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
