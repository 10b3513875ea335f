import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

/** Exit code and output of a command. */
export interface CommandEnd {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command to its end asynchronously, whatever its exit code. */
export async function runToEnd(
  command: string,
  args: readonly string[],
  options: {
    readonly env?: NodeJS.ProcessEnv;
    readonly cwd?: string;
    readonly signal?: AbortSignal;
  } = {},
): Promise<CommandEnd> {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const outputs = Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = await once(child, 'close');
  const [stdout, stderr] = await outputs;
  return { code, stdout, stderr };
}

/** The same for a command that must succeed. @throws Error with its output otherwise */
export async function mustRun(...how: Parameters<typeof runToEnd>): Promise<string> {
  const end = await runToEnd(...how);
  if (end.code === 0) return end.stdout;
  const output = `${end.stdout}\n${end.stderr}`.trim().split('\n').slice(-40).join('\n');
  throw new Error(`${how[0]} ${how[1].join(' ')}: exit ${end.code}\n${output}`);
}
