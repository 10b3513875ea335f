import { describe, expect, it } from 'vitest';
import type { GaugedCheck } from '../../../../src/agent/metrics/check-labels.ts';
import {
  AGENT_METRICS,
  type AgentMetrics,
  createMetrics,
} from '../../../../src/agent/metrics/metrics.ts';
import { MISSED_REASONS } from '../../../../src/model/result/missed-slots.ts';
import { metricsText } from '../../../support/agent/metrics-text.ts';
import { resultFor } from '../../../support/samples/results.ts';

const CHECK = {
  id: 'a-check',
  name: 'A check',
  checkType: 'URL',
  tags: [],
  request: { url: 'https://example.com/' } as never,
} satisfies GaugedCheck;
const IDENTITY = 'check_id="a-check",check_name="A check",check_type="URL"';
const LABELS = `${IDENTITY},target="https://example.com/",location="local",tags=""`;
const EXPIRY = '2026-02-01T00:00:00.000Z';

async function linesOf(metrics: Pick<AgentMetrics, 'exposition'>): Promise<string[]> {
  return (await metricsText(metrics)).split('\n');
}

function httpDetail(fields: object) {
  const tls = { certificate: { daysRemaining: 12, validTo: EXPIRY } };
  return { apiCheckResult: { response: { tls }, ...fields } as never };
}

const noLink = () => ({ spool: null, lastContactMs: null, clockAheadMs: null });

describe('the exposition', () => {
  it('contains every metric of the table with its type and meaning, and no other of ours', async () => {
    const metrics = createMetrics({ version: '1.2.3' });
    const lines = await linesOf(metrics);
    for (const { name, type, meaning } of AGENT_METRICS) {
      expect(lines).toContain(`# HELP ${name} ${meaning}`);
      expect(lines).toContain(`# TYPE ${name} ${type}`);
    }
    const ours = lines.filter((line) => line.startsWith('# TYPE vedette_'));
    expect(ours).toHaveLength(AGENT_METRICS.length);
    expect(lines).toContain('vedette_build_info{version="1.2.3"} 1');
    expect(metrics.contentType).toBe('text/plain; version=0.0.4; charset=utf-8');
  });

  it('contains CPU, memory and event loop lag of the process', async () => {
    const text = await metricsText(createMetrics({ version: '1' }));
    expect(text).toMatch(/^process_cpu_seconds_total [\d.e-]+$/m);
    expect(text).toMatch(/^process_resident_memory_bytes \d+$/m);
    expect(text).toMatch(/^nodejs_eventloop_lag_p99_seconds /m);
  });

  it('is rendered once for concurrent requests', async () => {
    const metrics = createMetrics({ version: '1' });
    expect(metrics.exposition()).toBe(metrics.exposition());
    const first = await metricsText(metrics);
    metrics.starved();
    expect(await metricsText(metrics)).not.toBe(first);
  });

  it('keeps two agents in one process apart', async () => {
    const one = createMetrics({ version: '1' });
    const other = createMetrics({ version: '1' });
    one.starved();
    expect(await linesOf(other)).toContain('vedette_starved_attempts_total 0');
  });

  it('yields to the event loop while it renders many checks, and rarely otherwise', async () => {
    const turnsFor = async (count: number): Promise<number> => {
      const metrics = createMetrics({ version: '1' });
      const checks = Array.from({ length: count }, (_, n) => ({ ...CHECK, id: `check-${n}` }));
      metrics.setChecks(checks);
      for (const { id } of checks) metrics.finished(resultFor({ checkId: id }));
      let turns = 0;
      const turn = (): void => {
        turns += 1;
        next = setImmediate(turn);
      };
      let next = setImmediate(turn);
      await metricsText(metrics);
      clearImmediate(next);
      return turns;
    };
    // One for each metric would be seconds where the loop is busy.
    expect(await turnsFor(0)).toBeLessThan(AGENT_METRICS.length / 2);
    expect(await turnsFor(30_000)).toBeGreaterThanOrEqual(3);
  });
});

