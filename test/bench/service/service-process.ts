import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { nodeArgs } from '../support/node-args.ts';
import type { BenchDatabase } from './bench-database.ts';

const MAIN = join(import.meta.dirname, '../../../dist/cli/main.js');

/** The built service in a process of its own, as users run it. */
export interface ServiceProcess {
  readonly pid: number;
  readonly origin: string;
  stop(): Promise<void>;
}

export async function startService({ env }: BenchDatabase): Promise<ServiceProcess> {
  const child = spawn(process.execPath, [...nodeArgs(), MAIN, 'service'], {
    env: {
      PATH: process.env.PATH,
      PORT: '0',
      HOST: '127.0.0.1',
      // As many as the fan-out is measured with.
      MAX_AGENTS_PER_LOCATION: '1000',
      ...env,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'exit');
  const lines = createInterface({ input: child.stderr });
  const port = await new Promise<number>((resolve, reject) => {
    let said = '';
    lines.on('line', (line) => {
      if (said.length < 20_000) said += `${line}\n`;
      const found = /"port":(\d+)/.exec(line)?.[1];
      if (found !== undefined) resolve(Number(found));
    });
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`the service ended: ${said}`)));
  });
  return {
    pid: child.pid ?? 0,
    origin: `http://127.0.0.1:${port}`,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
