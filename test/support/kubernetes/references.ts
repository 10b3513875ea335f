import { z } from 'zod';
import { type KubernetesObject, type Workload, workloadsOf } from './objects.ts';

const requirement = z.strictObject({
  key: z.string(),
  operator: z.literal('In'),
  values: z.array(z.string()),
});
const selectorSchema = z.strictObject({
  matchLabels: z.record(z.string(), z.string()).default({}),
  matchExpressions: z.array(requirement).default([]),
});
type Selector = z.infer<typeof selectorSchema>;
type Labels = Readonly<Record<string, string>>;

const portSchema = z.union([z.string(), z.int()]);
const serviceSchema = z.looseObject({
  selector: z.record(z.string(), z.string()),
  ports: z.array(z.looseObject({ name: z.string(), targetPort: portSchema })),
});
const policySchema = z.looseObject({
  podSelector: selectorSchema,
  ingress: z.array(z.looseObject({ ports: z.array(z.looseObject({ port: portSchema })) })),
});
const podMonitorSchema = z.looseObject({
  selector: selectorSchema,
  podMetricsEndpoints: z.array(z.looseObject({ port: z.string() })),
});
const serviceMonitorSchema = z.looseObject({
  selector: selectorSchema,
  endpoints: z.array(z.looseObject({ port: z.string() })),
});
const autoscalerSchema = z.looseObject({
  scaleTargetRef: z.strictObject({ apiVersion: z.string(), kind: z.string(), name: z.string() }),
});
const ingressSchema = z.looseObject({
  rules: z.array(
    z.looseObject({
      http: z.looseObject({
        paths: z.array(
          z.looseObject({
            backend: z.object({
              service: z.object({ name: z.string(), port: z.object({ name: z.string() }) }),
            }),
          }),
        ),
      }),
    }),
  ),
});

/**
 * References to missing objects: selectors without a pod, ports, volumes, ConfigMaps, service
 * accounts. One line each.
 */
export function brokenReferences(objects: readonly KubernetesObject[]): readonly string[] {
  const workloads = workloadsOf(objects);
  return [
    ...doubles(objects),
    ...workloads.flatMap((workload) => ofWorkload(workload, objects)),
    ...objects.flatMap((object) =>
      ofObject(object, objects, workloads).map(
        (problem) => `${object.kind} ${object.metadata.name}: ${problem}`,
      ),
    ),
  ];
}

/** The names of the secrets that the objects' pods read; optional ones end in `?`. */
export function secretsOf(objects: readonly KubernetesObject[]): ReadonlySet<string> {
  const names = workloadsOf(objects).flatMap(({ template }) => [
    ...template.spec.volumes.flatMap(({ secret }) =>
      secret === undefined ? [] : [mark(secret.secretName, secret.optional)],
    ),
    ...template.spec.containers.flatMap(({ env }) =>
      env.flatMap(({ valueFrom }) => {
        const entry = valueFrom?.secretKeyRef;
        return entry === undefined ? [] : [mark(`${entry.name}/${entry.key}`, entry.optional)];
      }),
    ),
  ]);
  return new Set(names);
}

function mark(name: string, optional: boolean): string {
  return optional ? `${name}?` : name;
}

function doubles(objects: readonly KubernetesObject[]): readonly string[] {
  const names = objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
  return names.filter((name, at) => names.indexOf(name) !== at).map((name) => `${name}: twice`);
}

