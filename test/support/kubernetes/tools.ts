import { execFileSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { KUBERNETES, type KubernetesObject, objectsOf } from './objects.ts';

/** The chart beside the kustomizations. */
export const CHART = join(KUBERNETES, '../helm/vedette');

/**
 * The objects that `kubectl apply -k` would send.
 *
 * @param folder below docker/kubernetes, or absolute
 * @throws Error with kubectl's message
 */
export function built(folder: string): readonly KubernetesObject[] {
  return objectsOf(run('kubectl', ['kustomize', resolve(KUBERNETES, folder)]));
}

/**
 * The objects that `helm install vedette` would send.
 *
 * @throws Error with helm's message
 */
export function rendered(settings: readonly string[]): readonly KubernetesObject[] {
  return objectsOf(run('helm', ['template', 'vedette', CHART, ...settings]));
}

/** @throws Error with the program's output if it fails */
export function run(program: string, args: readonly string[]): string {
  return execFileSync(program, [...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}
