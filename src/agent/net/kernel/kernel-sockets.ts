import { closeSync } from 'node:fs';
import type { Socket } from 'node:net';
import { endianness } from 'node:os';
import { openSegmentStamps, type SegmentStamps } from './segment-stamps.ts';

/** What the kernel knows of a TCP socket that our event loop may not have seen yet. */
export interface SocketState {
  /** TCP_ESTABLISHED and the others of net/tcp_states.h. */
  readonly state: number;
  /** Bytes received and not read yet. */
  readonly unreadBytes: number;
  /** Milliseconds since we last sent data; the kernel counts in ticks (up to TICK_MS). */
  readonly sinceSentMs: number;
  /** Milliseconds since data last arrived; since the connection was made if none has. */
  readonly sinceReceivedMs: number;
  /**
   * Smoothed round trip, to the microsecond; before we send any data, the one sample of the
   * handshake, from the SYN to the SYN-ACK. 0 if there is none.
   */
  readonly rttMs: number;
  /** The shortest round trip so far; null if there is none or the kernel does not report it. */
  readonly minRttMs: number | null;
  /** Segments that we retransmitted, including SYNs. */
  readonly retransmits: number;
  /** Maximum bytes of data in a segment of ours. */
  readonly mss: number;
  /** Segments with data that have arrived, repeated ones too; null if it is not reported. */
  readonly dataSegmentsIn: number | null;
}

export const TCP_STATE = { established: 1, synSent: 2, closed: 7, closeWait: 8 } as const;

/** The longest tick of a kernel (CONFIG_HZ=100), milliseconds. */
export const TICK_MS = 10;

export interface KernelSockets {
  /** null if the descriptor is no TCP socket. It must be open, and ours. */
  read(fd: number): SocketState | null;
  /** Makes the kernel stamp datagrams that arrive on a UDP socket from now on. */
  stampArrivals(fd: number): void;
  /** Milliseconds since the datagram that was read last arrived; null if it was not stamped. */
  sinceArrivalMs(fd: number): number | null;
  /** Timestamps of TCP segments; null if koffi cannot watch descriptors. */
  readonly segments: SegmentStamps | null;
  /** The kernel's tick, milliseconds. */
  readonly tickMs: number;
  /** Milliseconds since the kernel last counted a tick. */
  sinceTickMs(): number;
  close(): void;
}

const IPPROTO_TCP = 6;
const TCP_INFO = 11;
const FIONREAD = 0x541b;
/** struct tcp_info (linux/tcp.h), as far as it is read; older kernels fill in less. */
const INFO_BYTES = 156;
const SEND_MSS_AT = 16;
const LAST_DATA_SENT_AT = 44;
const LAST_DATA_RECEIVED_AT = 52;
const RTT_AT = 68;
const TOTAL_RETRANSMITS_AT = 100;
const MIN_RTT_AT = 148;
const DATA_SEGMENTS_IN_AT = 152;
const NO_MIN_RTT = 0xffff_ffff;
const CLOCK_REALTIME = 0;
const CLOCK_MONOTONIC = 1;
/** A clock with the resolution of a tick. */
const CLOCK_MONOTONIC_COARSE = 6;
/** The number on 64-bit machines, where it fills in a struct timespec of 16 bytes. */
const SIOCGSTAMPNS = 0x8907;
const TIMESPEC_BYTES = 16;
const AF_INET = 2;
const SOCK_DGRAM_CLOEXEC = 0o2000002;

