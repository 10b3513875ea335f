import { closeSync } from 'node:fs';

/** The segments of a TCP socket that wait to be read. Stamps are of the wall clock. */
export interface UnreadSegments {
  readonly bytes: number;
  /**
   * When the first of them arrived, or a later instant: the kernel may have merged later segments
   * into it, and then this is when the last of those arrived.
   */
  readonly first: WallStamp;
  /** When the last of them arrived. */
  readonly last: WallStamp;
}

/** Separate numbers, since a double cannot represent nanoseconds since the epoch. */
export interface WallStamp {
  readonly seconds: number;
  readonly nanos: number;
}

export interface ReadableWatch {
  /** Watches again after a callback; false if the kernel refuses. */
  again(): boolean;
  /**
   * No callback follows.
   *
   * @param isClosed the socket is closed: its descriptor may be another socket's by now
   */
  end(isClosed: boolean): void;
}

export interface SegmentStamps {
  /**
   * Calls back once when the socket has something to read, outside of any scope of Node's: the
   * callback must not throw, and must not raise events. null if the kernel refuses.
   */
  watch(fd: number, onReadable: () => void): ReadableWatch | null;
  /** Leaves the data unread. null if no data waits, or if it has no timestamps. */
  unread(fd: number): UnreadSegments | null;
  /** The current time of the wall clock, in the form of the stamps. */
  now(): WallStamp;
  close(): void;
}

export function millisecondsSince(stamp: WallStamp, now: WallStamp): number {
  return (now.seconds - stamp.seconds) * 1000 + (now.nanos - stamp.nanos) / 1e6;
}

const SOL_SOCKET = 1;
const SO_TIMESTAMPNS = 35;
const EPOLL_CLOEXEC = 0o2000000;
const EPOLL_CTL_ADD = 1;
const EPOLL_CTL_DEL = 2;
const EPOLL_CTL_MOD = 3;
/** EPOLLIN, EPOLLRDHUP, and EPOLLONESHOT: one callback each time. */
const EPOLL_EVENTS = 0x4000_2001;
const MAX_EVENTS = 256;
/** MSG_PEEK, MSG_TRUNC (copies nothing) and MSG_DONTWAIT. */
const PEEK_FLAGS = 0x62;
/** More bytes than any socket has unread. */
const ALL_BYTES = 0x1000_0000;
const CLOCK_REALTIME = 0;
const TIMESPEC_BYTES = 16;

// struct msghdr, and behind it what its pointers point to: struct iovec, control messages, data.
const IOVEC_AT = 64;
const IOVEC_LENGTH_AT = IOVEC_AT + 8;
const CONTROL_AT = 128;
const CONTROL_BYTES = 128;
const DATA_AT = CONTROL_AT + CONTROL_BYTES;
const BLOCK_BYTES = DATA_AT + 8;
const CONTROL_LENGTH_AT = 40;
/** The only control message: a struct cmsghdr of 16 bytes and a struct timespec. */
const STAMP_BYTES = 32;
const STAMP_TYPE_AT = CONTROL_AT + 12;
const STAMP_AT = CONTROL_AT + 16;

type Koffi = typeof import('koffi').default;

/** @param keepStamps makes the kernel stamp whatever arrives from then on */
export function openSegmentStamps(koffi: Koffi, keepStamps: () => void): SegmentStamps | null {
  // Optional: koffi has it only if it was built against libuv.
  const node: { readonly poll?: unknown } | undefined = koffi.node;
  return typeof node?.poll === 'function' ? new EpollStamps(koffi, keepStamps) : null;
}

type Call = (...args: unknown[]) => number;

/**
 * Watches all sockets in an epoll instance of its own, since libuv allows only one handle per
 * descriptor, which Node has. libuv watches the instance.
 */
class EpollStamps implements SegmentStamps {
  readonly #koffi: Koffi;
  readonly #keepStamps: () => void;
  readonly #control: Call;
  readonly #wait: Call;
  readonly #create: Call;
  readonly #setOption: Call;
  readonly #receive: Call;
  readonly #time: Call;
  readonly #watches = new Map<number, () => void>();
  readonly #event: Buffer;
  readonly #events: Buffer;
  readonly #eventBytes: number;
  readonly #message = Buffer.alloc(BLOCK_BYTES);
  readonly #timespec = Buffer.alloc(TIMESPEC_BYTES);
  readonly #on = Buffer.from([1, 0, 0, 0]);
  #lastKey = 0;
  #poll: ReturnType<Koffi['node']['poll']> | null = null;
  #epollFd = -1;

