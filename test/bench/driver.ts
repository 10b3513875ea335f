import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** A process of plain Node that reads one command a line from stdin and answers each with one line. */
export interface Driver {
  readonly pid: number;
  /** The first line of its stdout. */
  readonly firstLine: string;
  /** @throws Error with its stderr if the process has ended */
  ask<Answer>(command: object): Promise<Answer>;
  stop(): Promise<void>;
}

/**
 * Starts `drivers/NAME.mjs` and waits for its first line. The signal kills it.
 *
 * @param options its one argument, as JSON
 * @param prefix goes before its command: `['chrt', '--fifo', '50']`
 */
export async function startDriver(
  name: string,
  options: object,
  signal: AbortSignal,
  prefix: readonly string[] = [],
): Promise<Driver> {
  const path = join(import.meta.dirname, 'drivers', `${name}.mjs`);
  const [program = '', ...args] = [...prefix, process.execPath, path, JSON.stringify(options)];
  const child = spawn(program, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close');
  const end = (): void => void child.kill('SIGKILL');
  signal.addEventListener('abort', end, { once: true });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (said.length < 20_000) said += text;
  });
  // The next read reports a process that has ended.
  child.stdin.on('error', () => {});
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const nextLine = async (): Promise<string> => {
    const next = await lines.next();
    if (next.done === true) throw new Error(`${name} ended: ${said.trim()}`);
    return next.value;
  };
  const stop = async (): Promise<void> => {
    signal.removeEventListener('abort', end);
    end();
    await ended;
  };
  let first: string;
  try {
    first = await nextLine();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    pid: child.pid ?? 0,
    firstLine: first,
    async ask<Answer>(command: object): Promise<Answer> {
      child.stdin.write(`${JSON.stringify(command)}\n`);
      return JSON.parse(await nextLine());
    },
    stop,
  };
}