describe('counters', () => {
  it('start at 0 for every reason, type and result, so the first increase is visible', async () => {
    const lines = await linesOf(createMetrics({ version: '1' }));
    expect(lines).toContain('vedette_runs_total{type="ICMP",result="failed"} 0');
    for (const reason of Object.keys(MISSED_REASONS)) {
      expect(lines).toContain(`vedette_missed_slots_total{reason="${reason}"} 0`);
    }
  });

  it('count runs by result, attempts and retries', async () => {
    const metrics = createMetrics({ version: '1' });
    metrics.finished(resultFor({ resultType: 'ATTEMPT', hasFailures: true }));
    metrics.finished(resultFor({ resultType: 'ATTEMPT', hasFailures: true, attempts: 1 }));
    metrics.finished(resultFor({ hasFailures: true, attempts: 2 }));
    metrics.finished(resultFor());
    metrics.finished(resultFor({ isDegraded: true }));
    metrics.finished(resultFor({ hasErrors: true, hasFailures: true, checkType: 'ICMP' }));
    metrics.finished(resultFor({ isCancelled: true, hasFailures: true }));
    const lines = await linesOf(metrics);
    for (const expected of [
      'vedette_runs_total{type="URL",result="passed"} 1',
      'vedette_runs_total{type="URL",result="degraded"} 1',
      'vedette_runs_total{type="URL",result="failed"} 1',
      'vedette_runs_total{type="URL",result="cancelled"} 1',
      'vedette_runs_total{type="ICMP",result="error"} 1',
      'vedette_runs_total{type="ICMP",result="failed"} 0',
      'vedette_attempts_total 7',
      'vedette_retries_total 2',
    ]) {
      expect(lines).toContain(expected);
    }
  });

  it('count missed slots and lost lines, and sum them up', async () => {
    const metrics = createMetrics({ version: '1' });
    metrics.missed({ checkId: 'a', slot: 0, lastSlot: 2, count: 3, reason: 'clock_jump' });
    metrics.missed({ checkId: 'b', slot: 0, lastSlot: 0, count: 1, reason: 'agent_busy' });
    metrics.dropped('attempt', 5);
    metrics.dropped('result', 1);
    const lines = await linesOf(metrics);
    expect(lines).toContain('vedette_missed_slots_total{reason="clock_jump"} 3');
    expect(lines).toContain('vedette_missed_slots_total{reason="agent_busy"} 1');
    expect(lines).toContain('vedette_results_dropped_total{kind="attempt"} 5');
    expect(metrics.totals).toEqual({ missedSlots: 4, droppedLines: 6 });
  });

  it('count diagnostic passes, from 0 on', async () => {
    const metrics = createMetrics({ version: '1' });
    metrics.evidence('made');
    const lines = await linesOf(metrics);
    expect(lines).toContain('vedette_evidence_total{outcome="made"} 1');
    expect(lines).toContain('vedette_evidence_total{outcome="busy"} 0');
  });

  it('put a late start, given in milliseconds, into buckets of seconds', async () => {
    const metrics = createMetrics({ version: '1' });
    metrics.startLate(3);
    metrics.startLate(-1);
    const lines = await linesOf(metrics);
    expect(lines).toContain('vedette_start_lateness_seconds_bucket{le="0.001"} 1');
    expect(lines).toContain('vedette_start_lateness_seconds_bucket{le="0.005"} 2');
    expect(lines).toContain('vedette_start_lateness_seconds_sum 0.003');
  });
});

describe('the load', () => {
  it('is read at each scrape', async () => {
    const metrics = createMetrics({ version: '1' });
    const load = { running: 3, waiting: 7, maxWaiting: 500, queued: 40 };
    metrics.bind(load, { checkFileUsable: null }, noLink);
    expect(await linesOf(metrics)).toContain('vedette_running 3');
    load.running = 2;
    const lines = await linesOf(metrics);
    expect(lines).toContain('vedette_running 2');
    expect(lines).toContain('vedette_waiting 7');
    expect(lines).toContain('vedette_waiting_limit 500');
    expect(lines).toContain('vedette_queued 40');
  });
});

describe("the difference to the service's clock", () => {
  it('is in seconds, below 0 where the clock is behind, and has no series before an answer', async () => {
    const metrics = createMetrics({ version: '1' });
    const value = async () =>
      /^vedette_clock_ahead_seconds (.*)$/m.exec(await metricsText(metrics))?.[1];
    const load = { running: 0, waiting: 0, maxWaiting: 0, queued: 0 };
    let clockAheadMs: number | null = null;
    metrics.bind(load, { checkFileUsable: null }, () => ({ ...noLink(), clockAheadMs }));
    expect(await value()).toBeUndefined();
    clockAheadMs = 90_500;
    expect(await value()).toBe('90.5');
    clockAheadMs = -1500;
    expect(await value()).toBe('-1.5');
  });
});

describe('the check file', () => {
  it('is 1 or 0 by whether it is usable, and has no series without a file', async () => {
    const metrics = createMetrics({ version: '1' });
    const value = async () =>
      /^vedette_check_file_usable (.*)$/m.exec(await metricsText(metrics))?.[1];
    expect(await value()).toBeUndefined();
    const source: { checkFileUsable: boolean | null } = { checkFileUsable: true };
    metrics.bind({ running: 0, waiting: 0, maxWaiting: 0, queued: 0 }, source, noLink);
    expect(await value()).toBe('1');
    source.checkFileUsable = false;
    expect(await value()).toBe('0');
    source.checkFileUsable = null;
    expect(await value()).toBeUndefined();
  });
});

