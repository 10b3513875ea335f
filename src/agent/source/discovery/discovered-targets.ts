import { setMaxListeners } from 'node:events';
import type { Check } from '../../../model/check/check.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { messageOf } from '../../../runtime/errors.ts';
import type { Logger } from '../../../runtime/logger.ts';
import type { Proxies } from '../../../runtime/net/proxy/choose-proxy.ts';
import type { TargetsFrom } from '../../config/targets-from.ts';
import { Dispatchers } from '../../service-client/dispatchers.ts';
import type { CheckSet, CheckSource } from '../check-source.ts';
import { ConcurrencyLimit } from './concurrency-limit.ts';
import { TargetChecks } from './target-checks.ts';
import { TargetFeed } from './target-feed.ts';

export interface DiscoveryOptions {
  readonly rules: readonly TargetsFrom[];
  /** Proxies for fetching documents. */
  readonly proxies: Proxies;
  readonly clock: Clock;
  readonly log: Logger;
  readonly version: string;
  /** Maximum number of checks for targets, of all documents together; default 10,000. */
  readonly maxChecks?: number;
  /** The compiled target-worker; default: beside this module. */
  readonly workerUrl?: URL;
}

const MAX_CHECKS = 10_000;
const CONNECT_TIMEOUT_MS = 10_000;
/** Half of the threads that Node has for files. */
const MAX_FILES_AT_ONCE = 2;
const DEFAULT_WORKER_URL = new URL('./target-worker.js', import.meta.url);

interface Expanded {
  readonly from: CheckSet;
  /** The checks for its targets. */
  readonly found: readonly Check[];
}

/**
 * Replaces each check that TARGETS_FROM names by one check for each target of its documents. Passes
 * a set on once every document was read or found unusable, and again when its checks change.
 */
export function withDiscoveredTargets(source: CheckSource, options: DiscoveryOptions): CheckSource {
  return {
    get checkFileUsable() {
      return source.checkFileUsable;
    },
    async watch(listener, signal) {
      const { rules, proxies, clock, log, version, maxChecks = MAX_CHECKS } = options;
      // No request waits for another one: the wait would count toward its time limit.
      const connect = { connections: null, connectTimeoutMs: CONNECT_TIMEOUT_MS };
      const dispatchers = new Dispatchers({ proxies, clock, ...connect });
      const limiters = {
        files: new ConcurrencyLimit(MAX_FILES_AT_ONCE),
        threads: new ConcurrencyLimit(1),
      };
      const { workerUrl = DEFAULT_WORKER_URL } = options;
      const parts = { dispatchers, clock, log, version, limiters, workerUrl };
      const feeds = rules.map((rule) => new TargetFeed(rule, parts));
      const ended = new AbortController();
      const isOver = AbortSignal.any([ended.signal, signal]);
      // One listener for each document, whose number is bounded.
      setMaxListeners(0, isOver);
      const targetChecks = new TargetChecks({ feeds, maxChecks, clock, log });
      let given: CheckSet | null = null;
      let passedOn: Expanded | null = null;
      let isDirty = false;
      let expanding: Promise<void> | null = null;
      const expand = async (): Promise<void> => {
        while (isDirty && given !== null && !isOver.aborted) {
          isDirty = false;
          const from = given;
          const found = await targetChecks.expand(from);
          // A newer state follows.
          if (isDirty || isOver.aborted) continue;
          if (passedOn?.from === from && isSame(passedOn.found, found)) continue;
          passedOn = { from, found };
          log.info({ checks: found.length }, 'checks were made of discovered targets');
          listener.onChecks({ ...from, checks: [...targetChecks.others(from), ...found] });
        }
        expanding = null;
      };
      const onChange = (): void => {
        isDirty = true;
        if (given === null || feeds.some(({ hasTried }) => !hasTried)) return;
        expanding ??= expand().catch((error: unknown) => {
          expanding = null;
          log.error({ err: error }, `a fault of the agent; please report it: ${messageOf(error)}`);
        });
      };
      const watched = feeds.map((feed) => feed.watch(onChange, isOver));
      try {
        const onChecks = (set: CheckSet): void => {
          given = set;
          onChange();
        };
        await source.watch(
          {
            onChecks,
            onRun: (run) => listener.onRun(run),
            onRunCancelled: (runId) => listener.onRunCancelled(runId),
            onTrial: (trial) => listener.onTrial(trial),
          },
          signal,
        );
      } finally {
        ended.abort();
        await dispatchers.destroy();
        await Promise.all(watched);
        await expanding;
      }
    },
  };
}

/** Ignores the order of the checks. */
function isSame(one: readonly Check[], other: readonly Check[]): boolean {
  const checks = new Set(one);
  return one.length === other.length && other.every((check) => checks.has(check));
}
