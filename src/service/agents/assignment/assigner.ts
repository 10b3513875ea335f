import { Backoff } from '../../../runtime/backoff.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { messageOf } from '../../../runtime/errors.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { WakeSignal } from '../../../runtime/wake-signal.ts';
import type { Store } from '../../database/store.ts';
import { StoreError } from '../../database/store-errors.ts';
import { type AgentLimits, DEFAULT_AGENT_LIMITS } from '../agent-limits.ts';
import { assignLocation } from './assign-location.ts';
import { CHANGES_CHANNEL, locationsToAssign } from './location-changes.sql.ts';

/** Assigns checks to agents. Replicas work at the same time, on different locations. */
export interface Assigner {
  /** Runs until the signal aborts. Never rejects: logs failures and retries. */
  run(signal: AbortSignal): Promise<void>;
  /**
   * Assigns the checks of all locations that have pending changes, once.
   *
   * @returns how many locations this replica handled
   * @throws StoreError where the database fails to list them
   */
  pass(): Promise<number>;
}

export interface AssignerParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** Default: DEFAULT_AGENT_LIMITS. */
  readonly agentLimits?: AgentLimits;
}

/** Nothing notifies of an expired lease or a lost notification: both are found by polling. */
const POLL_EVERY_MS = 1_000;
const MAX_BACKOFF_MS = 30_000;
const MAX_LOCATIONS = 500;

interface Failing {
  readonly backoff: Backoff;
  /** The location is skipped until this monotonic time. */
  readonly untilMs: number;
}

export function createAssigner({
  store,
  clock,
  log,
  agentLimits: limits = DEFAULT_AGENT_LIMITS,
}: AssignerParts): Assigner {
  const changed = new WakeSignal();
  /** Keyed by location: a failing location does not delay the others. */
  const failing = new Map<string, Failing>();
  /** Kinds of failures logged since no location was failing. */
  const logged = new Set<string>();

  const report = (thrown: unknown, fields: Readonly<Record<string, unknown>>): void => {
    const kind = thrown instanceof StoreError ? thrown.code : 'fault';
    if (logged.has(kind)) return;
    logged.add(kind);
    const text = `checks cannot be assigned to agents now, retrying: ${messageOf(thrown)}`;
    if (!(thrown instanceof StoreError)) log.error({ ...fields, err: thrown }, text);
    // An unavailable database is not a fault of the service: requests get 503 for it, too.
    else log[thrown.kind === 'unavailable' ? 'warn' : 'error']({ ...fields, code: kind }, text);
  };

  const assignOne = async (locationId: string): Promise<boolean> => {
    try {
      const done = await store.transaction((tx) => assignLocation(tx, locationId, limits));
      failing.delete(locationId);
      return done;
    } catch (thrown) {
      report(thrown, { locationId });
      const backoff = failing.get(locationId)?.backoff ?? createBackoff();
      failing.set(locationId, { backoff, untilMs: clock.monotonicMs() + backoff.next() });
      return false;
    }
  };

  const passUntil = async (signal: AbortSignal | null): Promise<number> => {
    const nowMs = clock.monotonicMs();
    const except = [...failing].flatMap(([id, { untilMs }]) => (untilMs > nowMs ? [id] : []));
    const due = await locationsToAssign(store, { except, limit: MAX_LOCATIONS });
    for (const id of failing.keys()) {
      // Another replica handled the location, or it is gone.
      if (!due.includes(id) && !except.includes(id)) failing.delete(id);
    }
    let done = 0;
    for (const locationId of due) {
      if (signal?.aborted === true) break;
      if (await assignOne(locationId)) done += 1;
    }
    if (failing.size === 0) logged.clear();
    return done;
  };

  const listen = async (): Promise<(() => Promise<void>) | null> => {
    try {
      return await store.listen(CHANGES_CHANNEL, changed.ring, changed.ring);
    } catch (thrown) {
      report(thrown, {});
      return null;
    }
  };

  return {
    pass: () => passUntil(null),
    async run(signal) {
      let end: (() => Promise<void>) | null = null;
      const backoff = createBackoff();
      while (!signal.aborted) {
        end ??= await listen();
        let delayMs: number;
        try {
          if ((await passUntil(signal)) === MAX_LOCATIONS) changed.ring();
          backoff.reset();
          // Jitter: replicas that started together do not all poll at the same moment.
          delayMs = POLL_EVERY_MS * (0.75 + Math.random() / 2);
        } catch (thrown) {
          report(thrown, {});
          delayMs = backoff.next();
        }
        await changed.wait(clock, delayMs, signal);
      }
      // Rejects where the store is closed already.
      await end?.().catch(() => {});
    },
  };
}

function createBackoff(): Backoff {
  return new Backoff({ minMs: POLL_EVERY_MS * 2, maxMs: MAX_BACKOFF_MS });
}
