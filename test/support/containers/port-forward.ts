import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Ask, Reply } from '../service/service-app.ts';
import type { ContainerHost } from './container-host.ts';

const SCRIPT = fileURLToPath(new URL('port-forward.mjs', import.meta.url));

/** Lets the tests reach a loopback port of a host's network through a Unix socket. */
export async function openPortForward(
  host: ContainerHost,
  port: number,
): Promise<{ readonly path: string; close(): Promise<void> }> {
  const path = join(host.folder, `port-${port}-${process.pid}`);
  const child = spawn('nsenter', host.inside(process.execPath, SCRIPT, path, String(port)), {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  return {
    path,
    async close() {
      const ended = once(child, 'close');
      child.stdin.end();
      await ended;
    },
  };
}

/** Sends an HTTP request through the Unix socket. @throws the error of the connection */
export async function requestThrough(
  socketPath: string,
  path: string,
  { key = null, method = 'GET', body }: Ask = {},
): Promise<Reply> {
  const sent = request({
    socketPath,
    path,
    method,
    agent: false,
    headers: {
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
  });
  sent.end(body === undefined ? undefined : JSON.stringify(body));
  const [response] = await once(sent, 'response');
  const received = await text(response);
  const isJson = /^[[{]/.test(received);
  return {
    status: response.statusCode,
    headers: response.headers,
    text: received,
    json: isJson ? JSON.parse(received) : null,
  };
}
