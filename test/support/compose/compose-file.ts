import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { DOCKER } from './prometheus-files.ts';

export const COMPOSE = join(DOCKER, 'compose.yaml');

export interface ComposeService {
  readonly image: string;
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly pull_policy?: string;
  readonly restart: string;
  readonly read_only: boolean;
  readonly cap_add?: readonly string[];
  readonly cap_drop: readonly string[];
  readonly security_opt: readonly string[];
  readonly user?: string;
  readonly working_dir?: string;
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly network_mode?: string;
  readonly networks?: readonly string[];
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly tmpfs?: readonly string[];
  readonly sysctls?: Readonly<Record<string, string>>;
  readonly stop_grace_period?: string;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly deploy?: {
    readonly resources: { readonly limits: Readonly<Record<string, string | number>> };
  };
}

export interface ComposeFile {
  readonly name: string;
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean }>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

/** docker/compose.yaml with its anchors and merges resolved. */
export function composeFile(): ComposeFile {
  return parse(readFileSync(COMPOSE, 'utf8'), { merge: true });
}

/** @throws Error if the service does not exist */
export function composeService(name: string): ComposeService {
  const found = Object.entries(composeFile().services).find(([each]) => each === name);
  if (found === undefined) throw new Error(`compose.yaml has no service ${name}`);
  return found[1];
}

/** A mount in its short form: a path or a volume, its target, and its mode. */
export function mountOf(text: string): {
  readonly source: string;
  readonly target: string;
  readonly options: readonly string[];
} {
  const [source = '', target = '', options = ''] = text.split(':');
  return { source, target, options: options.split(',') };
}
