import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Check } from '../../../model/check/check.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { messageOf } from '../../../runtime/errors.ts';
import type { Logger } from '../../../runtime/logger.ts';
import type { TargetsFrom } from '../../config/targets-from.ts';
import type { Proxies } from '../../net/proxy/choose-proxy.ts';
import { Dispatchers } from '../../service-client/dispatchers.ts';
import type { CheckSet, CheckSource } from '../check-source.ts';
import { expandCheck } from './expand-check.ts';
import { TargetFeed } from './target-feed.ts';

export interface DiscoveryOptions {
  readonly rules: readonly TargetsFrom[];
  /** For documents that are fetched. */
  readonly proxies: Proxies;
  readonly clock: Clock;
  readonly log: Logger;
  readonly version: string;
}

/** Of all documents together. */
const MAX_DISCOVERED = 10_000;
const CHECKS_PER_YIELD = 20;
/** Refused targets that are logged. */
const MAX_LOGGED = 5;
const CONNECT_TIMEOUT_MS = 10_000;

/**
 * A source of checks in which a check that TARGETS_FROM names stands for one check for each target of its
 * documents. A set is passed on once every document was read or found unusable, and again when one of
 * them changes.
 */
export function withDiscoveredTargets(source: CheckSource, options: DiscoveryOptions): CheckSource {
  return {
    get checkFileUsable() {
      return source.checkFileUsable;
    },
    async watch(listener, signal) {
      const { rules, proxies, clock, log, version } = options;
      const connect = { connections: 1, connectTimeoutMs: CONNECT_TIMEOUT_MS };
      const dispatchers = new Dispatchers({ proxies, clock, ...connect });
      const feeds = rules.map((rule) => new TargetFeed(rule, { dispatchers, clock, log, version }));
      const ended = new AbortController();
      const isOver = AbortSignal.any([ended.signal, signal]);
      let given: CheckSet | null = null;
      let isDirty = false;
      let expanding: Promise<void> | null = null;
      const expand = async (): Promise<void> => {
        while (isDirty && given !== null && !isOver.aborted) {
          isDirty = false;
          const set = await expanded(given, feeds, log);
          // A newer state follows.
          if (!isDirty && !isOver.aborted) listener.onChecks(set);
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

async function expanded(
  set: CheckSet,
  feeds: readonly TargetFeed[],
  log: Logger,
): Promise<CheckSet> {
  const byId = new Map(set.checks.map((check) => [check.id, check]));
  const modules = new Set(feeds.map(({ checkId }) => checkId));
  for (const id of modules) {
    if (byId.has(id)) continue;
    log.warn({ checkId: id }, 'TARGETS_FROM names a check that the file does not have');
  }
  const others = set.checks.filter(({ id }) => !modules.has(id));
  const known = new Set(others.map(({ id }) => id));
  const found: Check[] = [];
  let refused = 0;
  let made = 0;
  const refuse = (checkId: string, target: string, problem: string): void => {
    refused += 1;
    if (refused > MAX_LOGGED) return;
    log.warn({ checkId, target }, `a target makes no check: ${problem}`);
  };
  for (const feed of feeds) {
    const check = byId.get(feed.checkId);
    if (check === undefined) continue;
    for (const one of expandCheck(check, feed.groups)) {
      made += 1;
      if (made % CHECKS_PER_YIELD === 0) await yieldToEventLoop();
      if (!one.ok) {
        refuse(feed.checkId, one.target, one.problem);
      } else if (known.has(one.check.id)) {
        refuse(feed.checkId, one.check.name, `there is a check ${one.check.id} already`);
      } else if (found.length >= MAX_DISCOVERED) {
        refuse(feed.checkId, one.check.name, `there are more than ${MAX_DISCOVERED}`);
      } else {
        known.add(one.check.id);
        found.push(one.check);
      }
    }
  }
  if (refused > MAX_LOGGED) log.warn({ targets: refused }, 'targets make no checks');
  log.info({ checks: found.length }, 'checks were made of discovered targets');
  return { ...set, checks: [...others, ...found] };
}
