/** Series in promtool's notation, one sample a minute, and the one alert that they raise. */
export interface AlertCase {
  readonly alert: string;
  /** How many targets it fires for; one by default. */
  readonly count?: number;
  readonly series: Readonly<Record<string, string>>;
}

const AGENT = 'job="vedette-agent", instance="agent-1:8081"';
const OTHER_AGENT = 'job="vedette-agent", instance="agent-2:8081"';
const SERVICE = 'job="vedette-service", instance="service:8080"';
const TARGET = `${AGENT}, check_id="shop", check_name="Shop", check_type="URL", target="https://shop.example/", location="office"`;
const LOCATION = `${SERVICE}, account_id="acme", location="office"`;
const POLL = 'method="POST", route="/agent/v1/poll"';
const LATENCY = 'vedette_service_http_request_duration_seconds_bucket';
/** Zero for ten minutes, then one: a counter that existed from the start. */
const ONCE = '0x10 1x5';

/** The situation that each rule detects. The tests check that no other rule fires. */
export const ALERT_CASES: readonly AlertCase[] = [
  { alert: 'VedetteAgentDown', series: { [`up{${AGENT}}`]: '0x15' } },
  {
    alert: 'VedetteServiceOutOfReach',
    count: 2,
    series: {
      [`vedette_service_last_contact_timestamp_seconds{${AGENT}}`]: '60x15',
      // Has never succeeded since its start.
      [`process_start_time_seconds{${OTHER_AGENT}}`]: '60x15',
      [`vedette_spool_records{${OTHER_AGENT}}`]: '0x15',
    },
  },
  {
    alert: 'VedetteResultsWait',
    series: { [`vedette_spool_oldest_age_seconds{${AGENT}}`]: '0+60x15' },
  },
  {
    alert: 'VedetteResultsLost',
    series: { [`vedette_spool_dropped_total{${AGENT}, kind="result", reason="space"}`]: ONCE },
  },
  {
    alert: 'VedetteResultsRefused',
    series: { [`vedette_rejected_total{${AGENT}, kind="result"}`]: ONCE },
  },
  {
    alert: 'VedetteClockAhead',
    series: { [`vedette_clock_ahead_seconds{${AGENT}}`]: '45x15' },
  },
  {
    alert: 'VedetteLinesLost',
    series: { [`vedette_results_dropped_total{${AGENT}, kind="result"}`]: ONCE },
  },
  {
    alert: 'VedetteSlotsMissed',
    series: { [`vedette_missed_slots_total{${AGENT}, reason="agent_busy"}`]: ONCE },
  },
  { alert: 'VedetteAgentStarved', series: { [`vedette_starved_attempts_total{${AGENT}}`]: ONCE } },
  { alert: 'VedetteRunsQueue', series: { [`vedette_queued{${AGENT}}`]: '3x15' } },
  {
    alert: 'VedetteRunsLate',
    series: {
      [`vedette_start_lateness_seconds_bucket{${AGENT}, le="1"}`]: '0+90x15',
      [`vedette_start_lateness_seconds_bucket{${AGENT}, le="5"}`]: '0+100x15',
      [`vedette_start_lateness_seconds_bucket{${AGENT}, le="+Inf"}`]: '0+100x15',
    },
  },
  {
    // Longer than the quarter of an hour of the rule.
    alert: 'VedetteRunErrors',
    series: { [`vedette_runs_total{${AGENT}, type="ICMP", result="error"}`]: '0+1x40' },
  },
  {
    alert: 'VedetteCheckFileUnusable',
    series: { [`vedette_check_file_usable{${AGENT}}`]: '0x15' },
  },
  {
    alert: 'VedetteServiceDown',
    series: {
      [`up{${SERVICE}}`]: '1x2 0x17',
      // Its last values about agents are outdated.
      [`vedette_service_agents_live{${LOCATION}}`]: '2x2 _x17',
    },
  },
  {
    alert: 'VedetteServiceErrors',
    series: {
      [`vedette_service_http_requests_total{${SERVICE}, ${POLL}, status="200"}`]: '0+600x15',
      [`vedette_service_http_requests_total{${SERVICE}, ${POLL}, status="503"}`]: '0+60x15',
    },
  },
  {
    alert: 'VedetteServiceSlow',
    series: {
      [`${LATENCY}{${SERVICE}, method="GET", route="/v1/checks", le="1"}`]: '0+90x15',
      [`${LATENCY}{${SERVICE}, method="GET", route="/v1/checks", le="5"}`]: '0+100x15',
      [`${LATENCY}{${SERVICE}, method="GET", route="/v1/checks", le="+Inf"}`]: '0+100x15',
    },
  },
  {
    alert: 'VedetteKeysRefused',
    series: {
      [`vedette_service_http_requests_total{${SERVICE}, ${POLL}, status="401"}`]: '0+1x15',
    },
  },
  {
    alert: 'VedetteAgentsRefused',
    series: {
      [`vedette_service_agents_refused_total{${SERVICE}, reason="too_many_agents"}`]: ONCE,
    },
  },
  {
    alert: 'VedetteLocationSilent',
    series: { [`vedette_service_locations_silent{${SERVICE}}`]: '1x15' },
  },
  {
    alert: 'VedetteMonitoringProblem',
    series: {
      [`vedette_service_monitoring_problems{${SERVICE}, kind="CHANNEL_FAILING"}`]: '1x15',
      [`vedette_service_monitoring_problems{${SERVICE}, kind="SLOTS_MISSED"}`]: '0x15',
    },
  },
  {
    alert: 'VedetteDiskNearlyFull',
    series: {
      [`vedette_service_disk_free_bytes{${SERVICE}}`]: '5000000000x15',
      [`vedette_service_disk_size_bytes{${SERVICE}}`]: '100000000000x15',
    },
  },
  {
    alert: 'VedetteArtifactsRefused',
    series: { [`vedette_service_artifacts_refused_total{${SERVICE}, limit="location"}`]: ONCE },
  },
  {
    alert: 'VedetteVersionsApart',
    series: {
      [`vedette_service_http_requests_total{${SERVICE}, ${POLL}, status="426"}`]: '0+1x40',
    },
  },
  {
    alert: 'VedetteEventLoopBlocked',
    series: { [`nodejs_eventloop_lag_p99_seconds{${AGENT}}`]: '0.3x15' },
  },
  {
    alert: 'VedetteFilesRunOut',
    series: {
      [`process_open_fds{${SERVICE}}`]: '900x15',
      [`process_max_fds{${SERVICE}}`]: '1000x15',
    },
  },
  { alert: 'VedetteTargetDown', series: { [`vedette_check_state{${TARGET}}`]: '0x5 2x10' } },
  { alert: 'VedetteTargetDegraded', series: { [`vedette_check_state{${TARGET}}`]: '1x15' } },
  {
    alert: 'VedetteTargetSlow',
    series: {
      [`vedette_check_state{${TARGET}}`]: '0x90',
      [`vedette_check_response_time_seconds{${TARGET}}`]: '0.1x65 0.5x24',
    },
  },
  {
    alert: 'VedetteTargetCertificate',
    series: { [`vedette_check_certificate_expiry_timestamp_seconds{${TARGET}}`]: '864000x15' },
  },
  {
    alert: 'VedetteLocationWithoutAgents',
    series: { [`vedette_service_agents_live{${LOCATION}}`]: '2x10 0x10' },
  },
];

