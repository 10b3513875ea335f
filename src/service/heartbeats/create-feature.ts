import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { Allowance } from '../accounts/allowance.ts';
import type { Store } from '../database/store.ts';
import { createHeartbeatEvents, type HeartbeatEvents } from './events.ts';
import type { HeartbeatState } from './heartbeat-state-machine.ts';
import { createHeartbeats, type Heartbeats } from './heartbeats.ts';
import { createPausesBetween } from './pauses.ts';
import { PingThrottle } from './pings/ping-throttle.ts';
import { createPings, type HeartbeatPings } from './pings/pings.ts';
import { createPresence } from './service-presence.ts';
import type { HeartbeatAlerts } from './transitions.ts';
import { createWatch, type HeartbeatWatch } from './watch.ts';

export interface HeartbeatFeatureParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** Makes a UUID. */
  readonly ids: () => string;
  /** Retention of events in whole days. */
  readonly retentionDays: number;
  /** Retention of hourly downtime in days. */
  readonly rollUpRetentionDays: number;
  readonly allowance: Allowance;
  readonly alerts: HeartbeatAlerts;
}

export interface HeartbeatFeatures {
  readonly heartbeats: Heartbeats;
  readonly heartbeatEvents: HeartbeatEvents;
  readonly heartbeatPings: HeartbeatPings;
  readonly heartbeatWatch: HeartbeatWatch;
}

export function createHeartbeatFeatures(given: HeartbeatFeatureParts): HeartbeatFeatures {
  const parts = {
    ...given,
    pausesBetween: createPausesBetween(),
    throttle: new PingThrottle<HeartbeatState | null>(given.clock),
    presence: createPresence(given),
  };
  return {
    heartbeats: createHeartbeats(parts),
    heartbeatEvents: createHeartbeatEvents(parts),
    heartbeatPings: createPings(parts),
    heartbeatWatch: createWatch(parts),
  };
}