/** null if this platform has no such calls, or the optional package koffi is not installed. */
export async function loadKernelSockets(): Promise<KernelSockets | null> {
  if (process.platform !== 'linux' || endianness() !== 'LE') return null;
  try {
    const { default: koffi } = await import('koffi');
    if (koffi.type('void *').size !== 8) return null;
    const library = koffi.load(null);
    const getsockopt = library.func('int getsockopt(int, int, int, void *, void *)');
    const ioctl = library.func('int ioctl(int, unsigned long, void *)');
    const clockGettime = library.func('int clock_gettime(int, void *)');
    const clockGetres = library.func('int clock_getres(int, void *)');
    const openSocket = library.func('int socket(int, int, int)');
    const now = Buffer.alloc(TIMESPEC_BYTES);
    const stamp = Buffer.alloc(TIMESPEC_BYTES);
    /**
     * Requests stamps as long as the agent runs: the kernel stamps only while some socket requests
     * it, and starts a moment after the first request.
     */
    let keeperFd = -1;
    const keepStamps = (): void => {
      if (keeperFd >= 0) return;
      keeperFd = openSocket(AF_INET, SOCK_DGRAM_CLOEXEC, 0);
      if (keeperFd >= 0) ioctl(keeperFd, SIOCGSTAMPNS, stamp);
    };
    const segments = openSegmentStamps(koffi, keepStamps);
    const hasTick = clockGetres(CLOCK_MONOTONIC_COARSE, now) === 0;
    const tickMs = hasTick ? now.readUInt32LE(8) / 1e6 : TICK_MS;
    const info = Buffer.alloc(INFO_BYTES);
    const infoBytes = Buffer.alloc(4);
    const unread = Buffer.alloc(4);
    return {
      read(fd) {
        infoBytes.writeUInt32LE(INFO_BYTES);
        if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, info, infoBytes) !== 0) return null;
        if (ioctl(fd, FIONREAD, unread) !== 0) unread.writeInt32LE(0);
        const hasAll = infoBytes.readUInt32LE() >= INFO_BYTES;
        return {
          state: info.readUInt8(0),
          unreadBytes: unread.readInt32LE(0),
          sinceSentMs: info.readUInt32LE(LAST_DATA_SENT_AT),
          sinceReceivedMs: info.readUInt32LE(LAST_DATA_RECEIVED_AT),
          rttMs: info.readUInt32LE(RTT_AT) / 1000,
          minRttMs: minRttMsOf(info, infoBytes.readUInt32LE()),
          retransmits: info.readUInt32LE(TOTAL_RETRANSMITS_AT),
          mss: info.readUInt32LE(SEND_MSS_AT),
          dataSegmentsIn: hasAll ? info.readUInt32LE(DATA_SEGMENTS_IN_AT) : null,
        };
      },
      stampArrivals(fd) {
        keepStamps();
        // It fails, because nothing has been read yet, but enables stamps.
        ioctl(fd, SIOCGSTAMPNS, stamp);
      },
      sinceArrivalMs(fd) {
        clockGettime(CLOCK_REALTIME, now);
        if (ioctl(fd, SIOCGSTAMPNS, stamp) !== 0) return null;
        const agoMs = millisecondsBetween(stamp, now);
        // Without a stamp, the call returns its own time, which is later than ours.
        return agoMs > 0 ? agoMs : null;
      },
      segments,
      tickMs,
      sinceTickMs() {
        clockGettime(CLOCK_MONOTONIC_COARSE, stamp);
        clockGettime(CLOCK_MONOTONIC, now);
        return millisecondsBetween(stamp, now);
      },
      close() {
        segments?.close();
        if (keeperFd >= 0) closeSync(keeperFd);
        keeperFd = -1;
      },
    };
  } catch {
    return null;
  }
}

/**
 * Milliseconds between two structs timespec. Subtracts seconds and nanoseconds separately: a double
 * cannot represent their sum.
 */
function millisecondsBetween(from: Buffer, to: Buffer): number {
  const seconds = Number(to.readBigInt64LE(0) - from.readBigInt64LE(0));
  return seconds * 1000 + (to.readUInt32LE(8) - from.readUInt32LE(8)) / 1e6;
}

function minRttMsOf(info: Buffer, filledBytes: number): number | null {
  if (filledBytes < MIN_RTT_AT + 4) return null;
  const us = info.readUInt32LE(MIN_RTT_AT);
  return us === NO_MIN_RTT ? null : us / 1000;
}

/** null if the socket is closed or the kernel's state is not available. Takes microseconds. */
export function socketState(sockets: KernelSockets | null, socket: Socket): SocketState | null {
  if (sockets === null) return null;
  const fd = descriptorOf(socket);
  return fd === null ? null : sockets.read(fd);
}

/**
 * The kernel's time from the SYN to the SYN-ACK, however late our event loop saw it. null after a
 * repeated SYN, since it is not known which one was answered.
 *
 * @param state read right after connecting: once data is sent, the kernel averages in later samples
 */
export function handshakeMs({ rttMs, retransmits }: SocketState): number | null {
  return retransmits === 0 && rttMs > 0 ? rttMs : null;
}

/** Node's handle has it until the socket is closed. */
export function descriptorOf(socket: Socket): number | null {
  const { _handle: handle } = socket as Socket & { _handle?: { readonly fd?: number } | null };
  const fd = handle?.fd ?? -1;
  return socket.destroyed || fd < 0 ? null : fd;
}
