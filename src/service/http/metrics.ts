import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { sharedMetricsText } from '../../runtime/metrics/metrics-text.ts';
import { collectProcessMetrics } from '../../runtime/metrics/process-metrics.ts';
import { CLOSED_STATES, type ClosedState } from '../../runtime/net/connection-bound.ts';
import { addProblemMetrics } from '../alerts/monitoring-problems/problem-metrics.ts';
import { NO_SERVICE_COUNTS, type ServiceCounts } from '../state-counts/service-counts.ts';
import { addStateMetrics } from '../state-counts/state-metrics.ts';
import {
  NO_SUBSCRIPTION_COUNTS,
  type SubscriptionCounts,
} from '../status-pages/subscriptions/counts.ts';

/** Seconds: from responses out of memory to the end of a long poll. */
const DURATION_BUCKETS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
];
const METHODS: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
]);

/** What the features have counted since the start. */
export interface FeatureCounts {
  readonly deferredRecords: number;
  readonly artifacts: {
    readonly refused: Readonly<Record<string, number>>;
    readonly unclaimed: number;
  };
  /** Keyed by reason. */
  readonly agentRefusals: Readonly<Record<string, number>>;
  readonly silence: {
    /** Now. */
    readonly silentLocations: number;
    readonly silentSlotsMissed: number;
  };
  readonly events: {
    /** Now. */
    readonly open: number;
    readonly slow: number;
    readonly dropped: number;
  };
  readonly signIns: {
    readonly failures: number;
    /** Failed sign-ins that are in no audit log. */
    readonly unrecorded: number;
  };
  readonly subscriptions: SubscriptionCounts;
  /** Now. */
  readonly states: ServiceCounts;
  /** Keyed by result, without repeated alerts. */
  readonly alertDeliveries: Readonly<Record<'sent' | 'failed', number>>;
  /** Open alerts that were sent again, by result. */
  readonly alertRepeats: Readonly<Record<'sent' | 'failed', number>>;
  readonly problems: {
    /** Current numbers of all accounts, keyed by kind. */
    readonly open: Readonly<Record<string, number>>;
    /** null without DATA_DIR. */
    readonly disk: { readonly freeBytes: number; readonly sizeBytes: number } | null;
  };
  /** Requests to HEARTBEAT_URL, by result. */
  readonly ownHeartbeats: Readonly<Record<string, number>>;
}

export const NO_COUNTS: FeatureCounts = {
  deferredRecords: 0,
  artifacts: { refused: {}, unclaimed: 0 },
  agentRefusals: {},
  silence: { silentLocations: 0, silentSlotsMissed: 0 },
  events: { open: 0, slow: 0, dropped: 0 },
  signIns: { failures: 0, unrecorded: 0 },
  subscriptions: NO_SUBSCRIPTION_COUNTS,
  states: NO_SERVICE_COUNTS,
  alertDeliveries: { sent: 0, failed: 0 },
  alertRepeats: { sent: 0, failed: 0 },
  ownHeartbeats: {},
  problems: { open: {}, disk: null },
};

export interface FinishedRequest {
  readonly method: string;
  /** The route's pattern, never the path; null if no route was found. */
  readonly route: string | null;
  /** null if the client was gone before the answer was sent. */
  readonly status: number | null;
  readonly durationMs: number;
}

export interface ServiceMetrics {
  finished(request: FinishedRequest): void;
  /** Counts a connection that was closed because of a limit. */
  connectionClosed(state: ClosedState): void;
  /** Reads how many connections are open at each scrape. */
  readConnections(open: () => number): void;
  /** The metrics in the text format of Prometheus. Concurrent calls share one result. */
  text(): Promise<string>;
  /** The registry for metrics of other parts. */
  readonly registry: Registry;
}

