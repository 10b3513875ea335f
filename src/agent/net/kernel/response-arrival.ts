import type { Socket } from 'node:net';
import type { Clock } from '../../../runtime/clock.ts';
import { descriptorOf, type KernelSockets } from './kernel-sockets.ts';
import { millisecondsSince, type ReadableWatch, type SegmentStamps } from './segment-stamps.ts';

/** A larger drift of the wall clock against the monotonic clock means that it was set. */
const CLOCK_STEP_MS = 2;
/** Reads both clocks again until both reads took less than READING_MS, at most READINGS times. */
const READING_MS = 0.05;
const READINGS = 3;
/** After this many reads the event loop times the response: a peek costs as much as a read. */
const MAX_PEEKS = 8;
/** Event-loop iterations for which Node may leave arrived data unread. */
const MAX_ITERATIONS = 3;

/** The data that waited in the socket at a peek. Instants are monotonic. */
interface Waiting {
  /** Bytes that had been read before. */
  readonly fromByte: number;
  /** Bytes that had been read before, or waited. */
  readonly toByte: number;
  readonly firstMs: number;
  readonly lastMs: number;
}

/** The monotonic clock before and after something was read. */
interface Between<Read> {
  readonly beforeMs: number;
  readonly read: Read;
  readonly afterMs: number;
}

/** Node's handle of a TCP socket, as far as it is used. */
interface ReadingHandle {
  readStart(): number;
  readStop(): number;
}

/**
 * Reports when a response arrived, however late the event loop reads it. Node does not read the
 * socket until the timestamps of what waits in it are taken: reading removes them.
 *
 * The kernel merges waiting segments and keeps the timestamp of the last one. Therefore no instant
 * here is too early, and it is exact if only one segment arrived.
 *
 * | state   | meaning                                             | leaves when                   |
 * |---------|-----------------------------------------------------|-------------------------------|
 * | held    | Node does not read; waits for data                  | it comes: reading             |
 * | reading | Node reads                                          | there is more to come: held   |
 * | over    | Node reads as always                                | never                         |
 */
export class ResponseArrival {
  readonly #wire: Socket;
  readonly #stamps: SegmentStamps;
  readonly #clock: Clock;
  readonly #fd: number;
  readonly #handle: ReadingHandle;
  /** Before the request was sent. */
  readonly #wallAtStart: Between<number>;
  readonly #startByte: number;
  #startsResponse: boolean;
  #watch: ReadableWatch | null = null;
  #state: 'held' | 'reading' | 'over' = 'over';
  #waiting: Waiting | null = null;
  #peeks = 0;
  #hasBegun: boolean;
  #slowReadingMs = 0;

  /**
   * Call it before the request is sent; `end` must follow. null if there is no kernel time.
   *
   * @param startsResponse whatever the peer sends from now on is the response
   */
  static begin(
    sockets: KernelSockets | null,
    wire: Socket,
    startsResponse: boolean,
    clock: Clock,
  ): ResponseArrival | null {
    const stamps = sockets?.segments ?? null;
    const fd = 'encrypted' in wire ? null : descriptorOf(wire);
    const handle = handleOf(wire);
    if (stamps === null || fd === null || handle === null) return null;
    const arrival = new ResponseArrival({ wire, stamps, clock, fd, handle, startsResponse });
    return arrival.#hold() ? arrival : null;
  }

  private constructor(parts: {
    readonly wire: Socket;
    readonly stamps: SegmentStamps;
    readonly clock: Clock;
    readonly fd: number;
    readonly handle: ReadingHandle;
    readonly startsResponse: boolean;
  }) {
    const { clock, wire } = parts;
    this.#wire = wire;
    this.#stamps = parts.stamps;
    this.#clock = clock;
    this.#fd = parts.fd;
    this.#handle = parts.handle;
    this.#startsResponse = parts.startsResponse;
    this.#hasBegun = parts.startsResponse;
    this.#wallAtStart = readBetween(clock, () => clock.wallMs());
    this.#startByte = wire.bytesRead;
  }

