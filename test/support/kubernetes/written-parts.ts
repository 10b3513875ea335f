import {
  type Container,
  type KubernetesObject,
  type PodTemplate,
  workloadsOf,
  writtenObjects,
} from './objects.ts';

/** Contents of secrets whose form matters. */
const SECRET_VALUES: Readonly<Record<string, string>> = {
  DATABASE_URL: 'postgres://vedette:secret@postgres:5432/vedette',
  ENCRYPTION_KEY: '0f'.repeat(32),
};

/** @throws Error if the folder has none of the kind */
export function objectOf(folder: string, kind: string): KubernetesObject {
  const object = writtenObjects(folder).find((each) => each.kind === kind);
  if (object === undefined) throw new Error(`${folder} has no ${kind}`);
  return object;
}

/** The only pod of the folder. */
export function podOf(folder: string): PodTemplate {
  const [workload] = workloadsOf(writtenObjects(folder));
  if (workload === undefined) throw new Error(`${folder} has no pod`);
  return workload.template;
}

export function containerOf({ spec }: PodTemplate): Container {
  const [container] = spec.containers;
  if (container === undefined) throw new Error('the pod has no container');
  return container;
}

export function portOf(template: PodTemplate, name: string): number | undefined {
  return containerOf(template).ports.find((port) => port.name === name)?.containerPort;
}

/** The variables of the folder's pod; those from secrets have a sample value. */
export function environmentOf(folder: string): Readonly<Record<string, string>> {
  const { envFrom, env } = containerOf(podOf(folder));
  const maps = writtenObjects(folder).filter(
    ({ kind, metadata }) =>
      kind === 'ConfigMap' &&
      envFrom.some(({ configMapRef }) => configMapRef?.name === metadata.name),
  );
  return {
    ...Object.fromEntries(maps.flatMap(({ data = {} }) => Object.entries(data))),
    ...Object.fromEntries(env.map(({ name, value }) => [name, value ?? SECRET_VALUES[name] ?? ''])),
  };
}
