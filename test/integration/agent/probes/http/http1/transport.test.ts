import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { startHttp1 } from '../../../../../../src/agent/probes/http/http1/transport.ts';
import type { ExchangeEnd } from '../../../../../../src/agent/probes/http/transport.ts';
import { NOT_SCRUBBED } from '../../../../../../src/agent/secrets/cut-scrubbed.ts';
import { answering, rawServer } from '../../../../../support/servers/http-servers.ts';

async function connected(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

const MAX_HEADER_BYTES = 1024;

test('a closed socket ends the exchange at once', async () => {
  const server = await rawServer(answering());
  const url = server.url();
  const socket = await connected(url);
  socket.destroy();
  const request = { method: 'GET', url: new URL(url), headers: [], body: null };
  const endings: ExchangeEnd[] = [];
  const unexpected = (): never => {
    throw new Error('only an ending was expected');
  };
  const transport = startHttp1(
    socket,
    request,
    {
      firstByte: unexpected,
      head: unexpected,
      data: unexpected,
      read: unexpected,
      end: unexpected,
      failed: (ending) => endings.push(ending),
      fault: unexpected,
    },
    MAX_HEADER_BYTES,
    NOT_SCRUBBED,
  );
  expect(endings.map(({ code }) => code)).toEqual(['CONNECTION_CLOSED']);
  transport.destroy();
});

test('an exception in a callback ends its exchange, and others continue', async () => {
  const server = await rawServer(answering('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'));
  const url = server.url();
  const ask = async (data: () => void): Promise<unknown> => {
    const socket = await connected(url);
    const request = { method: 'GET', url: new URL(url), headers: [], body: null };
    return await new Promise((resolve) => {
      const transport = startHttp1(
        socket,
        request,
        {
          firstByte() {},
          head() {},
          data,
          read() {},
          end: () => resolve('ended'),
          failed: ({ code }) => resolve(code),
          fault: resolve,
        },
        MAX_HEADER_BYTES,
        NOT_SCRUBBED,
      );
      socket.once('close', () => transport.destroy());
      onTestFinished(() => transport.destroy());
    });
  };
  const thrown = new Error('a fault of ours');
  const broken = await ask(() => {
    throw thrown;
  });
  expect(broken).toBe(thrown);
  expect(await ask(() => {})).toBe('ended');
});
