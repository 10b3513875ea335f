import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { WebSocket } from 'undici';
import { type Running, startChild } from '../support/child-process.ts';

const MAIN = join(import.meta.dirname, '../../../dist/cli/main.js');
/** The second collection frees what the first one only found unreachable. */
const COLLECTIONS = 3;

export interface Memory {
  /** Reachable objects, buffers outside the heap included. */
  readonly keptBytes: number;
  /** The resident memory of the process. */
  readonly residentBytes: number;
}

/**
 * Starts the agent, lets it collect all garbage when it is idle, and stops it.
 *
 * @param readyOn the log line that shows that it has its checks
 * @param restMs the time for work and garbage that the start left behind
 */
export async function memoryOfAgent(
  env: Readonly<Record<string, string>>,
  readyOn: RegExp,
  restMs: number,
  signal: AbortSignal,
): Promise<Memory> {
  const agent = await startChild(process.execPath, ['--inspect=127.0.0.1:0', MAIN, 'agent'], {
    env: { AGENT_HEALTH_PORT: '0', SHUTDOWN_GRACE_SECONDS: '1', LOG_LEVEL: 'info', ...env },
    readyOn: { stream: 'stderr', pattern: readyOn },
  });
  try {
    await delay(restMs, undefined, { signal });
    return await collectedMemory(agent);
  } finally {
    await agent.stop();
  }
}

interface Usage {
  readonly rss: number;
  readonly heapUsed: number;
  readonly external: number;
}

async function collectedMemory(agent: Running): Promise<Memory> {
  const [url] = /ws:\/\/\S+/.exec(agent.stderr()) ?? [];
  if (url === undefined) throw new Error(`no inspector: ${agent.stderr()}`);
  const inspector = await openInspector(url);
  try {
    for (let n = 0; n < COLLECTIONS; n += 1) await inspector.send('HeapProfiler.collectGarbage');
    const { result } = await inspector.send<{ result: { value: Usage } }>('Runtime.evaluate', {
      expression: 'process.memoryUsage()',
      returnByValue: true,
    });
    const { rss, heapUsed, external } = result.value;
    return { keptBytes: heapUsed + external, residentBytes: rss };
  } finally {
    inspector.close();
  }
}

interface Inspector {
  send<Result>(method: string, params?: object): Promise<Result>;
  close(): void;
}

async function openInspector(url: string): Promise<Inspector> {
  const socket = new WebSocket(url);
  const waiting = new Map<number, (result: never) => void>();
  let sent = 0;
  socket.onmessage = ({ data }) => {
    const { id, result } = JSON.parse(String(data));
    waiting.get(id)?.(result as never);
  };
  await new Promise<void>((resolve, reject) => {
    socket.onopen = () => resolve();
    socket.onerror = () => reject(new Error('the inspector does not answer'));
  });
  return {
    send: (method, params = {}) =>
      new Promise((resolve, reject) => {
        sent += 1;
        waiting.set(sent, resolve);
        socket.onclose = () => reject(new Error('the agent ended'));
        socket.send(JSON.stringify({ id: sent, method, params }));
      }),
    close: () => socket.close(),
  };
}
