import type { Socket } from 'node:net';
import type { Clock } from '../../../runtime/clock.ts';
import { systemCodeOf } from '../../../runtime/errors.ts';
import { endedByReset } from '../../net/unseen-reset.ts';

/** How reading ended: the peer closed, the buffer is full, or the connection broke. */
export interface ReadingEnd {
  readonly kind: 'closed' | 'full' | 'broken';
  /** Where it broke: the operating system's code. */
  readonly systemCode: string | null;
  /** Monotonic instant. */
  readonly atMs: number;
}

/**
 * What arrives on a socket, up to a number of bytes, from when it is made until `close`, which
 * also closes the socket. After its end nothing more is read.
 */
export class Inbox {
  readonly #socket: Socket;
  readonly #clock: Clock;
  readonly #maxBytes: number;
  /** One buffer, which grows: joining pieces of one byte at each check takes milliseconds. */
  #held: Buffer = Buffer.alloc(512);
  #bytes = 0;
  #firstByteMs: number | null = null;
  #lastByteMs: number | null = null;
  #end: ReadingEnd | null = null;
  #onNews: (() => void) | null = null;

  constructor(socket: Socket, maxBytes: number, clock: Clock) {
    this.#socket = socket;
    this.#clock = clock;
    this.#maxBytes = maxBytes;
    socket.on('data', this.#take);
    socket.on('end', this.#ended);
    socket.on('error', this.#broken);
    socket.on('close', this.#closed);
    if (socket.destroyed || socket.readableEnded) this.#closed();
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Monotonic instant of the first byte; null where none came. */
  get firstByteMs(): number | null {
    return this.#firstByteMs;
  }

  /** Monotonic instant of the last byte so far; null where none came. */
  get lastByteMs(): number | null {
    return this.#lastByteMs;
  }

  get end(): ReadingEnd | null {
    return this.#end;
  }

  /** All bytes so far as UTF-8; bytes that are not are replaced by U+FFFD. */
  text(): string {
    return this.#held.toString('utf8', 0, this.#bytes);
  }

  /** Calls back at every news until the function returned is called. One caller at a time. */
  watch(onNews: () => void): () => void {
    this.#onNews = onNews;
    return () => {
      this.#onNews = null;
    };
  }

  close(): void {
    const socket = this.#socket;
    socket.off('data', this.#take);
    socket.off('end', this.#ended);
    socket.off('error', this.#broken);
    socket.off('close', this.#closed);
    socket.destroy();
  }

  readonly #take = (chunk: Buffer): void => {
    if (this.#end !== null) return;
    const fitting = chunk.subarray(0, this.#maxBytes - this.#bytes);
    this.#append(fitting);
    this.#lastByteMs = this.#clock.monotonicMs();
    this.#firstByteMs ??= this.#lastByteMs;
    if (this.#bytes < this.#maxBytes) {
      this.#onNews?.();
      return;
    }
    this.#socket.pause();
    this.#finish('full', null);
  };

  #append(piece: Buffer): void {
    const needed = this.#bytes + piece.length;
    if (needed > this.#held.length) {
      const grown = Buffer.alloc(Math.min(this.#maxBytes, Math.max(needed, this.#held.length * 2)));
      this.#held.copy(grown, 0, 0, this.#bytes);
      this.#held = grown;
    }
    piece.copy(this.#held, this.#bytes);
    this.#bytes = needed;
  }

  readonly #ended = (): void => {
    if (endedByReset(this.#socket)) this.#finish('broken', 'ECONNRESET');
    else this.#closed();
  };

  readonly #closed = (): void => this.#finish('closed', null);

  readonly #broken = (error: Error): void =>
    this.#finish('broken', systemCodeOf(error) ?? 'UNKNOWN');

  #finish(kind: ReadingEnd['kind'], systemCode: string | null): void {
    if (this.#end !== null) return;
    this.#end = { kind, systemCode, atMs: this.#clock.monotonicMs() };
    this.#onNews?.();
  }
}
