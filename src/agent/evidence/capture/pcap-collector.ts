/** Of a pcap file, and of each record in it (IETF draft-ietf-opsawg-pcap, 4 and 5). */
const FILE_HEADER_BYTES = 24;
const RECORD_HEADER_BYTES = 16;
/** No program captures longer packets: such a length is no length. */
const MAX_PACKET_BYTES = 262_144;
const FIRST_ROOM_BYTES = 64 * 1024;
/** Numbers are in the order of the machine that captured; times in micro- or nanoseconds. */
const LITTLE_ENDIAN_MAGICS: readonly number[] = [0xa1b2c3d4, 0xa1b23c4d];

/** Collects the whole records of a pcap file that arrives in pieces of any length. */
export class PcapCollector {
  readonly #maxBytes: number;
  #kept: Buffer;
  /** Bytes received in #kept, and the part of them in whole records. */
  #come = 0;
  #whole = 0;
  #packets = 0;
  /** Of what came, how much did not fit. */
  #leftOutBytes = 0;
  #fault: string | null = null;

  /** @param maxBytes of the file, its header included */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#kept = Buffer.alloc(Math.min(FIRST_ROOM_BYTES, maxBytes));
  }

  /** `enough` once it accepts no more: it is full, or this is no pcap. */
  write(piece: Uint8Array): 'more' | 'enough' {
    if (this.#leftOutBytes > 0 || this.#fault !== null) return 'enough';
    const space = this.#maxBytes - this.#come;
    const taken = piece.byteLength > space ? piece.subarray(0, space) : piece;
    this.#makeRoomFor(this.#come + taken.byteLength);
    this.#kept.set(taken, this.#come);
    this.#come += taken.byteLength;
    this.#leftOutBytes = piece.byteLength - taken.byteLength;
    this.#findWholeRecords();
    return this.#leftOutBytes > 0 || this.#fault !== null ? 'enough' : 'more';
  }

  /** The file so far, up to its last whole record; empty before its header has come. */
  get bytes(): Buffer {
    return this.#kept.subarray(0, this.#whole);
  }

  get packets(): number {
    return this.#packets;
  }

  /** Something was left out since it did not fit. */
  get truncated(): boolean {
    return this.#leftOutBytes > 0;
  }

  /** Why what came cannot be read on; null where it can. */
  get fault(): string | null {
    return this.#fault;
  }

  #findWholeRecords(): void {
    if (this.#come < FILE_HEADER_BYTES) return;
    const isLittle = LITTLE_ENDIAN_MAGICS.includes(this.#kept.readUInt32LE(0));
    if (!isLittle && !LITTLE_ENDIAN_MAGICS.includes(this.#kept.readUInt32BE(0))) {
      this.#fault = 'what came is no packet capture';
      return;
    }
    this.#whole = Math.max(this.#whole, FILE_HEADER_BYTES);
    while (this.#whole + RECORD_HEADER_BYTES <= this.#come) {
      const at = this.#whole + 8;
      const length = isLittle ? this.#kept.readUInt32LE(at) : this.#kept.readUInt32BE(at);
      if (length > MAX_PACKET_BYTES) {
        this.#fault = `packet ${this.#packets + 1} of the capture is broken`;
        return;
      }
      const end = this.#whole + RECORD_HEADER_BYTES + length;
      if (end > this.#come) return;
      this.#whole = end;
      this.#packets += 1;
    }
  }

  #makeRoomFor(bytes: number): void {
    if (bytes <= this.#kept.length) return;
    const larger = Buffer.alloc(Math.min(Math.max(bytes, this.#kept.length * 2), this.#maxBytes));
    this.#kept.copy(larger, 0, 0, this.#come);
    this.#kept = larger;
  }
}
