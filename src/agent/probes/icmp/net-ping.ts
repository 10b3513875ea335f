import { randomInt } from 'node:crypto';
import { messageOf } from '../../../runtime/errors.ts';
import type { Family } from '../../net/resolver.ts';

/** The part of the package net-ping that is used; it has no types of its own. */
export interface NetPing {
  readonly NetworkProtocol: Readonly<Record<'IPv4' | 'IPv6', number>>;
  /** Throws if the operating system does not allow a raw socket. */
  createSession(options: { networkProtocol: number; retries: number }): NetPingSession;
}

export interface NetPingSession {
  on(event: 'error', listener: (error: unknown) => void): void;
  on(event: 'close', listener: () => void): void;
  getSocket(): NetPingSocket;
  close(): void;
}

export interface NetPingSocket {
  on(event: 'message', listener: (packet: Buffer, source: string) => void): void;
  setOption(level: number, option: number, value: number): void;
  setOption(level: number, option: number, value: Buffer, bytes: number): void;
  /** `beforeSend` runs right before the packet is handed to the kernel. */
  send(
    packet: Buffer,
    offset: number,
    length: number,
    address: string,
    beforeSend: () => void,
    done: (error: Error | null) => void,
  ): void;
}

export type LoadedNetPing =
  | { readonly ok: true; readonly netPing: NetPing }
  | { readonly ok: false; readonly reason: string };

/** An optional dependency: its addon may be missing, or built for another version of Node. */
export async function loadNetPing(): Promise<LoadedNetPing> {
  const packageName: string = 'net-ping';
  try {
    const loaded = (await import(packageName)) as { default: NetPing };
    return { ok: true, netPing: loaded.default };
  } catch (error) {
    const [firstLine] = messageOf(error).split('\n', 1);
    return { ok: false, reason: `the package net-ping cannot be loaded: ${firstLine}` };
  }
}

export interface RawSession {
  readonly session: NetPingSession;
  readonly socket: NetPingSocket;
}

/**
 * Opens a session for its raw socket, which receives only ICMP messages about echo requests.
 *
 * @throws Error of the addon if the operating system does not allow a raw socket
 */
export function openRawSession(netPing: NetPing, family: Family, onClose: () => void): RawSession {
  const networkProtocol = netPing.NetworkProtocol[family === 4 ? 'IPv4' : 'IPv6'];
  const session = netPing.createSession({ networkProtocol, retries: 0 });
  // An error that ends the socket is followed by 'close'.
  session.on('error', () => {});
  session.on('close', onClose);
  const socket = session.getSocket();
  const { level, option, filter } = icmpFilter(family);
  try {
    socket.setOption(level, option, filter, filter.length);
  } catch {
    // Without the filter, unrelated messages wake us up and are discarded.
  }
  return { session, socket };
}

/**
 * An identifier for echo requests on net-ping's raw sockets, 1..65535. Never that of net-ping's own
 * session, which it derives from the pid, because it modifies packets that have it.
 */
export function ownIdentifier(): number {
  const identifier = randomInt(1, 0xffff);
  return identifier === process.pid % 0xffff ? 0xffff : identifier;
}

/** ICMP_FILTER of raw(7) and ICMP6_FILTER of RFC 3542 3.2: on Linux a set bit blocks a type. */
function icmpFilter(family: Family): { level: number; option: number; filter: Buffer } {
  const wanted = family === 4 ? [0, 3, 11] : [1, 3, 129];
  const filter = Buffer.alloc(family === 4 ? 4 : 32, 0xff);
  for (const type of wanted) {
    const at = Math.floor(type / 32) * 4;
    filter.writeUInt32LE((filter.readUInt32LE(at) & ~(1 << (type % 32))) >>> 0, at);
  }
  return family === 4 ? { level: 255, option: 1, filter } : { level: 58, option: 1, filter };
}
