import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

type Notice = Readonly<Record<string, unknown>>;

/** The webhook target of all cases: each account has its own path. */
export interface StoreHook {
  urlFor(accountId: string): string;
  /** In the order of arrival. */
  received(accountId: string): readonly Notice[];
  close(): Promise<void>;
}

export async function openHook(): Promise<StoreHook> {
  const received = new Map<string, Notice[]>();
  const server = createServer(async (incoming, response) => {
    const accountId = (incoming.url ?? '').slice(1);
    const notice: Notice = JSON.parse(await text(incoming));
    received.set(accountId, [...(received.get(accountId) ?? []), notice]);
    response.end('ok');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    urlFor: (accountId) => `http://127.0.0.1:${port}/${accountId}`,
    received: (accountId) => received.get(accountId) ?? [],
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
