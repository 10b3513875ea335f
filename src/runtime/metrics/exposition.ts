/** The text format of Prometheus (version 0.0.4) for metrics that are rendered without a registry. */

/** `name="value"` for each, without braces. */
export function labelsText(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escaped(value)}"`)
    .join(',');
}

interface Described {
  readonly name: string;
  readonly type: string;
  readonly meaning: string;
}

/** A metric with its series, each as a line without a line break. */
export function metricText(metric: Described, lines: readonly string[]): string {
  return [metricHead(metric), ...lines].join('\n');
}

/** The two lines before the series of a metric, without a line break at the end. */
export function metricHead({ name, type, meaning }: Described): string {
  const help = meaning.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}`;
}

function escaped(value: string): string {
  if (!/[\\\n"]/.test(value)) return value;
  return value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
}
