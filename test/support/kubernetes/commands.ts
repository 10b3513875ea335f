import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readmeCommand } from '../compose/readme-commands.ts';
import { type KubernetesObject, objectsOf } from './objects.ts';

const ROOT = join(import.meta.dirname, '../../..');

/**
 * Replaces kubectl, since there is no cluster: kubectl itself makes the objects that would be sent,
 * and all other commands are only recorded.
 */
const KUBECTL = `#!/bin/sh
set -e
note() { echo "$*" >> "$NOTED"; }
send() { echo --- >> "$SENT"; cat >> "$SENT"; }
case "$*" in
  *--dry-run=client*|kustomize*) exec "$KUBECTL" "$@";;
  *'create namespace'*|*'create secret'*) "$KUBECTL" "$@" --dry-run=client --output yaml | send;;
  'apply -k '*) "$KUBECTL" kustomize "$3" | send;;
  *'apply -f -') send;;
  *) note "$*";;
esac
`;

export interface Sent {
  /** The objects that a cluster would have received, in order. */
  readonly objects: readonly KubernetesObject[];
  /** The commands that read or change the cluster. */
  readonly noted: readonly string[];
}

/**
 * Runs the README's commands unchanged, one after the other.
 *
 * @param folder an empty folder, to which they write
 */
export function runReadme(
  folder: string,
  names: readonly string[],
  env: Readonly<Record<string, string>>,
): Sent {
  const at = (name: string): string => join(folder, name);
  const bin = at('bin');
  mkdirSync(bin);
  symlinkSync(join(ROOT, 'docker'), at('docker'));
  writeFileSync(join(bin, 'kubectl'), KUBECTL);
  chmodSync(join(bin, 'kubectl'), 0o755);
  for (const file of ['sent', 'noted']) writeFileSync(at(file), '');
  for (const name of names) {
    execFileSync('sh', ['-euc', readmeCommand(name)], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
      env: {
        ...env,
        PATH: `${bin}:${process.env.PATH}`,
        KUBECTL: execFileSync('which', ['kubectl'], { encoding: 'utf8' }).trim(),
        SENT: at('sent'),
        NOTED: at('noted'),
      },
    });
  }
  return {
    objects: objectsOf(readFileSync(at('sent'), 'utf8')),
    noted: readFileSync(at('noted'), 'utf8').split('\n').slice(0, -1),
  };
}
