import { Backoff } from '../../../runtime/backoff.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { messageOf } from '../../../runtime/errors.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { WakeSignal } from '../../../runtime/wake-signal.ts';
import type { Store } from '../../database/port.ts';
import { StoreError } from '../../database/store-errors.ts';
import { type AgentLimits, DEFAULT_AGENT_LIMITS } from '../agent-limits.ts';
import { assignLocation } from './assign-location.ts';
import { CHANGES_CHANNEL, locationsToAssign } from './location-changes.sql.ts';

/** Decides who runs what. Any number of replicas may do so at once, each location by one of them. */
export interface Assigner {
  /** Until the signal aborts. Never rejects: what fails is logged and tried again. */
  run(signal: AbortSignal): Promise<void>;
  /**
   * Once, all locations with something to do.
   *
   * @returns how many were done, by us
   * @throws StoreError where the database cannot be asked which they are
   */
  pass(): Promise<number>;
}

export interface AssignerParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** Left out, DEFAULT_AGENT_LIMITS. */
  readonly agentLimits?: AgentLimits;
}

/** Nothing tells of a lease that ended, so it is looked for; and of a word that got lost. */
const LOOK_EVERY_MS = 1_000;
const MAX_BACKOFF_MS = 30_000;
const MAX_LOCATIONS = 500;

interface Trouble {
  readonly backoff: Backoff;
  /** Monotonic: the location is skipped until then. */
  readonly untilMs: number;
}

export function createAssigner({
  store,
  clock,
  log,
  agentLimits: limits = DEFAULT_AGENT_LIMITS,
}: AssignerParts): Assigner {
  const bell = new WakeSignal();
  /** By location; one that fails keeps none of the others waiting. */
  const troubles = new Map<string, Trouble>();
  /** Kinds of failures that were logged since all went well. */
  const logged = new Set<string>();

  const report = (thrown: unknown, fields: Readonly<Record<string, unknown>>): void => {
    const kind = thrown instanceof StoreError ? thrown.code : 'fault';
    if (logged.has(kind)) return;
    logged.add(kind);
    const text = `checks cannot be assigned to agents now, retrying: ${messageOf(thrown)}`;
    if (!(thrown instanceof StoreError)) log.error({ ...fields, err: thrown }, text);
    // A database that is away for a while is no fault of the service: requests say the same, as 503.
    else log[thrown.kind === 'unavailable' ? 'warn' : 'error']({ ...fields, code: kind }, text);
  };

  const assignOne = async (locationId: string): Promise<boolean> => {
    try {
      const done = await store.transaction((tx) => assignLocation(tx, locationId, limits));
      troubles.delete(locationId);
      return done;
    } catch (thrown) {
      report(thrown, { locationId });
      const backoff = troubles.get(locationId)?.backoff ?? createBackoff();
      troubles.set(locationId, { backoff, untilMs: clock.monotonicMs() + backoff.next() });
      return false;
    }
  };

  const passUntil = async (signal: AbortSignal | null): Promise<number> => {
    const nowMs = clock.monotonicMs();
    const except = [...troubles].flatMap(([id, { untilMs }]) => (untilMs > nowMs ? [id] : []));
    const due = await locationsToAssign(store, { except, limit: MAX_LOCATIONS });
    for (const id of troubles.keys()) {
      // Whatever was due there is done, by another replica, or the location is gone.
      if (!due.includes(id) && !except.includes(id)) troubles.delete(id);
    }
    let done = 0;
    for (const locationId of due) {
      if (signal?.aborted === true) break;
      if (await assignOne(locationId)) done += 1;
    }
    if (troubles.size === 0) logged.clear();
    return done;
  };

  const listen = async (): Promise<(() => Promise<void>) | null> => {
    try {
      return await store.listen(CHANGES_CHANNEL, bell.ring, bell.ring);
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
          if ((await passUntil(signal)) === MAX_LOCATIONS) bell.ring();
          backoff.reset();
          // Replicas that started together do not all run at the same moment.
          delayMs = LOOK_EVERY_MS * (0.75 + Math.random() / 2);
        } catch (thrown) {
          report(thrown, {});
          delayMs = backoff.next();
        }
        await bell.wait(clock, delayMs, signal);
      }
      // The store may be closed by now, and then there is nothing to end.
      await end?.().catch(() => {});
    },
  };
}

function createBackoff(): Backoff {
  return new Backoff({ minMs: LOOK_EVERY_MS * 2, maxMs: MAX_BACKOFF_MS });
}
