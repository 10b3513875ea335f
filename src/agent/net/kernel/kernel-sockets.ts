import { endianness } from 'node:os';

/** What the kernel knows of a TCP socket that our event loop may not have seen yet. */
export interface SocketState {
  /** TCP_ESTABLISHED and the others of net/tcp_states.h. */
  readonly state: number;
  /** Received and not read yet. */
  readonly unreadBytes: number;
  /** Milliseconds since we last sent data; the kernel counts in ticks (up to TICK_MS). */
  readonly sinceSentMs: number;
  /** Milliseconds since data last came; since the connection was made where none did. */
  readonly sinceReceivedMs: number;
}

export const TCP_STATE = { established: 1, synSent: 2, closed: 7, closeWait: 8 } as const;

/** A kernel's tick where it is coarsest (CONFIG_HZ=100). */
export const TICK_MS = 10;

export interface KernelSockets {
  /** null where the descriptor is no TCP socket. It must be open, and ours, at this instant. */
  read(fd: number): SocketState | null;
}

const IPPROTO_TCP = 6;
const TCP_INFO = 11;
const FIONREAD = 0x541b;
/** struct tcp_info, as far as all kernels have it (linux/tcp.h). */
const INFO_BYTES = 104;
const LAST_DATA_SENT_AT = 44;
const LAST_DATA_RECEIVED_AT = 52;

/** null where this platform has no such calls, or the optional package koffi is not there. */
export async function loadKernelSockets(): Promise<KernelSockets | null> {
  if (process.platform !== 'linux' || endianness() !== 'LE') return null;
  try {
    const { default: koffi } = await import('koffi');
    const library = koffi.load(null);
    const getsockopt = library.func('int getsockopt(int, int, int, void *, void *)');
    const ioctl = library.func('int ioctl(int, unsigned long, void *)');
    const info = Buffer.alloc(INFO_BYTES);
    const infoBytes = Buffer.alloc(4);
    const unread = Buffer.alloc(4);
    return {
      read(fd) {
        infoBytes.writeUInt32LE(INFO_BYTES);
        if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, info, infoBytes) !== 0) return null;
        if (ioctl(fd, FIONREAD, unread) !== 0) unread.writeInt32LE(0);
        return {
          state: info.readUInt8(0),
          unreadBytes: unread.readInt32LE(0),
          sinceSentMs: info.readUInt32LE(LAST_DATA_SENT_AT),
          sinceReceivedMs: info.readUInt32LE(LAST_DATA_RECEIVED_AT),
        };
      },
    };
  } catch {
    return null;
  }
}
