/** The text format of Prometheus (version 0.0.4) for metrics that are rendered without a registry. */

/** `name="value"` for each, without braces. */
export function labelsText(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escaped(value)}"`)
    .join(',');
}

/** A metric with its series, each as a line without a line break. */
export function metricText(
  {
    name,
    type,
    meaning,
  }: { readonly name: string; readonly type: string; readonly meaning: string },
  lines: readonly string[],
): string {
  const help = meaning.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines].join('\n');
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
}