/** Creates metrics with their own registry, so that two services in one process do not share one. */
export function createServiceMetrics(options: {
  readonly version: string;
  readonly inFlight: () => number;
  /** Called at each scrape. */
  readonly counts: () => FeatureCounts;
}): ServiceMetrics {
  const registry = new Registry();
  const registers = [registry];
  const requests = new Counter({
    name: 'vedette_service_http_requests_total',
    help: 'Requests answered, by method, route and status; "aborted" where the client was gone first.',
    labelNames: ['method', 'route', 'status'],
    registers,
  });
  const durations = new Histogram({
    name: 'vedette_service_http_request_duration_seconds',
    help: 'From the headers of a request to the end of its answer.',
    labelNames: ['method', 'route'],
    buckets: DURATION_BUCKETS,
    registers,
  });
  new Gauge({
    name: 'vedette_service_http_requests_in_flight',
    help: 'Requests that are being answered.',
    registers,
    collect() {
      this.set(options.inFlight());
    },
  });
  let openConnections = (): number => 0;
  new Gauge({
    name: 'vedette_service_http_connections',
    help: 'Open connections.',
    registers,
    collect() {
      this.set(openConnections());
    },
  });
  const closed = new Counter({
    name: 'vedette_service_http_connections_closed_total',
    help: 'Connections closed, by their state: idle, or busy with a request, to make room for new ones; pipelining, for more than 8 requests without waiting for the answers.',
    labelNames: ['state'],
    registers,
  });
  // Starts at 0: Prometheus sees no increase of a counter that first appears with 1.
  for (const state of CLOSED_STATES) closed.inc({ state }, 0);
  new Counter({
    name: 'vedette_service_records_deferred_total',
    help: "Records of agents that were too far ahead of the service's clock, and stay with the agent until their time comes.",
    registers,
    collect() {
      this.reset();
      this.inc(options.counts().deferredRecords);
    },
  });
  new Counter({
    name: 'vedette_service_artifacts_refused_total',
    help: 'Artifacts refused because a limit was reached, by limit: account (ARTIFACTS_MAX_GIB) or location (ARTIFACTS_MAX_GIB_PER_LOCATION).',
    labelNames: ['limit'],
    registers,
    collect() {
      this.reset();
      for (const [limit, count] of Object.entries(options.counts().artifacts.refused)) {
        this.inc({ limit }, count);
      }
    },
  });
  new Counter({
    name: 'vedette_service_artifacts_unclaimed_total',
    help: 'Artifacts removed because their result did not come within a day.',
    registers,
    collect() {
      this.reset();
      this.inc(options.counts().artifacts.unclaimed);
    },
  });
  new Counter({
    name: 'vedette_service_agents_refused_total',
    help: 'Polls of agents refused by reason: too_many_agents (MAX_AGENTS_PER_LOCATION) or ended (by an operator).',
    labelNames: ['reason'],
    registers,
    collect() {
      this.reset();
      for (const [reason, count] of Object.entries(options.counts().agentRefusals)) {
        this.inc({ reason }, count);
      }
    },
  });
  new Gauge({
    name: 'vedette_service_locations_silent',
    help: 'Private locations whose checks do not run because no agent polls; the same in each replica.',
    registers,
    collect() {
      this.set(options.counts().silence.silentLocations);
    },
  });
  new Counter({
    name: 'vedette_service_silent_slots_missed_total',
    help: 'Slots of silent locations that this replica recorded as missed.',
    registers,
    collect() {
      this.reset();
      this.inc(options.counts().silence.silentSlotsMissed);
    },
  });
  new Gauge({
    name: 'vedette_service_event_streams',
    help: 'Event streams that are open.',
    registers,
    collect() {
      this.set(options.counts().events.open);
    },
  });
  new Counter({
    name: 'vedette_service_event_streams_slow_total',
    help: 'Event streams that ended because the client read too slowly.',
    registers,
    collect() {
      this.reset();
      this.inc(options.counts().events.slow);
    },
  });
  new Counter({
    name: 'vedette_service_events_dropped_total',
    help: 'Events that were deleted before their time because their account had too many.',
    registers,
    collect() {
      this.reset();
      this.inc(options.counts().events.dropped);
    },
  });
  new Counter({
    name: 'vedette_service_sign_ins_failed_total',
    help: 'Sign-ins with a wrong email or password.',
    registers,
    collect() {
      this.reset();
      this.inc(options.counts().signIns.failures);
    },
  });
  new Counter({
    name: 'vedette_service_sign_ins_unrecorded_total',
    help: 'Failed sign-ins that are missing in the audit log, because too many came at once or the database was away.',
    registers,
    collect() {
      this.reset();
      this.inc(options.counts().signIns.unrecorded);
    },
  });
  new Counter({
    name: 'vedette_service_subscriber_messages_total',
    help: 'Messages to subscribers of status pages, by kind (email or webhook) and result: sent; failed after the last retry; bounced, where the mail server refused the address; withdrawn, where the update was deleted first.',
    labelNames: ['kind', 'result'],
    registers,
    collect() {
      this.reset();
      for (const [kind, results] of Object.entries(options.counts().subscriptions.messages)) {
        for (const [result, count] of Object.entries(results)) this.inc({ kind, result }, count);
      }
    },
  });
  new Counter({
    name: 'vedette_service_subscribers_removed_total',
    help: 'Subscribers of status pages that were removed, by reason: bounced (three refused mails in a row), gone (the webhook answered 410) or failing (five or more messages failed over two weeks, and none arrived).',
    labelNames: ['reason'],
    registers,
    collect() {
      this.reset();
      for (const [reason, count] of Object.entries(options.counts().subscriptions.removed)) {
        this.inc({ reason }, count);
      }
    },
  });
  new Counter({
    name: 'vedette_service_subscriptions_refused_total',
    help: 'Requests to subscribe to status pages that were refused, by reason: too many of a client, a page, an account, the service, an email address or the host of a webhook; a page with the most subscribers (full); a webhook that did not answer its challenge.',
    labelNames: ['reason'],
    registers,
    collect() {
      this.reset();
      for (const [reason, count] of Object.entries(options.counts().subscriptions.refused)) {
        this.inc({ reason }, count);
      }
    },
  });
  new Counter({
    name: 'vedette_service_own_heartbeats_total',
    help: 'Requests to HEARTBEAT_URL by this replica, by result: sent, failed, or skipped because the database does not work.',
    labelNames: ['result'],
    registers,
    collect() {
      this.reset();
      for (const [result, count] of Object.entries(options.counts().ownHeartbeats)) {
        this.inc({ result }, count);
      }
    },
  });
  addProblemMetrics(registry, options.counts);
  addStateMetrics(registry, options.counts);
  new Gauge({
    name: 'vedette_service_build_info',
    help: 'Always 1; the label is the version.',
    labelNames: ['version'],
    registers,
  }).set({ version: options.version }, 1);
  collectProcessMetrics(registry);
  return {
    registry,
    text: sharedMetricsText(registry),
    connectionClosed: (state) => closed.inc({ state }),
    readConnections(open) {
      openConnections = open;
    },
    finished({ method: given, route, status, durationMs }) {
      // Limits the values of the label: clients can send any method.
      const method = METHODS.has(given) ? given : 'other';
      const labels = { method, route: route ?? 'unmatched' };
      requests.inc({ ...labels, status: status ?? 'aborted' });
      durations.observe(labels, durationMs / 1000);
    },
  };
}