  constructor(koffi: Koffi, keepStamps: () => void) {
    const library = koffi.load(null);
    const call = (prototype: string): Call => library.func(prototype) as Call;
    this.#koffi = koffi;
    this.#keepStamps = keepStamps;
    this.#create = call('int epoll_create1(int)');
    this.#control = call('int epoll_ctl(int, int, int, void *)');
    this.#wait = call('int epoll_wait(int, void *, int, int)');
    this.#setOption = call('int setsockopt(int, int, int, void *, uint32)');
    this.#receive = call('intptr_t recvmsg(int, void *, int)');
    this.#time = call('int clock_gettime(int, void *)');
    // struct epoll_event is packed on x86-64 only.
    this.#eventBytes = process.arch === 'x64' ? 12 : 16;
    this.#event = Buffer.alloc(this.#eventBytes);
    this.#events = Buffer.alloc(this.#eventBytes * MAX_EVENTS);
    const base = koffi.address(this.#message);
    this.#message.writeBigUInt64LE(base + BigInt(IOVEC_AT), 16);
    this.#message.writeBigUInt64LE(1n, 24);
    this.#message.writeBigUInt64LE(base + BigInt(CONTROL_AT), 32);
    this.#message.writeBigUInt64LE(base + BigInt(DATA_AT), IOVEC_AT);
  }

  watch(fd: number, onReadable: () => void): ReadableWatch | null {
    if (!this.#open()) return null;
    if (this.#setOption(fd, SOL_SOCKET, SO_TIMESTAMPNS, this.#on, this.#on.length) !== 0) {
      return null;
    }
    this.#lastKey = (this.#lastKey + 1) % 2 ** 32;
    const key = this.#lastKey;
    if (!this.#set(EPOLL_CTL_ADD, fd, key)) return null;
    this.#watches.set(key, onReadable);
    return {
      again: () => {
        this.#watches.set(key, onReadable);
        return this.#set(EPOLL_CTL_MOD, fd, key);
      },
      end: (isClosed) => {
        // The kernel stops watching after a callback, and forgets a socket that is closed.
        if (this.#watches.delete(key) && !isClosed) this.#set(EPOLL_CTL_DEL, fd, key);
      },
    };
  }

  unread(fd: number): UnreadSegments | null {
    if (this.#peek(fd, 1) <= 0) return null;
    const first = this.#stamp();
    const bytes = this.#peek(fd, ALL_BYTES);
    const last = this.#stamp();
    return bytes <= 0 || first === null || last === null ? null : { bytes, first, last };
  }

  now(): WallStamp {
    this.#time(CLOCK_REALTIME, this.#timespec);
    return stampAt(this.#timespec, 0);
  }

  close(): void {
    this.#watches.clear();
    this.#poll?.close();
    this.#poll = null;
    if (this.#epollFd >= 0) closeSync(this.#epollFd);
    this.#epollFd = -1;
  }

  #open(): boolean {
    if (this.#epollFd >= 0) return true;
    const fd = this.#create(EPOLL_CLOEXEC);
    if (fd < 0) return false;
    try {
      this.#poll = this.#koffi.node.poll(fd, { readable: true }, () => this.#callBack());
      // Only sockets keep the process alive, not this watch.
      this.#poll.unref();
    } catch {
      closeSync(fd);
      return false;
    }
    this.#epollFd = fd;
    this.#keepStamps();
    return true;
  }

  #set(operation: number, fd: number, key: number): boolean {
    this.#event.writeUInt32LE(EPOLL_EVENTS, 0);
    this.#event.writeUInt32LE(key, this.#eventBytes - 8);
    return this.#control(this.#epollFd, operation, fd, this.#event) === 0;
  }

  #callBack(): void {
    if (this.#epollFd < 0) return;
    const count = this.#wait(this.#epollFd, this.#events, MAX_EVENTS, 0);
    for (let index = 0; index < count; index += 1) {
      const key = this.#events.readUInt32LE((index + 1) * this.#eventBytes - 8);
      const onReadable = this.#watches.get(key);
      this.#watches.delete(key);
      onReadable?.();
    }
  }

  #peek(fd: number, bytes: number): number {
    this.#message.writeUInt32LE(bytes, IOVEC_LENGTH_AT);
    this.#message.writeUInt32LE(CONTROL_BYTES, CONTROL_LENGTH_AT);
    return this.#receive(fd, this.#message, PEEK_FLAGS);
  }

  /** The timestamp of the last peek. */
  #stamp(): WallStamp | null {
    const bytes = this.#message.readUInt32LE(CONTROL_LENGTH_AT);
    const type = this.#message.readUInt32LE(STAMP_TYPE_AT);
    return bytes < STAMP_BYTES || type !== SO_TIMESTAMPNS ? null : stampAt(this.#message, STAMP_AT);
  }
}

function stampAt(memory: Buffer, at: number): WallStamp {
  const seconds = memory.readUInt32LE(at) + memory.readInt32LE(at + 4) * 2 ** 32;
  return { seconds, nanos: memory.readUInt32LE(at + 8) };
}