describe('the gauges of a check', () => {
  it('show its last judged run', async () => {
    const metrics = createMetrics({ version: '1' });
    metrics.setChecks([CHECK]);
    metrics.finished(resultFor(httpDetail({})));
    const lines = await linesOf(metrics);
    expect(lines).toContain('vedette_checks 1');
    expect(lines).toContain(`vedette_check_up{${LABELS}} 1`);
    expect(lines).toContain(`vedette_check_response_time_seconds{${LABELS}} 1.5`);
    expect(lines).toContain(`vedette_check_certificate_days_remaining{${IDENTITY}} 12`);
    expect(lines).toContain(
      `vedette_check_certificate_expiry_timestamp_seconds{${LABELS}} ${Date.parse(EXPIRY) / 1000}`,
    );
    expect(lines).toContain(`vedette_check_attempts{${LABELS}} 1`);
    expect(lines).toContain(`vedette_check_state{${LABELS}} 0`);
    expect(lines).toContain(
      `vedette_check_last_run_timestamp_seconds{${LABELS}} ${Date.UTC(2026, 0, 1) / 1000 + 1.5}`,
    );
    metrics.finished(resultFor({ isDegraded: true }));
    expect(await linesOf(metrics)).toContain(`vedette_check_up{${LABELS}} 1`);
    metrics.finished(resultFor({ hasFailures: true }));
    expect(await linesOf(metrics)).toContain(`vedette_check_up{${LABELS}} 0`);
  });

  it('show the state, and since which slot it lasts', async () => {
    const metrics = createMetrics({ version: '1' });
    metrics.setChecks([CHECK]);
    const shown = async () =>
      (await linesOf(metrics))
        .filter((line) => line.startsWith('vedette_check_state'))
        .map((line) => Number(line.split(' ').at(-1)));
    const minute = (n: number) => ({ checkRunId: n * 60_000 });
    metrics.finished(resultFor(minute(1)));
    metrics.finished(resultFor({ ...minute(2), hasFailures: true }));
    metrics.finished(resultFor({ ...minute(3), hasFailures: true }));
    expect(await shown()).toEqual([2, 120]);
    // A retry of another location that ended late.
    metrics.finished(resultFor({ ...minute(2), hasFailures: true }));
    expect(await shown()).toEqual([2, 120]);
    metrics.finished(resultFor({ ...minute(4), isDegraded: true }));
    expect(await shown()).toEqual([1, 240]);
  });

  it('show the status, the phases, the error code and the attempts of the last run', async () => {
    const metrics = createMetrics({ version: '1' });
    metrics.setChecks([CHECK]);
    const timingPhases = { dns: 2, tcp: 10, firstByte: 250, total: 262 };
    const response = { status: 503, tls: null, timingPhases };
    metrics.finished(resultFor({ hasFailures: true, attempts: 2, ...httpDetail({ response }) }));
    const lines = await linesOf(metrics);
    expect(lines).toContain(`vedette_check_status_code{${LABELS}} 503`);
    expect(lines).toContain(`vedette_check_attempts{${LABELS}} 3`);
    const phases = lines.filter((line) => line.startsWith('vedette_check_phase_duration_seconds{'));
    expect(phases).toEqual([
      `vedette_check_phase_duration_seconds{${LABELS},phase="dns"} 0.002`,
      `vedette_check_phase_duration_seconds{${LABELS},phase="tcp"} 0.01`,
      `vedette_check_phase_duration_seconds{${LABELS},phase="first_byte"} 0.25`,
    ]);
    expect(lines.filter((line) => line.startsWith('vedette_check_error_info{'))).toEqual([]);

    const refused = { response: null, requestErrorCode: 'CONNECT_REFUSED' };
    metrics.finished(resultFor({ hasFailures: true, ...httpDetail(refused) }));
    const text = await metricsText(metrics);
    expect(text).toContain(`vedette_check_error_info{${LABELS},code="CONNECT_REFUSED"} 1`);
    expect(text).not.toContain('vedette_check_status_code{');
  });

  it('keep the error code of the last judged run after a fault of the agent and a cancelled run', async () => {
    const metrics = createMetrics({ version: '1' });
    metrics.setChecks([CHECK]);
    const failed = (requestErrorCode: string) => httpDetail({ response: null, requestErrorCode });
    metrics.finished(resultFor({ hasFailures: true, ...failed('DNS_NXDOMAIN') }));
    metrics.finished(resultFor({ hasErrors: true, ...failed('INTERNAL_ERROR') }));
    metrics.finished(resultFor({ isCancelled: true, ...failed('CANCELLED') }));
    const lines = await linesOf(metrics);
    expect(lines.filter((line) => line.startsWith('vedette_check_error_info{'))).toEqual([
      `vedette_check_error_info{${LABELS},code="DNS_NXDOMAIN"} 1`,
    ]);
  });

  it('have the tags that are chosen, and the location of the last run', async () => {
    const metrics = createMetrics({ version: '1', chosenTags: ['production', 'team:*'] });
    metrics.setChecks([{ ...CHECK, tags: ['team:shop', 'other', 'production'] }]);
    metrics.finished(resultFor({ runLocation: 'office' }));
    const up = (await linesOf(metrics)).find((line) => line.startsWith('vedette_check_up{'));
    expect(up).toContain(',location="office",tags=",production,team:shop,"} 1');
  });

  it('are not changed by attempts or by faults of the agent', async () => {
    const metrics = createMetrics({ version: '1' });
    metrics.setChecks([CHECK]);
    metrics.finished(resultFor());
    metrics.finished(resultFor({ resultType: 'ATTEMPT', hasFailures: true }));
    metrics.finished(resultFor({ hasErrors: true, hasFailures: true }));
    metrics.finished(resultFor({ isCancelled: true, hasFailures: true }));
    expect(await linesOf(metrics)).toContain(`vedette_check_up{${LABELS}} 1`);
  });

  it('retain the certificate while the target does not answer, and drop it without TLS', async () => {
    const metrics = createMetrics({ version: '1' });
    metrics.setChecks([CHECK]);
    const shown = `vedette_check_certificate_days_remaining{${IDENTITY}}`;
    const certificate = { daysRemaining: -3, validTo: EXPIRY };
    const shakenHands = { response: null, tls: { certificate } };
    metrics.finished(resultFor({ hasFailures: true, ...httpDetail(shakenHands) }));
    metrics.finished(resultFor({ hasFailures: true, ...httpDetail({ response: null }) }));
    expect(await linesOf(metrics)).toContain(`${shown} -3`);
    metrics.finished(resultFor(httpDetail({ response: { tls: null } })));
    expect(await metricsText(metrics)).not.toContain(shown);
    expect(await metricsText(metrics)).not.toContain(
      'vedette_check_certificate_expiry_timestamp_seconds{',
    );
  });

  it('show packet loss as a ratio, and no value where no echo was sent', async () => {
    const metrics = createMetrics({ version: '1' });
    const check = { ...CHECK, checkType: 'ICMP' } satisfies GaugedCheck;
    metrics.setChecks([check]);
    const shown = 'vedette_check_packet_loss_ratio{check_id="a-check"';
    const icmpCheckResult = { response: { packetLoss: 20 } } as never;
    metrics.finished(resultFor({ checkType: 'ICMP', icmpCheckResult }));
    expect((await linesOf(metrics)).find((line) => line.startsWith(shown))).toMatch(/ 0\.2$/);
    const unsent = { response: null } as never;
    metrics.finished(resultFor({ checkType: 'ICMP', icmpCheckResult: unsent }));
    expect(await metricsText(metrics)).not.toContain(shown);
  });

  it('are removed with their check, and not restored by a late result', async () => {
    const metrics = createMetrics({ version: '1' });
    metrics.setChecks([CHECK, { ...CHECK, id: 'other' }]);
    metrics.finished(resultFor(httpDetail({})));
    metrics.finished(resultFor({ checkId: 'other' }));
    metrics.setChecks([{ ...CHECK, id: 'other' }]);
    metrics.finished(resultFor());
    const text = await metricsText(metrics);
    expect(text).not.toContain('check_id="a-check"');
    expect(text).toContain('vedette_check_up{check_id="other"');
    expect(text).toContain('vedette_checks 1');
  });

  it('follow a new name, and retain the values of unchanged checks', async () => {
    const metrics = createMetrics({ version: '1' });
    metrics.setChecks([CHECK]);
    metrics.finished(resultFor());
    metrics.setChecks([{ ...CHECK }]);
    expect(await linesOf(metrics)).toContain(`vedette_check_up{${LABELS}} 1`);
    metrics.setChecks([{ ...CHECK, name: 'New' }]);
    expect(await metricsText(metrics)).not.toContain('A check');
    metrics.finished(resultFor());
    expect(await metricsText(metrics)).toContain(
      'vedette_check_up{check_id="a-check",check_name="New"',
    );
  });

  it('cannot be forged by a name', async () => {
    const metrics = createMetrics({ version: '1' });
    const name = 'a"} 1\nvedette_check_up{check_id="b"} 0\\';
    metrics.setChecks([{ ...CHECK, name }]);
    metrics.finished(resultFor());
    const up = (await linesOf(metrics)).filter((line) => line.startsWith('vedette_check_up{'));
    expect(up).toEqual([
      'vedette_check_up{check_id="a-check",check_name="a\\"} 1\\nvedette_check_up{check_id=\\"b\\"} 0\\\\",check_type="URL",target="https://example.com/",location="local",tags=""} 1',
    ]);
  });
});
