import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { z } from 'zod';
import { AGENT_METRICS } from '../../../src/agent/metrics/metrics-table.ts';
import { alertRules } from '../../support/compose/prometheus-files.ts';
import { KUBERNETES } from '../../support/kubernetes/objects.ts';
import { environmentOf, objectOf, podOf } from '../../support/kubernetes/written-parts.ts';

const AUTOSCALER = 'HorizontalPodAutoscaler';
const scaling = z.looseObject({
  metrics: z.array(
    z.looseObject({
      pods: z.object({
        metric: z.object({ name: z.string() }),
        target: z.object({ type: z.literal('AverageValue'), averageValue: z.string() }),
      }),
    }),
  ),
});
const adapter = z.strictObject({
  rules: z.strictObject({
    custom: z.array(
      z.looseObject({ seriesQuery: z.string(), name: z.strictObject({ as: z.string() }) }),
    ),
  }),
});

const monitor = z.looseObject({
  endpoints: z.array(
    z.looseObject({
      relabelings: z.array(z.strictObject({ targetLabel: z.string(), replacement: z.string() })),
    }),
  ),
});

describe('the components', () => {
  it('scale by metrics that the adapter derives from those of the agent', () => {
    const { metrics } = scaling.parse(objectOf('components/autoscaling', AUTOSCALER).spec);
    const file = join(KUBERNETES, 'components/autoscaling/prometheus-adapter.yaml');
    const { custom } = adapter.parse(parseYaml(readFileSync(file, 'utf8'))).rules;
    expect(metrics.map(({ pods }) => pods.metric.name)).toEqual(custom.map(({ name }) => name.as));
    const series = custom.map(({ seriesQuery }) => seriesQuery.replace(/\{.*/, ''));
    const gauges = AGENT_METRICS.filter(({ type }) => type === 'gauge').map(({ name }) => name);
    expect(series.filter((name) => !gauges.includes(name))).toEqual([]);
    // A target above the concurrency of an agent would never be reached.
    expect(Number(metrics[0]?.pods.target.averageValue)).toBeLessThan(
      Number(environmentOf('base').JOB_CONCURRENCY) * 0.8,
    );
  });

  it('name the scraped job of the service as the alerts do', () => {
    const { spec } = objectOf('components/service-monitor', 'ServiceMonitor');
    const { endpoints } = monitor.parse(spec);
    const jobs = endpoints.flatMap(({ relabelings }) => relabelings);
    const alert = alertRules().find((rule) => rule.alert === 'VedetteServiceDown');
    expect(jobs).toEqual([{ targetLabel: 'job', replacement: 'vedette-service' }]);
    expect(alert?.expr).toBe('up{job="vedette-service"} == 0');
  });

  it('name the scraped job of the agents as the alerts do', () => {
    const { jobLabel = '' } = z
      .looseObject({ jobLabel: z.string().optional() })
      .parse(objectOf('components/pod-monitor', 'PodMonitor').spec);
    const job = podOf('base').metadata.labels[jobLabel];
    expect(alertRules().find(({ alert }) => alert === 'VedetteAgentDown')?.expr).toBe(
      `up{job="${job}"} == 0`,
    );
  });
});
