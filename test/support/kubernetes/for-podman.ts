import { readFileSync, writeFileSync } from 'node:fs';
import { stringify } from 'yaml';
import { z } from 'zod';
import type { KubernetesObject, PodTemplate } from './objects.ts';

const sysctlsSchema = z.array(z.strictObject({ name: z.string(), value: z.string() }));

/**
 * The objects as a file for `podman kube play` of podman 4.3. What it would do in another way than
 * Kubernetes is changed: it publishes the port of every pod on the host, so there is one pod, and
 * it mounts no secret that is marked as optional. It ignores network policies, budgets, services
 * and service accounts, the spread over nodes, fsGroup, sysctls and the time for the end, and asks
 * no probe where there is no systemd.
 */
export function playFile(objects: readonly KubernetesObject[]): string {
  return objects
    .filter(({ kind }) => kind !== 'Secret')
    .map((object) => (object.kind === 'Deployment' ? playDeployment(object) : stringify(object)))
    .join('---\n');
}

function playDeployment({ spec, ...object }: KubernetesObject): string {
  return stringify({ ...object, spec: { ...spec, replicas: 1 } }, (key, value: unknown) =>
    key === 'optional' ? false : value,
  );
}

/**
 * The secrets among the objects by their names, as `podman secret create` wants them: it would
 * mount those of a file as the base64 that they are there.
 */
export function playSecrets(objects: readonly KubernetesObject[]): ReadonlyMap<string, string> {
  return new Map(
    objects
      .filter(({ kind }) => kind === 'Secret')
      .map(({ data = {}, ...object }) => {
        const plain = Object.entries(data).map(([key, value]) => [
          key,
          Buffer.from(value, 'base64').toString(),
        ]);
        return [
          object.metadata.name,
          stringify({ ...object, data: Object.fromEntries(plain) }),
        ] as const;
      }),
  );
}

/** podman's configuration with the sysctls that the pod asks for, for all pods. */
export function configurationWithSysctls(
  { from, to }: { readonly from: string; readonly to: string },
  { spec }: PodTemplate,
): void {
  const sysctls = sysctlsSchema.parse(spec.securityContext.sysctls);
  const pairs = sysctls.map(({ name, value }) => JSON.stringify(`${name}=${value}`));
  const text = readFileSync(from, 'utf8');
  const changedText = text.replace(/^default_sysctls = .*$/m, `default_sysctls = [${pairs}]`);
  if (changedText === text) throw new Error(`${from} has no default_sysctls`);
  writeFileSync(to, changedText);
}
