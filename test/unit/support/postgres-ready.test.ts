import { EventEmitter, once } from 'node:events';
import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { ready } from '../../support/database/postgres.ts';

function serverThatLogs() {
  const stderr = new PassThrough();
  return Object.assign(new EventEmitter(), { stderr });
}

it('a test server is ready although it refused a thousand connections while it recovered', async () => {
  const server = serverThatLogs();
  const isReady = ready(server);
  for (let refused = 0; refused < 1_000; refused += 1)
    server.stderr.write('FATAL:  the database system is not yet accepting connections\n');
  server.stderr.write('LOG:  database system is ready to accept connections\n');
  await expect(isReady).resolves.toBeUndefined();
});

it('a test server that ends at once is reported with the end of its log', async () => {
  const server = serverThatLogs();
  const isReady = ready(server);
  const isRead = once(server.stderr, 'end');
  server.stderr.end('FATAL:  could not create any TCP/IP sockets\n');
  await isRead;
  server.emit('exit', 1);
  await expect(isReady).rejects.toThrow('could not create any TCP/IP sockets');
});
