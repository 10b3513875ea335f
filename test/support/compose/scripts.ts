import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { DOCKER } from './prometheus-files.ts';

export const PREPARE = join(DOCKER, 'compose/prepare.mjs');
export const SETUP = join(DOCKER, 'compose/setup.mjs');
export const WITH_SECRETS = join(DOCKER, 'compose/with-secrets.sh');
/** The environment that compose.yaml sets for prepare.mjs. */
export const DATABASE = 'postgres:5432/vedette';

export interface ScriptEnd {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command to its end, with a small environment. Killed with the test. */
export async function runCommand(
  [command = '', ...args]: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<ScriptEnd> {
  const child = spawn(command, args, {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { code: code as number | null, stdout, stderr };
}

export function runNode(
  args: readonly string[],
  env?: Readonly<Record<string, string>>,
): Promise<ScriptEnd> {
  return runCommand([process.execPath, ...args], env);
}
