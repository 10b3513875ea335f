/**
 * Splits a DNS stream into messages (RFC 1035 4.2.2: two octets of length before each). Buffers at
 * most one message (64 KiB) and the last chunk. The cost for each octet does not depend on the
 * number of segments.
 */
export class StreamFrames {
  #held = Buffer.alloc(512);
  #heldBytes = 0;

  get isEmpty(): boolean {
    return this.#heldBytes === 0;
  }

  add(chunk: Uint8Array): void {
    const wanted = this.#heldBytes + chunk.length;
    if (wanted > this.#held.length) {
      const larger = Buffer.alloc(Math.max(wanted, this.#held.length * 2));
      this.#held.copy(larger, 0, 0, this.#heldBytes);
      this.#held = larger;
    }
    this.#held.set(chunk, this.#heldBytes);
    this.#heldBytes = wanted;
  }

  /** The next whole message, or null if it is not complete yet. */
  next(): Buffer | null {
    const length = this.#announcedBytes();
    if (length === null || this.#heldBytes < length + 2) return null;
    const message = Buffer.from(this.#held.subarray(2, length + 2));
    this.#held.copyWithin(0, length + 2, this.#heldBytes);
    this.#heldBytes -= length + 2;
    return message;
  }

  /** For messages: how much of the next message has arrived. */
  progress(): string {
    const length = this.#announcedBytes();
    return length === null
      ? `${this.#heldBytes} bytes came`
      : `${this.#heldBytes - 2} of ${length} bytes came`;
  }

  #announcedBytes(): number | null {
    return this.#heldBytes < 2 ? null : this.#held.readUInt16BE(0);
  }
}
