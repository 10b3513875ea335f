import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { bytesOf, packed, type WireAnswer } from './bytes.ts';

/** A request that waits for its answer. */
export interface Held<Asked> {
  readonly asked: Asked;
  readonly response: ServerResponse;
}

/** Answers a request that was read. Resolves when everything was sent, or cannot be. */
export async function sendAnswer(response: ServerResponse, answer: WireAnswer): Promise<void> {
  const { status, headers, ending, packing } = answer;
  const { socket } = response;
  if (ending === 'whole') {
    const encoding = packing === 'none' ? {} : { 'content-encoding': 'gzip' };
    response.writeHead(status, 'Said', { ...Object.fromEntries(headers), ...encoding });
    response.end(packed(answer));
    if (!response.closed) await once(response, 'close');
    return;
  }
  await new Promise<void>((resolve) => {
    if (socket === null) resolve();
    else socket.write(bytesOf(answer), () => resolve());
  });
  if (ending !== 'silence') socket?.destroy();
}

export interface HoldingServer<Asked> {
  readonly url: URL;
  /** Oldest first; answering one removes it. */
  readonly held: Held<Asked>[];
  close(): Promise<void>;
}

/** A service with scripted answers. */
export async function startHoldingServer<Asked>(): Promise<HoldingServer<Asked>> {
  const held: Held<Asked>[] = [];
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    request.on('error', () => {});
    json(request).then(
      (asked) => held.push({ asked: asked as Asked, response }),
      () => {},
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    held,
    async close(): Promise<void> {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
