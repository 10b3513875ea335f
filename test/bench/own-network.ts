import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Set in the process inside its own network namespace. */
const MARK = 'BENCH_OWN_NETWORK';
/** unshare(1) makes the network, in which even loopback is down. */
const SCRIPT = 'ip link set lo up && exec "$@"';

/**
 * Runs this process again in its own network namespace if root may create one: the
 * machine's own network may keep track of each connection, and some thousand a second fill the table
 * for that. Then packets are lost, and the result shows how long their repeats take.
 *
 * @returns the exit code of the other process; null if this process must do the work
 */
export async function inOwnNetwork(): Promise<number | null> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0 || MARK in process.env) return null;
  const self = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  const child = spawn('unshare', ['--net', 'sh', '-c', SCRIPT, 'sh', ...self], {
    stdio: 'inherit',
    env: { ...process.env, [MARK]: '1' },
  });
  // A terminal sends its signals to both; others send them here alone.
  const stop = (signal: NodeJS.Signals): void => void child.kill(signal);
  process.on('SIGINT', stop).on('SIGTERM', stop);
  const [code] = (await once(child, 'exit')) as [number | null];
  process.off('SIGINT', stop).off('SIGTERM', stop);
  return code ?? 1;
}