/** A healthy stack under load. */
export const ALL_IS_WELL: AlertCase['series'] = {
  [`up{${AGENT}}`]: '1x40',
  [`up{${SERVICE}}`]: '1x40',
  [`vedette_service_last_contact_timestamp_seconds{${AGENT}}`]: '0+60x40',
  [`vedette_spool_records{${AGENT}}`]: '0x40',
  [`process_start_time_seconds{${AGENT}}`]: '0x40',
  // It runs a check file, without a service.
  [`process_start_time_seconds{${OTHER_AGENT}}`]: '0x40',
  [`process_start_time_seconds{${SERVICE}}`]: '0x40',
  [`vedette_spool_oldest_age_seconds{${AGENT}}`]: '0 90x3 0x36',
  [`vedette_queued{${AGENT}}`]: '0 5x4 0 5x4 0x30',
  [`vedette_start_lateness_seconds_bucket{${AGENT}, le="0.01"}`]: '0+100x40',
  [`vedette_start_lateness_seconds_bucket{${AGENT}, le="+Inf"}`]: '0+100x40',
  [`vedette_runs_total{${AGENT}, type="URL", result="failed"}`]: '0+10x40',
  [`vedette_runs_total{${AGENT}, type="URL", result="error"}`]: '0x40',
  [`vedette_missed_slots_total{${AGENT}, reason="agent_busy"}`]: '4x40',
  // Runs of a target that is down take long by their retries.
  [`vedette_missed_slots_total{${AGENT}, reason="previous_run_active"}`]: '0+1x40',
  [`vedette_check_file_usable{${AGENT}}`]: '1x40',
  [`vedette_service_http_requests_total{${SERVICE}, ${POLL}, status="200"}`]: '0+6000x40',
  [`vedette_service_http_requests_total{${SERVICE}, ${POLL}, status="500"}`]: '0+4x40',
  // A held poll is not slow.
  [`${LATENCY}{${SERVICE}, ${POLL}, le="5"}`]: '0x40',
  [`${LATENCY}{${SERVICE}, ${POLL}, le="+Inf"}`]: '0+6000x40',
  // Neither is a stream of events, which is open for minutes.
  [`${LATENCY}{${SERVICE}, method="GET", route="/v1/events", le="5"}`]: '0x40',
  [`${LATENCY}{${SERVICE}, method="GET", route="/v1/events", le="+Inf"}`]: '0+600x40',
  // Nor is a request that changes many checks.
  [`${LATENCY}{${SERVICE}, method="POST", route="/v1/checks/bulk", le="5"}`]: '0x40',
  [`${LATENCY}{${SERVICE}, method="POST", route="/v1/checks/bulk", le="+Inf"}`]: '0+600x40',
  [`nodejs_eventloop_lag_p99_seconds{${AGENT}}`]: '0.022x40',
  [`process_open_fds{${SERVICE}}`]: '50x40',
  [`process_max_fds{${SERVICE}}`]: '1000x40',
  [`vedette_check_state{${TARGET}}`]: '0x10 2x1 0x10 1x5 0x10',
  // Twice as slow as usual, but by a few milliseconds only.
  [`vedette_check_response_time_seconds{${TARGET}}`]: '0.01x20 0.03x19',
  [`vedette_check_certificate_expiry_timestamp_seconds{${TARGET}}`]: '8640000x40',
  // One of two agents was replaced.
  [`vedette_service_agents_live{${LOCATION}}`]: '2x20 1x19',
  // It never had an agent.
  [`vedette_service_agents_live{${SERVICE}, account_id="acme", location="empty"}`]: '0x40',
  // It was deleted.
  [`vedette_service_agents_live{${SERVICE}, account_id="acme", location="deleted"}`]: '2x20 _x19',
};

/** For `promtool test rules`: each case separately, and the alerts that fire at its end. */
export function alertTests(ruleFiles: readonly string[]): unknown {
  const test = (name: string, series: AlertCase['series'], firing: readonly AlertCase[]) => {
    const minutes = Math.max(...Object.values(series).map(minutesOf));
    return {
      name,
      interval: '1m',
      input_series: Object.entries(series).map(([one, values]) => ({ series: one, values })),
      promql_expr_test: [
        {
          expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
          eval_time: `${minutes}m`,
          exp_samples: firing.map(({ alert, count = 1 }) => ({
            labels: `{alertname="${alert}"}`,
            value: count,
          })),
        },
      ],
    };
  };
  return {
    rule_files: ruleFiles,
    evaluation_interval: '1m',
    tests: [
      ...ALERT_CASES.map((one) => test(one.alert, one.series, [one])),
      test('all is well', ALL_IS_WELL, []),
    ],
  };
}

/** The time of the last sample in promtool's notation, from 0. */
function minutesOf(values: string): number {
  const samples = values.split(' ').map((part) => Number(/x(\d+)$/.exec(part)?.[1] ?? 0) + 1);
  return samples.reduce((sum, count) => sum + count, 0) - 1;
}