  /** Call it after a step with which Node may have begun to read, before it polls sockets. */
  holdOn(): void {
    if (this.#state === 'held' && this.#isOpen) this.#handle.readStop();
  }

  /**
   * When the response's first byte, which was just read, arrived; null if the kernel does not
   * report it. If other bytes may have come before it, this is when the last byte of the read
   * arrived.
   */
  firstByteMs(): number | null {
    const waiting = this.#waiting;
    if (waiting === null) return null;
    const isFirst = this.#startsResponse && waiting.fromByte === this.#startByte;
    // The first call may be for an interim response: where the final one begins is not known.
    this.#startsResponse = false;
    return isFirst ? waiting.firstMs : this.lastByteMs();
  }

  /** When the last byte read so far arrived; null if the kernel does not report it. */
  lastByteMs(): number | null {
    const waiting = this.#waiting;
    const readBytes = this.#wire.bytesRead;
    if (waiting === null || readBytes <= waiting.fromByte || readBytes > waiting.toByte)
      return null;
    return waiting.lastMs;
  }

  /** Milliseconds by which reported instants may be too late because clocks were read slowly. */
  get slowReadingMs(): number {
    return this.#slowReadingMs;
  }

  /** A part of the response was read, and more must come. */
  again(): void {
    this.#hasBegun = true;
    const hasRead = this.#wire.bytesRead > (this.#waiting?.fromByte ?? 0);
    if (this.#state === 'reading' && hasRead) this.#holdAgain();
  }

  /** Lets Node read as always from now on. Reported instants remain valid. */
  end(): void {
    const wasHeld = this.#state === 'held';
    const isOpen = this.#isOpen;
    this.#state = 'over';
    this.#watch?.end(!isOpen);
    if (wasHeld && isOpen) this.#handle.readStart();
  }

  #hold(): boolean {
    if (this.#watch === null) {
      this.#watch = this.#stamps.watch(this.#fd, () => this.#onReadable());
      if (this.#watch === null) return false;
    } else if (!this.#watch.again()) return false;
    this.#state = 'held';
    this.#handle.readStop();
    return true;
  }

  #onReadable(): void {
    if (this.#state !== 'held' || !this.#isOpen) return;
    this.#state = 'reading';
    this.#peeks += 1;
    this.#waiting = this.#peek();
    this.#handle.readStart();
    if (this.#waiting === null || this.#peeks >= MAX_PEEKS) this.#state = 'over';
    else if (!this.#hasBegun) this.#holdAfterRead(MAX_ITERATIONS);
  }

  /**
   * Data before a response over TLS and HTTP/2 raises no event. Node reads it in the next iteration
   * of the event loop; the first immediate belongs to the current one.
   */
  #holdAfterRead(iterations: number): void {
    setImmediate(() =>
      setImmediate(() => {
        if (this.#state !== 'reading' || this.#hasBegun) return;
        if (this.#wire.bytesRead > (this.#waiting?.fromByte ?? 0)) this.#holdAgain();
        else if (iterations > 1) this.#holdAfterRead(iterations - 1);
        else this.#state = 'over';
      }),
    );
  }

  #holdAgain(): void {
    if (!this.#isOpen || !this.#hold()) this.#state = 'over';
  }

  /** A closed socket's descriptor may be another socket's by now. */
  get #isOpen(): boolean {
    return descriptorOf(this.#wire) === this.#fd;
  }

  #peek(): Waiting | null {
    const clock = this.#clock;
    const unread = this.#stamps.unread(this.#fd);
    if (unread === null) return null;
    const { beforeMs, read, afterMs } = readBetween(clock, () => ({
      now: this.#stamps.now(),
      wallMs: clock.wallMs(),
    }));
    const firstAgoMs = millisecondsSince(unread.first, read.now);
    const lastAgoMs = millisecondsSince(unread.last, read.now);
    const wall = { beforeMs, read: read.wallMs, afterMs };
    if (wasClockSet(this.#wallAtStart, wall) || lastAgoMs < 0) return null;
    const readingMs = afterMs - beforeMs;
    if (readingMs > READING_MS) this.#slowReadingMs = Math.max(this.#slowReadingMs, readingMs);
    const fromByte = this.#wire.bytesRead;
    const toByte = fromByte + unread.bytes;
    const [firstMs, lastMs] = [afterMs - firstAgoMs, afterMs - lastAgoMs];
    return { fromByte, toByte, firstMs, lastMs };
  }
}

/** The shortest of READINGS attempts: a thread may wait for a CPU between two readings. */
function readBetween<Read>(clock: Clock, read: () => Read): Between<Read> {
  const attempt = (): Between<Read> => {
    const beforeMs = clock.monotonicMs();
    return { beforeMs, read: read(), afterMs: clock.monotonicMs() };
  };
  let shortest = attempt();
  for (let more = READINGS - 1; more > 0 && durationOf(shortest) > READING_MS; more -= 1) {
    const next = attempt();
    if (durationOf(next) < durationOf(shortest)) shortest = next;
  }
  return shortest;
}

function durationOf({ beforeMs, afterMs }: Between<unknown>): number {
  return afterMs - beforeMs;
}

/** Whether the wall clock was set: slow readings alone cannot explain the difference. */
function wasClockSet(start: Between<number>, now: Between<number>): boolean {
  const leastMs = now.read - now.afterMs - (start.read - start.beforeMs);
  const mostMs = now.read - now.beforeMs - (start.read - start.afterMs);
  return leastMs > CLOCK_STEP_MS || mostMs < -CLOCK_STEP_MS;
}

/** Node's own handle: there is no public way to leave a socket unread. */
function handleOf(wire: Socket): ReadingHandle | null {
  const { _handle: handle } = wire as Socket & { _handle?: Partial<ReadingHandle> | null };
  const isKnown = typeof handle?.readStart === 'function' && typeof handle.readStop === 'function';
  return isKnown ? (handle as ReadingHandle) : null;
}