function ofWorkload(
  { object, template }: Workload,
  objects: readonly KubernetesObject[],
): readonly string[] {
  const { containers, volumes, serviceAccountName } = template.spec;
  const claims = z
    .array(z.looseObject({ metadata: z.looseObject({ name: z.string() }) }))
    .parse(object.spec?.volumeClaimTemplates ?? [])
    .map(({ metadata }) => metadata.name);
  const mounts = containers.flatMap(({ volumeMounts }) => volumeMounts.map(({ name }) => name));
  const available = [...volumes.map(({ name }) => name), ...claims];
  const configMaps = containers.flatMap(({ envFrom }) =>
    envFrom.flatMap(({ configMapRef }) => configMapRef?.name ?? []),
  );
  const has = (kind: string, name: string): boolean => named(objects, kind, name) !== undefined;
  return [
    ...mounts.filter((name) => !available.includes(name)).map((name) => `mounts no volume ${name}`),
    ...available.filter((name) => !mounts.includes(name)).map((name) => `volume ${name} unmounted`),
    ...available.filter((name, at) => available.indexOf(name) !== at).map((name) => `two ${name}`),
    ...configMaps.filter((name) => !has('ConfigMap', name)).map((name) => `no ConfigMap ${name}`),
    ...(serviceAccountName === undefined || has('ServiceAccount', serviceAccountName)
      ? []
      : [`no ServiceAccount ${serviceAccountName}`]),
    ...containers.flatMap((container) =>
      [container.startupProbe, container.readinessProbe, container.livenessProbe]
        .flatMap((probe) => probe?.httpGet.port ?? [])
        .filter((port) => !container.ports.some(({ name }) => name === port))
        .map((port) => `a probe asks port ${port}, which ${container.name} has not`),
    ),
    ...(object.spec?.selector === undefined ||
    matches(selectorSchema.parse(object.spec.selector), template.metadata.labels)
      ? []
      : ['its selector is not that of its pods']),
  ].map((problem) => `${object.kind} ${object.metadata.name}: ${problem}`);
}

function ofObject(
  { kind, spec = {} }: KubernetesObject,
  objects: readonly KubernetesObject[],
  workloads: readonly Workload[],
): readonly string[] {
  const pods = (selector: Selector): readonly Workload[] =>
    workloads.filter(({ template }) => matches(selector, template.metadata.labels));
  switch (kind) {
    case 'Service': {
      const { selector, ports } = serviceSchema.parse(spec);
      const targets = ports.map(({ targetPort }) => targetPort);
      return portProblems(pods({ matchLabels: selector, matchExpressions: [] }), targets);
    }
    case 'NetworkPolicy': {
      const { podSelector, ingress } = policySchema.parse(spec);
      const ports = ingress.flatMap((rule) => rule.ports.map(({ port }) => port));
      return portProblems(pods(podSelector), ports);
    }
    case 'PodMonitor': {
      const { selector, podMetricsEndpoints } = podMonitorSchema.parse(spec);
      const ports = podMetricsEndpoints.map(({ port }) => port);
      return portProblems(pods(selector), ports);
    }
    case 'ServiceMonitor': {
      const { selector, endpoints } = serviceMonitorSchema.parse(spec);
      const services = objects.filter(
        (object) => object.kind === 'Service' && matches(selector, object.metadata.labels ?? {}),
      );
      const ports = services.flatMap((service) => serviceSchema.parse(service.spec).ports);
      return endpoints
        .filter(({ port }) => !ports.some(({ name }) => name === port))
        .map(({ port }) => `no selected service has a port ${port}`);
    }
    case 'PodDisruptionBudget':
      return portProblems(pods(selectorSchema.parse(spec.selector)), []);
    case 'HorizontalPodAutoscaler': {
      const { scaleTargetRef: target } = autoscalerSchema.parse(spec);
      const found = named(objects, target.kind, target.name);
      return found?.apiVersion === target.apiVersion ? [] : ['scales nothing'];
    }
    case 'Ingress':
      return ingressSchema
        .parse(spec)
        .rules.flatMap(({ http }) => http.paths.map(({ backend }) => backend.service))
        .filter(({ name, port }) => {
          const service = named(objects, 'Service', name);
          const ports = service === undefined ? [] : serviceSchema.parse(service.spec).ports;
          return !ports.some((each) => each.name === port.name);
        })
        .map(({ name, port }) => `no service ${name} with a port ${port.name}`);
    default:
      return [];
  }
}

/** Pods without a port of that name get no traffic there, so one pod with it is enough. */
function portProblems(
  pods: readonly Workload[],
  ports: readonly (string | number)[],
): readonly string[] {
  if (pods.length === 0) return ['selects no pod'];
  const lacking = ports.filter(
    (port) =>
      !pods.some(({ template }) =>
        template.spec.containers.some(({ ports: own }) =>
          own.some(({ name, containerPort }) => port === name || port === containerPort),
        ),
      ),
  );
  return lacking.map((port) => `no selected pod has a port ${port}`);
}

function matches({ matchLabels, matchExpressions }: Selector, labels: Labels): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, values }) => values.includes(labels[key] ?? ''))
  );
}

function named(
  objects: readonly KubernetesObject[],
  kind: string,
  name: string,
): KubernetesObject | undefined {
  return objects.find((object) => object.kind === kind && object.metadata.name === name);
}
