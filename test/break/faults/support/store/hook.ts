import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

type Notice = Readonly<Record<string, unknown>>;

/** The webhook target of all cases: each channel has its own path. */
export interface StoreHook {
  /** @param path letters, digits and dashes, unique to a case */
  urlFor(path: string): string;
  /** In the order of arrival; also those that it refused. */
  received(path: string): readonly Notice[];
  /** Until `accept`, answers the requests to this path with a redirect, after which none is sent again. */
  refuse(path: string): void;
  accept(path: string): void;
  close(): Promise<void>;
}

export async function openHook(): Promise<StoreHook> {
  const received = new Map<string, Notice[]>();
  const refused = new Set<string>();
  const server = createServer(async (incoming, response) => {
    const path = (incoming.url ?? '').slice(1);
    const notice: Notice = JSON.parse(await text(incoming));
    received.set(path, [...(received.get(path) ?? []), notice]);
    if (refused.has(path)) response.writeHead(302, { location: '/' });
    response.end('ok');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    urlFor: (path) => `http://127.0.0.1:${port}/${path}`,
    received: (path) => received.get(path) ?? [],
    refuse: (path) => void refused.add(path),
    accept: (path) => void refused.delete(path),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
