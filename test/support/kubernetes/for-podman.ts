import { readFileSync, writeFileSync } from 'node:fs';
import { stringify } from 'yaml';
import { z } from 'zod';
import type { KubernetesObject, PodTemplate } from './objects.ts';

const sysctlsSchema = z.array(z.strictObject({ name: z.string(), value: z.string() }));

/**
 * The objects as a file for `podman kube play` of podman 4.3. Changes what podman does in another
 * way than Kubernetes: it publishes the port of every pod on the host, so there is one pod, and it
 * mounts no secret that is marked as optional. It ignores network policies, budgets, services,
 * service accounts, the spread over nodes, fsGroup, sysctls and the termination grace period, and
 * runs no probe without systemd.
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
 * The secrets by name, for `podman secret create`: podman would mount those of a file without
 * decoding their base64.
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

/** podman's configuration with the sysctls of the pod, for all pods. */
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
