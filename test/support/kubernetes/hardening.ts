import { isDeepStrictEqual } from 'node:util';
import type { Workload } from './objects.ts';

/**
 * Violations of the Pod Security Standard "restricted" and of our additions: a read-only root, no
 * token of the API server, and no variables of neighbours. One line each.
 */
export function unhardened({ object, template }: Workload): readonly string[] {
  const { spec } = template;
  const wanted: readonly (readonly [string, unknown, unknown])[] = [
    ['automountServiceAccountToken', spec.automountServiceAccountToken, false],
    ['enableServiceLinks', spec.enableServiceLinks, false],
    ['runAsNonRoot', spec.securityContext.runAsNonRoot, true],
    ['runAsUser', spec.securityContext.runAsUser, 10_001],
    ['runAsGroup', spec.securityContext.runAsGroup, 10_001],
    ['fsGroup', spec.securityContext.fsGroup, 10_001],
    ['seccompProfile', spec.securityContext.seccompProfile, { type: 'RuntimeDefault' }],
    ...['hostNetwork', 'hostPID', 'hostIPC', 'hostUsers', 'initContainers'].map(
      (name) => [name, spec[name], undefined] as const,
    ),
    ...spec.containers.map(
      ({ name, securityContext }) =>
        [
          `securityContext of ${name}`,
          securityContext,
          {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          },
        ] as const,
    ),
    ...spec.volumes.map(
      (volume) =>
        [
          `the kind of volume ${volume.name}`,
          Object.keys(volume).filter(
            (key) => volume[key] !== undefined && !['name', 'secret', 'emptyDir'].includes(key),
          ),
          [],
        ] as const,
    ),
  ];
  return wanted
    .filter(([, found, right]) => !isDeepStrictEqual(found, right))
    .map(
      ([what, found]) => `${object.kind} ${object.metadata.name}: ${what} ${JSON.stringify(found)}`,
    );
}
