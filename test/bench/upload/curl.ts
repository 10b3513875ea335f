import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Files and their URLs. */
export interface Sent {
  readonly file: string;
  readonly url: string;
}

/**
 * Sends files one after the other over one connection.
 *
 * @returns the total duration of the transfers in milliseconds, without the start of the process
 */
export async function curlUpload(
  sent: readonly Sent[],
  options: { readonly method: 'PUT' | 'POST'; readonly headers: readonly string[] },
  signal: AbortSignal,
): Promise<number> {
  const headers = ['Expect:', ...options.headers].flatMap((header) => ['-H', header]);
  const transfers = sent.flatMap(({ file, url }) => ['-T', file, '-o', '/dev/null', url]);
  const { stdout } = await run(
    'curl',
    ['-sS', '--fail', '-X', options.method, '-w', '%{time_total}\n', ...headers, ...transfers],
    { signal },
  );
  const seconds = stdout.trim().split('\n').map(Number);
  if (seconds.length !== sent.length) {
    throw new Error(`curl made ${seconds.length} of ${sent.length} transfers`);
  }
  return seconds.reduce((sum, each) => sum + each, 0) * 1000;
}
