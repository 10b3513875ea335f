import dgram from 'node:dgram';
import { once } from 'node:events';
import net from 'node:net';
import { type AskedQuestion, readQuestion } from './dns-wire.ts';

/** Ways to answer one question. */
interface Channel {
  /** Normal: a datagram to the client, or a framed message on the connection. */
  send(message: Buffer): void;
  /** UDP: from another socket of the same host, thus from another port. */
  sendFromElsewhere(message: Buffer): Promise<void>;
  /** TCP: these raw bytes, in one segment if possible. */
  write(bytes: Buffer): void;
  /** TCP: byte by byte, each in its own iteration of the event loop. */
  drip(bytes: Buffer): Promise<void>;
  /** TCP: ends the stream. */
  end(): void;
  /** TCP: RST. */
  reset(): void;
}

export type Handler = (asked: AskedQuestion, channel: Channel) => void | Promise<void>;

export interface DnsResponder {
  readonly address: string;
  readonly port: number;
  /** All questions so far. */
  readonly asked: readonly AskedQuestion[];
  /** Resolves when `count` questions have arrived since the start. */
  questions(count: number): Promise<readonly AskedQuestion[]>;
  close(): Promise<void>;
}

export interface ResponderOptions {
  readonly address?: string;
  readonly port?: number;
  /** If omitted, nothing listens on that protocol, and the kernel answers. */
  readonly udp?: Handler;
  readonly tcp?: Handler;
}

/** A scripted name server on loopback, UDP and TCP on the same port. */
export async function startDnsResponder(options: ResponderOptions): Promise<DnsResponder> {
  const { address = '127.0.0.1' } = options;
  const asked: AskedQuestion[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  const connections = new Set<net.Socket>();

  const note = (question: AskedQuestion): void => {
    asked.push(question);
    for (const { count, resolve } of waiting) if (asked.length >= count) resolve();
  };

  const server = net.createServer({ noDelay: true }, (socket) => {
    connections.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => connections.delete(socket));
    let held = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      held = Buffer.concat([held, chunk]);
      if (held.length < 2 || held.length < held.readUInt16BE(0) + 2) return;
      const question = readQuestion(held.subarray(2), 'TCP');
      held = Buffer.alloc(0);
      note(question);
      void options.tcp?.(question, tcpChannel(socket));
    });
  });
  const socket = dgram.createSocket(net.isIPv6(address) ? 'udp6' : 'udp4');
  socket.on('message', (bytes, from) => {
    const question = readQuestion(bytes, 'UDP');
    note(question);
    void options.udp?.(question, udpChannel(socket, from));
  });

  let port = await listen(server, address, options.port ?? 0);
  while (options.udp !== undefined && !(await bindUdp(socket, port, address))) {
    if (options.port !== undefined) throw new Error(`UDP port ${port} of ${address} is taken`);
    await closed(server);
    port = await listen(server, address, 0);
  }
  if (options.tcp === undefined) await closed(server);

  return {
    address,
    port,
    asked,
    async questions(count) {
      if (asked.length < count) {
        await new Promise<void>((resolve) => waiting.push({ count, resolve }));
      }
      return asked;
    },
    async close() {
      for (const connection of connections) connection.destroy();
      if (server.listening) await closed(server);
      socket.close();
      await once(socket, 'close');
    },
  };
}

async function listen(server: net.Server, address: string, port: number): Promise<number> {
  server.listen(port, address);
  await once(server, 'listening');
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('not listening on a port');
  return bound.port;
}

/** False if the port, which was free for TCP, is in use for UDP. */
async function bindUdp(socket: dgram.Socket, port: number, address: string): Promise<boolean> {
  socket.bind(port, address);
  try {
    await once(socket, 'listening');
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') return false;
    throw error;
  }
}

function closed(server: net.Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}

function udpChannel(socket: dgram.Socket, to: dgram.RemoteInfo): Channel {
  const notHere = (): never => {
    throw new Error('only over TCP');
  };
  return {
    send: (message) => socket.send(message, to.port, to.address),
    async sendFromElsewhere(message) {
      const other = dgram.createSocket('udp4');
      await new Promise((resolve) => other.send(message, to.port, to.address, resolve));
      other.close();
    },
    write: notHere,
    drip: notHere,
    end: notHere,
    reset: notHere,
  };
}

function tcpChannel(socket: net.Socket): Channel {
  return {
    send(message) {
      socket.write(framed(message));
    },
    sendFromElsewhere: () => Promise.reject(new Error('only over UDP')),
    write: (bytes) => socket.write(bytes),
    async drip(bytes) {
      for (const byte of bytes) {
        if (socket.destroyed) return;
        socket.write(Buffer.from([byte]));
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
    end: () => socket.end(),
    reset: () => socket.resetAndDestroy(),
  };
}

export function framed(message: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(message.length);
  return Buffer.concat([length, message]);
}
