import type { Socket } from 'node:net';
import type { Clock } from '../../../runtime/clock.ts';
import { watchBytes } from '../../net/watch-bytes.ts';
import type { ExchangeEnd } from './transport.ts';

const MIB = 1024 * 1024;
/**
 * Framing is everything that is not body: headers, chunk sizes, frames, TLS records. This much is
 * allowed without a body: for the headers, and for the part of a body that HTTP/2 buffers while the
 * decoder works (1 MiB).
 */
const FREE_FRAMING_BYTES = 2 * MIB;
/** A body byte in a chunk of its own, each part of which is a TLS record, has 72 to 90 bytes. */
const FRAMING_BYTES_PER_BODY_BYTE = 128;
/** 25 MB of body may come in pieces of 45 bytes, each a chunk in a TLS record of its own. */
const MAX_FRAMING_BYTES = 16 * MIB;
/** 25 MB of body may come in pieces of 50 bytes; one read costs one to two microseconds. */
const MAX_READS = 500_000;

/**
 * Bounds the CPU time of one response: a server that sends chunk extensions, HTTP/2 frames or TLS
 * messages without end would keep a core busy until the deadline.
 */
export class FloodWatch {
  readonly #wire: Pick<Socket, 'bytesRead'>;
  readonly #startBytes: number;
  readonly #onFlood: (ending: ExchangeEnd) => void;
  readonly #stop: () => void;
  #bodyBytes = 0;
  #reads = 0;

  /**
   * @param wire the connection under TLS and HTTP/2, whose bytes are counted from now on
   * @param onFlood called when there is too much; it may be called again
   */
  constructor(
    wire: Pick<Socket, 'bytesRead'>,
    clock: Clock,
    onFlood: (ending: ExchangeEnd) => void,
  ) {
    this.#wire = wire;
    this.#startBytes = wire.bytesRead;
    this.#onFlood = onFlood;
    this.#stop = watchBytes(wire, clock, (bytes) => this.#judge(bytes));
  }

  /** Counts bytes of the body before they are decoded. */
  body(bytes: number): void {
    this.#bodyBytes += bytes;
  }

  /** Counts one read of the connection, or of its stream, whatever it contained. */
  read(): void {
    this.#reads += 1;
    this.#judge(this.#wire.bytesRead - this.#startBytes);
  }

  stop(): void {
    this.#stop();
  }

  #judge(wireBytes: number): void {
    const framingBytes = wireBytes - this.#bodyBytes;
    const inProportion = FREE_FRAMING_BYTES + FRAMING_BYTES_PER_BODY_BYTE * this.#bodyBytes;
    if (framingBytes > Math.min(inProportion, MAX_FRAMING_BYTES)) {
      const what = `the response is almost only framing: ${framingBytes} bytes beside ${this.#bodyBytes} bytes of body`;
      this.#onFlood({ code: 'RESPONSE_FLOOD', what });
    } else if (this.#reads > MAX_READS) {
      const what = `the response came in more than ${MAX_READS} pieces, with ${this.#bodyBytes} bytes of body`;
      this.#onFlood({ code: 'RESPONSE_FLOOD', what });
    }
  }
}
