/**
 * Splits a DNS stream into messages (RFC 1035 4.2.2: two octets of length before each). Buffers at
 * most one message (64 KiB) and the last chunk. The cost for each octet does not depend on the
 * number of segments.
 */
export class StreamFrames {
  #buffer = Buffer.alloc(512);
  #bufferedBytes = 0;

  get isEmpty(): boolean {
    return this.#bufferedBytes === 0;
  }

  add(chunk: Uint8Array): void {
    const wanted = this.#bufferedBytes + chunk.length;
    if (wanted > this.#buffer.length) {
      const larger = Buffer.alloc(Math.max(wanted, this.#buffer.length * 2));
      this.#buffer.copy(larger, 0, 0, this.#bufferedBytes);
      this.#buffer = larger;
    }
    this.#buffer.set(chunk, this.#bufferedBytes);
    this.#bufferedBytes = wanted;
  }

  /** The next whole message, or null if it is not complete yet. */
  next(): Buffer | null {
    const length = this.#announcedBytes();
    if (length === null || this.#bufferedBytes < length + 2) return null;
    const message = Buffer.from(this.#buffer.subarray(2, length + 2));
    this.#buffer.copyWithin(0, length + 2, this.#bufferedBytes);
    this.#bufferedBytes -= length + 2;
    return message;
  }

  /** A text about how much of the next message has arrived. */
  progress(): string {
    const length = this.#announcedBytes();
    return length === null
      ? `${this.#bufferedBytes} bytes arrived`
      : `${this.#bufferedBytes - 2} of ${length} bytes arrived`;
  }

  #announcedBytes(): number | null {
    return this.#bufferedBytes < 2 ? null : this.#buffer.readUInt16BE(0);
  }
}
