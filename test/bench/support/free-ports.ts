import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';

/** Free ports of 127.0.0.1. All are held until the last is found, so that none is given twice. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const servers: Server[] = [];
  try {
    for (let found = 0; found < count; found += 1) {
      const server = createServer().listen(0, '127.0.0.1');
      servers.push(server);
      await once(server, 'listening');
    }
    return servers.map((server) => (server.address() as AddressInfo).port);
  } finally {
    await Promise.all(servers.map((server) => new Promise((closed) => server.close(closed))));
  }
}
