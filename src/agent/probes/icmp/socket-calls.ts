import { endianness } from 'node:os';
import { getSystemErrorName } from 'node:util';
import { messageOf } from '../../../runtime/errors.ts';

/** Numbers of Linux that are the same on every 64-bit little-endian architecture of Node. */
export const LINUX = {
  AF_INET: 2,
  AF_INET6: 10,
  SOCK_DGRAM: 2,
  SOCK_NONBLOCK: 0o4000,
  SOCK_CLOEXEC: 0o2000000,
  SOL_SOCKET: 1,
  SO_SNDBUF: 7,
  SO_RCVBUF: 8,
  SO_TIMESTAMPNS: 35,
  IPPROTO_IP: 0,
  IPPROTO_ICMP: 1,
  IPPROTO_IPV6: 41,
  IPPROTO_ICMPV6: 58,
  IP_TTL: 2,
  IP_RECVERR: 11,
  IP_RECVTTL: 12,
  IPV6_RECVERR: 25,
  IPV6_RECVHOPLIMIT: 51,
  IPV6_HOPLIMIT: 52,
  MSG_ERRQUEUE: 0x2000,
  CLOCK_REALTIME: 0,
} as const;

export interface PollHandle {
  close(): void;
}

/** The few system calls that Node does not offer. Each returns -1 on an error; see errorName. */
export interface Libc {
  socket(family: number, type: number, protocol: number): number;
  close(fd: number): void;
  setOption(fd: number, level: number, option: number, value: number): number;
  /** The header is a struct msghdr whose pointers point into memory that outlives the call. */
  sendMessage(fd: number, header: Buffer, flags: number): number;
  /** The same with `count` structs mmsghdr in a row. Returns how many messages arrived. */
  receiveMessages(fd: number, headers: Buffer, count: number, flags: number): number;
  /** Writes a struct timespec of the wall clock. */
  realTime(timespec: Buffer): void;
  addressOf(memory: Buffer): bigint;
  /** The name of the last call's error, for example EAGAIN. Only right after that call. */
  errorName(): string;
  /**
   * Calls back in every event-loop iteration in which the descriptor has data or an error to read,
   * outside of any scope of Node's: the callback must not throw, and must leave
   * all work to setImmediate. Close the handle before the descriptor.
   */
  poll(fd: number, callback: () => void): PollHandle;
}

export type LoadedLibc =
  | { readonly ok: true; readonly libc: Libc }
  | { readonly ok: false; readonly reason: string };

/** Loads koffi on first use; `reason` says why this machine cannot use it. */
export async function loadLibc(): Promise<LoadedLibc> {
  if (process.platform !== 'linux' || endianness() !== 'LE') {
    return { ok: false, reason: `this is ${process.platform} on ${process.arch}, not Linux` };
  }
  try {
    const { default: koffi } = await import('koffi');
    if (koffi.type('void *').size !== 8) {
      return { ok: false, reason: `${process.arch} is not a 64-bit architecture` };
    }
    // Optional: koffi has it only if it was built against libuv, and older versions never.
    const node: { readonly poll?: unknown } | undefined = koffi.node;
    if (typeof node?.poll !== 'function') {
      return { ok: false, reason: `koffi ${koffi.version} cannot watch a socket (node.poll)` };
    }
    return { ok: true, libc: bind(koffi) };
  } catch (error) {
    return { ok: false, reason: `koffi cannot be used: ${messageOf(error)}` };
  }
}

function bind(koffi: typeof import('koffi').default): Libc {
  type Call = (...args: unknown[]) => number;
  const library = koffi.load(null);
  const call = (prototype: string): Call => library.func(prototype) as Call;
  const socket = call('int socket(int, int, int)');
  const close = call('int close(int)');
  const setsockopt = call('int setsockopt(int, int, int, void *, uint32)');
  const sendmsg = call('intptr_t sendmsg(int, void *, int)');
  const recvmmsg = call('int recvmmsg(int, void *, uint32, int, void *)');
  const gettime = call('int clock_gettime(int, void *)');
  const optionValue = Buffer.alloc(4);
  return {
    socket,
    close,
    setOption(fd, level, option, value) {
      optionValue.writeInt32LE(value);
      return setsockopt(fd, level, option, optionValue, optionValue.length);
    },
    sendMessage: sendmsg,
    receiveMessages: (fd, headers, count, flags) => recvmmsg(fd, headers, count, flags, null),
    realTime(timespec) {
      gettime(LINUX.CLOCK_REALTIME, timespec);
    },
    addressOf: (memory) => koffi.address(memory),
    errorName() {
      const number = koffi.errno();
      return number > 0 ? getSystemErrorName(-number) : 'an unknown error';
    },
    poll(fd, callback) {
      const handle = koffi.node.poll(fd, { readable: true }, poll);
      // libuv stops polling after POLLERR, which a ping socket raises with every ICMP error; the
      // first argument, which the types leave out, is then the negative status.
      function poll(...args: unknown[]): void {
        if (typeof args[0] === 'number' && args[0] < 0) handle.start({ readable: true }, poll);
        callback();
      }
      return handle;
    },
  };
}
