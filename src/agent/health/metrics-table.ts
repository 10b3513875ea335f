/** One metric of the agent: a row of the README's table. */
export interface MetricRow {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  readonly meaning: string;
}

const CHECK_LABELS = ['check_id', 'check_name', 'check_type'] as const;

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
    meaning: 'Slots that were left out for a maintenance window.',
  },
  starvedAttempts: {
    name: 'vedette_starved_attempts_total',
    type: 'counter',
    labels: [],
    meaning:
      'Attempts without a verdict, as the agent itself was short of CPU in them; most are run again.',
  },
  shed: {
    name: 'vedette_shed_total',
    type: 'counter',
    labels: ['what'],
    meaning: 'What was left out as the agent was short of CPU: evidence, detail, run.',
  },
  bodiesWithoutRoom: {
    name: 'vedette_bodies_without_room_total',
    type: 'counter',
    labels: ['use'],
    meaning:
      'Response bodies for which the memory of all bodies had no room: assertions, whose attempts were made again or missed (agent_busy); detail, of which failed attempts show only the start.',
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
      'Runs that failed for the network, by what became of their evidence: made, or busy where two others were under way.',
  },
  uploaded: {
    name: 'vedette_uploaded_total',
    type: 'counter',
    labels: [],
    meaning: 'Records that the service has taken over: results, missed slots, artifacts.',
  },
  rejected: {
    name: 'vedette_rejected_total',
    type: 'counter',
    labels: ['kind'],
    meaning:
      'Records that the service refused for good, by kind: result, attempt, missed, artifact-note. The log says why.',
  },
  spoolDropped: {
    name: 'vedette_spool_dropped_total',
    type: 'counter',
    labels: ['kind', 'reason'],
    meaning:
      'Records given up before the service had them, by kind and reason: space, age, memory, damage (found at a start, too).',
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
    meaning: 'What they take, artifacts included.',
  },
  spoolOldestAge: {
    name: 'vedette_spool_oldest_age_seconds',
    type: 'gauge',
    labels: [],
    meaning: 'How long the oldest of them has waited; 0 where none waits.',
  },
  lastContact: {
    name: 'vedette_service_last_contact_timestamp_seconds',
    type: 'gauge',
    labels: [],
    meaning:
      'When the service last answered, in seconds since the epoch. Refusals of the key or of the protocol version do not count.',
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
      'Runs at work; those that only wait, for their target or their next attempt, are left out.',
  },
  waiting: {
    name: 'vedette_waiting',
    type: 'gauge',
    labels: [],
    meaning: 'Runs that only wait for their targets, and take no place.',
  },
  waitingLimit: {
    name: 'vedette_waiting_limit',
    type: 'gauge',
    labels: [],
    meaning:
      'How many runs may wait for their targets, by open files and memory; further ones keep their places.',
  },
  queued: {
    name: 'vedette_queued',
    type: 'gauge',
    labels: [],
    meaning: 'Runs that are due and wait for a place.',
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
      '1 where the check file could be used when it was last read, 0 where it could not and the checks read before go on.',
  },
  buildInfo: {
    name: 'vedette_build_info',
    type: 'gauge',
    labels: ['version'],
    meaning: 'Always 1; the label tells the version.',
  },
  up: {
    name: 'vedette_check_up',
    type: 'gauge',
    labels: CHECK_LABELS,
    meaning:
      '1 where the last judged run passed or was degraded, 0 where it failed. Runs that ended for a fault of the agent judge nothing.',
  },
  responseTime: {
    name: 'vedette_check_response_time_seconds',
    type: 'gauge',
    labels: CHECK_LABELS,
    meaning: 'Response time of the last judged run.',
  },
  certificateDays: {
    name: 'vedette_check_certificate_days_remaining',
    type: 'gauge',
    labels: CHECK_LABELS,
    meaning: "Days until the target's certificate ends, negative after it; TLS targets only.",
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
export const METRICS: readonly MetricRow[] = Object.values(METRIC_TABLE);
