import type { Socket } from 'node:net';
import type { Clock } from '../../../runtime/clock.ts';
import { systemCodeOf } from '../../../runtime/errors.ts';
import { endedByReset } from '../../../runtime/net/ended-by-reset.ts';

/** How reading ended: the peer closed, the buffer is full, or the connection broke. */
export interface ReadingEnd {
  readonly kind: 'closed' | 'full' | 'broken';
  /** The operating system's code if it broke. */
  readonly systemCode: string | null;
  /** Monotonic instant. */
  readonly atMs: number;
}

/**
 * Collects what arrives on a socket, up to `maxBytes`, until `close`, which also closes the socket.
 * Reads nothing after its end.
 */
export class ReceiveBuffer {
  readonly #socket: Socket;
  readonly #clock: Clock;
  readonly #maxBytes: number;
  /** One buffer that grows: joining many pieces of one byte for each check takes milliseconds. */
  #buffer: Buffer = Buffer.alloc(512);
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

  /** Monotonic instant of the first byte; null if none has arrived. */
  get firstByteMs(): number | null {
    return this.#firstByteMs;
  }

  /** Monotonic instant of the last byte so far; null if none has arrived. */
  get lastByteMs(): number | null {
    return this.#lastByteMs;
  }

  get end(): ReadingEnd | null {
    return this.#end;
  }

  /** All bytes so far as UTF-8; invalid bytes are replaced by U+FFFD. */
  text(): string {
    return this.#buffer.toString('utf8', 0, this.#bytes);
  }

  /** The bytes after the first `from`. */
  since(from: number): Buffer {
    return this.#buffer.subarray(from, this.#bytes);
  }

  /** Calls back on all news until the returned function is called. One caller at a time. */
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
    if (needed > this.#buffer.length) {
      const grown = Buffer.alloc(
        Math.min(this.#maxBytes, Math.max(needed, this.#buffer.length * 2)),
      );
      this.#buffer.copy(grown, 0, 0, this.#bytes);
      this.#buffer = grown;
    }
    piece.copy(this.#buffer, this.#bytes);
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
