import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { selectorsOf } from './promql.ts';

export const DOCKER = join(import.meta.dirname, '../../../docker');
export const PROMETHEUS_CONFIG = join(DOCKER, 'prometheus/prometheus.yaml');
export const ALERT_RULES = join(DOCKER, 'prometheus/alerts.yaml');
export const TARGET_RULES = join(DOCKER, 'prometheus/targets.yaml');
export const RULE_FILES = [ALERT_RULES, TARGET_RULES];

/** Copies of the rules, which the Prometheus operator takes: by path, below docker. */
export const COPIES_OF_RULES: readonly {
  readonly path: string;
  readonly make: (rules: string) => string;
}[] = [
  { path: 'helm/vedette/files/alerts.yaml', make: (rules) => rules },
  { path: 'kubernetes/components/prometheus-rule/prometheus-rule.yaml', make: prometheusRule },
];

const RULE_HEAD = `# Made from docker/prometheus/alerts.yaml by \`npm run docs\`: change that file.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: vedette
  labels:
    app.kubernetes.io/name: vedette
    app.kubernetes.io/component: alerts
    app.kubernetes.io/part-of: vedette
spec:
`;

/** The object of the Prometheus operator that has the rules. */
function prometheusRule(rules: string): string {
  const groups = rules.slice(rules.indexOf('groups:\n'));
  return `${RULE_HEAD}${groups.replaceAll(/^(?=.)/gm, '  ')}`;
}

export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface ScrapeJob {
  readonly job_name: string;
  readonly static_configs: readonly { readonly targets: readonly string[] }[];
}

/** The rules of these files, in their order. */
export function alertRules(files: readonly string[] = RULE_FILES): readonly AlertRule[] {
  return files.flatMap((path) => {
    const file: { groups: { rules: AlertRule[] }[] } = parse(readFileSync(path, 'utf8'));
    return file.groups.flatMap(({ rules }) => rules);
  });
}

export function scrapeJobs(): readonly ScrapeJob[] {
  return parse(readFileSync(PROMETHEUS_CONFIG, 'utf8')).scrape_configs;
}

/** A README's table of alerts. */
export function alertsTable(rules: readonly AlertRule[]): string {
  const rows = rules.map(({ alert, expr, annotations }) => {
    const metrics = [...new Set(selectorsOf(expr).map(({ metric }) => `\`${metric}\``))];
    return `| ${alert} | ${metrics.join(', ')} | ${annotations.description} | ${annotations.action} |`;
  });
  return [
    '| Alert | Metrics | What it means | What to do |',
    '| --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
}
