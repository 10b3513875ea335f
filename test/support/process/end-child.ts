import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** Ends a process, which may have ended by itself, and waits until it has. */
export async function endChild(
  child: ChildProcess,
  signal: NodeJS.Signals = 'SIGKILL',
): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill(signal);
  await ended;
}
