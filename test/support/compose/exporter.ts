import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';

/**
 * Debian's blackbox exporter with a file of modules, ended with the test.
 *
 * @returns its host and port
 * @throws Error with its output if it does not start
 */
export async function startExporter(modulesFile: string): Promise<string> {
  const args = [`--config.file=${modulesFile}`, '--web.listen-address=127.0.0.1:0'];
  const child = spawn('prometheus-blackbox-exporter', args, {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'close');
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  let log = '';
  child.stderr.setEncoding('utf8');
  for await (const chunk of child.stderr.iterator({ destroyOnReturn: false })) {
    log += chunk as string;
    const [, address] = /Listening on.*?address=(\S+)/.exec(log) ?? [];
    if (address !== undefined) {
      child.stderr.resume();
      return address;
    }
  }
  throw new Error(`the exporter ended: ${log}`);
}
