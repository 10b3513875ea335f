import { CHECK_LABELS } from './check-labels.ts';

/** One metric of the agent: a row of the README's table. */
export interface MetricRow {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  readonly meaning: string;
}

export const METRIC_TABLE = {
  startLateness: {
    name: 'vedette_start_lateness_seconds',
    type: 'histogram',
    labels: [],
    meaning: 'How long after its slot a run began.',
  },
  runs: {
    name: 'vedette_runs_total',
    type: 'counter',
    labels: ['type', 'result'],
    meaning: 'Finished runs by check type and result: passed, degraded, failed, error, cancelled.',
  },
  attempts: {
    name: 'vedette_attempts_total',
    type: 'counter',
    labels: [],
    meaning: 'Attempts that were reported, retries included.',
  },
  retries: {
    name: 'vedette_retries_total',
    type: 'counter',
    labels: [],
    meaning: 'Retries that finished runs took.',
  },
  missedSlots: {
    name: 'vedette_missed_slots_total',
    type: 'counter',
    labels: ['reason'],
    meaning: 'Slots that were not run, by reason.',
  },
  pausedSlots: {
    name: 'vedette_paused_slots_total',
    type: 'counter',
    labels: [],
    meaning: 'Slots that were skipped because of a maintenance window.',
  },
  starvedAttempts: {
    name: 'vedette_starved_attempts_total',
    type: 'counter',
    labels: [],
    meaning: 'Attempts without a verdict because the agent was short of CPU. Most are repeated.',
  },
  shed: {
    name: 'vedette_shed_total',
    type: 'counter',
    labels: ['what'],
    meaning: 'Work that was skipped because the agent was short of CPU: evidence, detail, run.',
  },
  bodiesWithoutRoom: {
    name: 'vedette_bodies_without_room_total',
    type: 'counter',
    labels: ['use'],
    meaning:
      'Response bodies that did not fit into the memory limit, by use: assertions (the attempt was repeated or the slot missed), detail (only the start is shown).',
  },
  droppedResults: {
    name: 'vedette_results_dropped_total',
    type: 'counter',
    labels: ['kind'],
    meaning:
      'Lines dropped because nobody read stdout or its buffer was full: attempt, result or missed.',
  },
  evidence: {
    name: 'vedette_evidence_total',
    type: 'counter',
    labels: ['outcome'],
    meaning:
      'Network failures by what happened to their evidence: made, or busy (two other passes were running).',
  },
  uploaded: {
    name: 'vedette_uploaded_total',
    type: 'counter',
    labels: [],
    meaning: 'Records that the service accepted: results, missed slots, artifacts.',
  },
  rejected: {
    name: 'vedette_rejected_total',
    type: 'counter',
    labels: ['kind'],
    meaning:
      'Records that the service permanently rejected, by kind: result, attempt, missed, artifact-note. The log says why.',
  },
  spoolDropped: {
    name: 'vedette_spool_dropped_total',
    type: 'counter',
    labels: ['kind', 'reason'],
    meaning:
      'Records dropped before the service accepted them, by kind and reason: space, age, memory, damage (also found at a start).',
  },
  spoolRecords: {
    name: 'vedette_spool_records',
    type: 'gauge',
    labels: [],
    meaning: 'Records that wait for the service.',
  },
  spoolBytes: {
    name: 'vedette_spool_bytes',
    type: 'gauge',
    labels: [],
    meaning: 'Bytes of waiting records, including artifacts.',
  },
  spoolOldestAge: {
    name: 'vedette_spool_oldest_age_seconds',
    type: 'gauge',
    labels: [],
    meaning: 'How long the oldest waiting record has waited; 0 if none waits.',
  },
  lastContact: {
    name: 'vedette_service_last_contact_timestamp_seconds',
    type: 'gauge',
    labels: [],
    meaning:
      'When the service last answered, in seconds since the epoch. Refusals of the key or of the protocol version do not count.',
  },
  exportDropped: {
    name: 'vedette_otlp_dropped_total',
    type: 'counter',
    labels: ['signal', 'reason'],
    meaning:
      'Spans (traces) and data points (metrics) that were not exported by OTLP, by reason: queue (too many waited), late (the next export of metrics was due), refused (by the receiver), stopped (with the agent).',
  },
  healthConnectionsClosed: {
    name: 'vedette_health_connections_closed_total',
    type: 'counter',
    labels: ['state'],
    meaning:
      'Connections to the health port that were closed, by their state: idle, or busy with a request, to make room for new ones; pipelining, for more than 8 requests without waiting for the answers.',
  },
  clockAhead: {
    name: 'vedette_clock_ahead_seconds',
    type: 'gauge',
    labels: [],
    meaning:
      "How far this machine's clock is ahead of the service's; below 0 it is behind. Results more than a minute ahead wait until their time comes.",
  },
  running: {
    name: 'vedette_running',
    type: 'gauge',
    labels: [],
    meaning:
      'Working runs. Runs that only wait for their target or their next attempt do not count.',
  },
  waiting: {
    name: 'vedette_waiting',
    type: 'gauge',
    labels: [],
    meaning: 'Runs that wait for their targets, without a permit.',
  },
  waitingLimit: {
    name: 'vedette_waiting_limit',
    type: 'gauge',
    labels: [],
    meaning:
      'Maximum of waiting runs, from open files and memory. Further runs keep their permits.',
  },
  queued: {
    name: 'vedette_queued',
    type: 'gauge',
    labels: [],
    meaning: 'Due runs that wait for a permit.',
  },
  checks: {
    name: 'vedette_checks',
    type: 'gauge',
    labels: [],
    meaning: 'Checks that the agent has to run.',
  },
  checkFileUsable: {
    name: 'vedette_check_file_usable',
    type: 'gauge',
    labels: [],
    meaning:
      '1 if the check file was valid when last read; 0 if not, and the previous checks continue.',
  },
  buildInfo: {
    name: 'vedette_build_info',
    type: 'gauge',
    labels: ['version'],
    meaning: 'Always 1; the label has the version.',
  },
  labelsLeftOut: {
    name: 'vedette_check_labels_left_out',
    type: 'gauge',
    labels: ['label'],
    meaning:
      'Label values of the current checks that were cut (targets) or left out (tags of METRIC_TAGS).',
  },
  up: {
    name: 'vedette_check_up',
    type: 'gauge',
    labels: CHECK_LABELS,
    meaning:
      '1 if the last judged run passed or was degraded, 0 if it failed. Runs that ended by a fault of the agent do not count.',
  },
  state: {
    name: 'vedette_check_state',
    type: 'gauge',
    labels: CHECK_LABELS,
    meaning: 'The state by the last judged run: 0 passing, 1 degraded, 2 failing.',
  },
  stateSince: {
    name: 'vedette_check_state_since_timestamp_seconds',
    type: 'gauge',
    labels: CHECK_LABELS,
    meaning:
      'The first slot in this state, in seconds since the epoch, as far as this agent has run the check since its start.',
  },
  responseTime: {
    name: 'vedette_check_response_time_seconds',
    type: 'gauge',
    labels: CHECK_LABELS,
    meaning: 'Response time of the last judged run.',
  },
  phaseDuration: {
    name: 'vedette_check_phase_duration_seconds',
    type: 'gauge',
    labels: [...CHECK_LABELS, 'phase'],
    meaning:
      'Phases of the last judged run. URL and API: wait, dns, tcp, tls, first_byte, download. TCP: dns, connection, tls, data. DNS over DOT and DOH: tcp, tls, query. ICMP: dns.',
  },
  statusCode: {
    name: 'vedette_check_status_code',
    type: 'gauge',
    labels: CHECK_LABELS,
    meaning:
      'HTTP status of the last judged run; none without a response. URL and API checks only.',
  },
  errorInfo: {
    name: 'vedette_check_error_info',
    type: 'gauge',
    labels: [...CHECK_LABELS, 'code'],
    meaning: 'Always 1; the label has the error code of the last judged run, if it has one.',
  },
  checkAttempts: {
    name: 'vedette_check_attempts',
    type: 'gauge',
    labels: CHECK_LABELS,
    meaning: 'Attempts that the last judged run took, retries included.',
  },
  certificateExpiry: {
    name: 'vedette_check_certificate_expiry_timestamp_seconds',
    type: 'gauge',
    labels: CHECK_LABELS,
    meaning: "When the target's certificate expires, in seconds since the epoch; TLS targets only.",
  },
  certificateDays: {
    name: 'vedette_check_certificate_days_remaining',
    type: 'gauge',
    labels: ['check_id', 'check_name', 'check_type'],
    meaning:
      "Deprecated: use vedette_check_certificate_expiry_timestamp_seconds. Days until the target's certificate expires, negative after that.",
  },
  lastRun: {
    name: 'vedette_check_last_run_timestamp_seconds',
    type: 'gauge',
    labels: CHECK_LABELS,
    meaning: 'When the last judged run stopped, in seconds since the epoch.',
  },
  packetLoss: {
    name: 'vedette_check_packet_loss_ratio',
    type: 'gauge',
    labels: CHECK_LABELS,
    meaning: 'Share of echo requests without a reply, 0 to 1; ICMP checks only.',
  },
} as const satisfies Record<string, MetricRow>;

/** A test compares the README's table of metrics with these rows. */
export const AGENT_METRICS: readonly MetricRow[] = Object.values(METRIC_TABLE);
