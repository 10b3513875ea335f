import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

export interface HookRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A webhook receiver. */
export interface HookServer {
  readonly port: number;
  readonly url: string;
  /** All complete requests so far, in order. */
  readonly requests: readonly HookRequest[];
  /** Open connections. */
  readonly open: number;
}

type Answer = (request: HookRequest, response: ServerResponse) => void;

/** Answers 200 by default. Closed when the test ends. */
export async function hookServer(
  answer: Answer = (_, response) => response.end('ok'),
): Promise<HookServer> {
  const requests: HookRequest[] = [];
  let open = 0;
  const server = createServer(async (incoming, response) => {
    const { method = '', url: path = '', headers } = incoming;
    const request = { method, path, headers, body: await text(incoming) };
    requests.push(request);
    answer(request, response);
  });
  server.on('connection', (socket) => {
    open += 1;
    socket.once('close', () => {
      open -= 1;
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}/hook`,
    requests,
    get open() {
      return open;
    },
  };
}

/** Answers with these statuses, one after the other, and then always with the last one. */
export function statuses(...codes: readonly number[]): Answer {
  const left = [...codes];
  return (_, response) => {
    const code = left.length > 1 ? left.shift() : left[0];
    response.writeHead(code ?? 200).end(`status ${code}`);
  };
}
