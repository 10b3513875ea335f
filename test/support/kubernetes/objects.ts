import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments, parse as parseYaml } from 'yaml';
import { z } from 'zod';

/** Folder of the kustomizations. */
export const KUBERNETES = join(import.meta.dirname, '../../../docker/kubernetes');

const labels = z.record(z.string(), z.string());
const metadataSchema = z.looseObject({
  name: z.string(),
  namespace: z.string().optional(),
  labels: labels.optional(),
});

/** The common fields of all API objects. */
const objectSchema = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: metadataSchema,
  spec: z.looseObject({}).optional(),
  data: z.record(z.string(), z.string()).optional(),
});
export type KubernetesObject = z.infer<typeof objectSchema>;

const port = z.union([z.string(), z.int()]);
const probe = z.looseObject({ httpGet: z.looseObject({ path: z.string(), port }) });
const named = z.looseObject({ name: z.string(), optional: z.boolean().default(false) });

const containerSchema = z.looseObject({
  name: z.string(),
  image: z.string(),
  envFrom: z.array(z.looseObject({ configMapRef: named.optional() })).default([]),
  env: z
    .array(
      z.looseObject({
        name: z.string(),
        value: z.string().optional(),
        valueFrom: z
          .looseObject({ secretKeyRef: named.extend({ key: z.string() }).optional() })
          .optional(),
      }),
    )
    .default([]),
  ports: z.array(z.looseObject({ name: z.string(), containerPort: z.int() })).default([]),
  startupProbe: probe.optional(),
  readinessProbe: probe.optional(),
  livenessProbe: probe.optional(),
  lifecycle: z
    .looseObject({ preStop: z.looseObject({ exec: z.object({ command: z.array(z.string()) }) }) })
    .optional(),
  securityContext: z.looseObject({}).default({}),
  volumeMounts: z.array(z.looseObject({ name: z.string(), mountPath: z.string() })).default([]),
});
export type Container = z.infer<typeof containerSchema>;

const templateSchema = z.looseObject({
  metadata: z.looseObject({ labels }),
  spec: z.looseObject({
    serviceAccountName: z.string().optional(),
    terminationGracePeriodSeconds: z.int().optional(),
    securityContext: z.looseObject({}).default({}),
    containers: z.array(containerSchema),
    volumes: z
      .array(
        z.looseObject({
          name: z.string(),
          secret: z
            .looseObject({ secretName: z.string(), optional: z.boolean().default(false) })
            .optional(),
          emptyDir: z.looseObject({ sizeLimit: z.string() }).optional(),
        }),
      )
      .default([]),
  }),
});
export type PodTemplate = z.infer<typeof templateSchema>;

/** An object that creates pods. */
export interface Workload {
  readonly object: KubernetesObject;
  readonly template: PodTemplate;
}

/** Parses the objects of YAML documents. */
export function objectsOf(text: string): readonly KubernetesObject[] {
  return parseAllDocuments(text, { logLevel: 'error' }).flatMap((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw error;
    const value: unknown = document.toJS();
    return value === null ? [] : [objectSchema.parse(value)];
  });
}

export function workloadsOf(objects: readonly KubernetesObject[]): readonly Workload[] {
  return objects.flatMap((object) =>
    object.spec?.template === undefined
      ? []
      : [{ object, template: templateSchema.parse(object.spec.template) }],
  );
}

/** The data of a ConfigMap, ignoring the hash that kustomize appends to its name. */
export function configMapOf(
  objects: readonly KubernetesObject[],
  name: string,
): Readonly<Record<string, string>> {
  const map = objects.find((object) => object.kind === 'ConfigMap' && plainName(object) === name);
  return map?.data ?? {};
}

/** Removes the hash that kustomize appends. */
export function plainName({ metadata }: KubernetesObject): string {
  return metadata.name.replace(/-[0-9a-z]{10}$/, '');
}

const kustomizationSchema = z.strictObject({
  apiVersion: z.string(),
  kind: z.enum(['Kustomization', 'Component']),
  resources: z.array(z.string()).default([]),
  configMapGenerator: z
    .array(
      z.strictObject({
        name: z.string(),
        behavior: z.enum(['create', 'merge']).default('create'),
        literals: z.array(z.string()),
      }),
    )
    .default([]),
  generatorOptions: z.strictObject({ labels }).optional(),
  images: z
    .array(z.strictObject({ name: z.string(), newName: z.string(), newTag: z.string() }))
    .default([]),
  patches: z.array(z.looseObject({ path: z.string().optional() })).default([]),
});
export type Kustomization = z.infer<typeof kustomizationSchema>;

/** @param folder below docker/kubernetes */
export function kustomizationOf(folder: string): Kustomization {
  return kustomizationSchema.parse(parseYaml(textOf(folder, 'kustomization.yaml')));
}

/** The objects in the folder's own files, and its own ConfigMaps without a hash in the name. */
export function writtenObjects(folder: string): readonly KubernetesObject[] {
  const { resources, configMapGenerator } = kustomizationOf(folder);
  const files = resources.filter((resource) => resource.endsWith('.yaml'));
  return [
    ...files.flatMap((file) => objectsOf(textOf(folder, file))),
    ...configMapGenerator.map(({ name, literals }) =>
      objectSchema.parse({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name },
        data: Object.fromEntries(literals.map(keyAndValue)),
      }),
    ),
  ];
}

function keyAndValue(literal: string): readonly [string, string] {
  const at = literal.indexOf('=');
  return [literal.slice(0, at), literal.slice(at + 1)];
}

function textOf(folder: string, file: string): string {
  return readFileSync(join(KUBERNETES, folder, file), 'utf8');
}
