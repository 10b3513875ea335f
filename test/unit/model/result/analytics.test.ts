import { describe, expect, it } from 'vitest';
import {
  ANALYTICS_METRICS,
  QUICK_RANGES,
  quickRangeAt,
} from '../../../../src/model/result/analytics.ts';

/** As src/service/README.md, "Analytics" lists them. */
const SUFFIXES = ['avg', 'max', 'median', 'min', 'p50', 'p90', 'p95', 'p99', 'stddev', 'sum'];
const SPEC: Readonly<Record<'API' | 'ICMP', readonly string[]>> = {
  API: ['responseTime', 'wait', 'dns', 'tcp', 'firstByte', 'download'],
  ICMP: ['packetLoss', 'latencyMin', 'latencyMax', 'latencyAvg', 'latencyStdDev'],
};

describe('analytics metrics', () => {
  it.each(['API', 'ICMP'] as const)('of %s checks are those of the specification', (type) => {
    const suffixed = SPEC[type].flatMap((name) => SUFFIXES.map((suffix) => `${name}_${suffix}`));
    const wanted = [...SPEC[type], 'availability', 'retries', ...suffixed];
    expect([...ANALYTICS_METRICS[type].keys()]).toEqual(wanted);
  });

  it('have a unit, a label and an aggregation', () => {
    const shown = (type: keyof typeof ANALYTICS_METRICS, name: string) => {
      const { unit, label, aggregation } = ANALYTICS_METRICS[type].get(name) ?? {};
      return [unit, label, aggregation];
    };
    expect(shown('API', 'responseTime')).toEqual(['milliseconds', 'Response time', 'avg']);
    expect(shown('TCP', 'connection_p95')).toEqual([
      'milliseconds',
      'Connection (95th percentile)',
      'p95',
    ]);
    expect(shown('ICMP', 'packetLoss_max')).toEqual(['percentage', 'Packet loss (maximum)', 'max']);
    expect(shown('DNS', 'availability')).toEqual(['percentage', 'Availability', 'avg']);
    expect(shown('URL', 'retries')).toEqual(['count', 'Retries', 'sum']);
  });

  it('have labels that distinguish them', () => {
    for (const metrics of Object.values(ANALYTICS_METRICS)) {
      const labels = [...metrics.values()].map(({ label }) => label);
      expect(new Set(labels).size).toBe(labels.length);
    }
  });
});

describe('a quick range of analytics', () => {
  const windowsAt = (iso: string) =>
    Object.fromEntries(
      QUICK_RANGES.map((range) => {
        const { fromMs, toMs } = quickRangeAt(range, Date.parse(iso));
        return [range, [fromMs, toMs].map((ms) => new Date(ms).toISOString().slice(0, 16))];
      }),
    );

  it('is counted in UTC, with weeks from Monday and whole months', () => {
    // A Sunday.
    expect(windowsAt('2026-03-01T10:30:00.000Z')).toEqual({
      last24Hours: ['2026-02-28T10:30', '2026-03-01T10:30'],
      last7Days: ['2026-02-22T10:30', '2026-03-01T10:30'],
      last30Days: ['2026-01-30T10:30', '2026-03-01T10:30'],
      thisWeek: ['2026-02-23T00:00', '2026-03-01T10:30'],
      thisMonth: ['2026-03-01T00:00', '2026-03-01T10:30'],
      lastWeek: ['2026-02-16T00:00', '2026-02-23T00:00'],
      lastMonth: ['2026-02-01T00:00', '2026-03-01T00:00'],
    });
  });

  it('starts again with each week, month and year', () => {
    expect(windowsAt('2024-01-01T00:00:00.000Z')).toMatchObject({
      thisWeek: ['2024-01-01T00:00', '2024-01-01T00:00'],
      thisMonth: ['2024-01-01T00:00', '2024-01-01T00:00'],
      lastWeek: ['2023-12-25T00:00', '2024-01-01T00:00'],
      lastMonth: ['2023-12-01T00:00', '2024-01-01T00:00'],
    });
    expect(windowsAt('2023-12-31T23:59:59.999Z')).toMatchObject({
      thisWeek: ['2023-12-25T00:00', '2023-12-31T23:59'],
      thisMonth: ['2023-12-01T00:00', '2023-12-31T23:59'],
    });
  });
});
