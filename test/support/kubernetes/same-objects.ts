import type { KubernetesObject } from './objects.ts';

/** Labels that a chart adds to its objects and selectors. */
const OF_A_CHART: ReadonlySet<string> = new Set([
  'app.kubernetes.io/instance',
  'app.kubernetes.io/managed-by',
  'app.kubernetes.io/version',
  'helm.sh/chart',
]);

/**
 * The objects by kind and name, without the necessary differences between a kustomization and a
 * chart: the chart's labels, annotations, and the hash in the name of a ConfigMap.
 */
export function comparable(
  objects: readonly KubernetesObject[],
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    objects.map((object) => {
      const plain = withoutExtras(object);
      const { kind, metadata } = plain as KubernetesObject;
      return [`${kind} ${metadata.name}`, plain];
    }),
  );
}

function withoutExtras(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(/^(vedette(?:-agent)?)-[0-9a-z]{10}$/, '$1');
  if (Array.isArray(value)) return value.map(withoutExtras);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, child]) => !isExtra(key, child))
      .map(([key, child]) => [key, withoutExtras(child)]),
  );
}

/** Whether it, or everything inside it, is added only by the chart. */
function isExtra(key: string, value: unknown): boolean {
  if (OF_A_CHART.has(key) || key === 'annotations') return true;
  if (typeof value !== 'object' || value === null) return false;
  const inside = Object.keys(value);
  return inside.length > 0 && inside.every((name) => OF_A_CHART.has(name));
}
