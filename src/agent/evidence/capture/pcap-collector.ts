/** IETF draft-ietf-opsawg-pcap, 4 and 5. */
const FILE_HEADER_BYTES = 24;
const RECORD_HEADER_BYTES = 16;
/** No program captures longer packets: a larger length is an error. */
const MAX_PACKET_BYTES = 262_144;
const FIRST_BUFFER_BYTES = 64 * 1024;
/** For times in micro- and nanoseconds. Numbers have the byte order of the capturing machine. */
const LITTLE_ENDIAN_MAGICS: readonly number[] = [0xa1b2c3d4, 0xa1b23c4d];

/** Collects the whole records of a pcap file that arrives in pieces of any length. */
export class PcapCollector {
  readonly #maxBytes: number;
  #buffer: Buffer;
  #receivedBytes = 0;
  #wholeBytes = 0;
  #packets = 0;
  #leftOutBytes = 0;
  #problem: string | null = null;

  /** @param maxBytes of the file, its header included */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#buffer = Buffer.alloc(Math.min(FIRST_BUFFER_BYTES, maxBytes));
  }

  /** `enough` if it is full or the data is not a pcap file. */
  write(piece: Uint8Array): 'more' | 'enough' {
    if (this.#leftOutBytes > 0 || this.#problem !== null) return 'enough';
    const space = this.#maxBytes - this.#receivedBytes;
    const taken = piece.byteLength > space ? piece.subarray(0, space) : piece;
    this.#growTo(this.#receivedBytes + taken.byteLength);
    this.#buffer.set(taken, this.#receivedBytes);
    this.#receivedBytes += taken.byteLength;
    this.#leftOutBytes = piece.byteLength - taken.byteLength;
    this.#findWholeRecords();
    return this.#leftOutBytes > 0 || this.#problem !== null ? 'enough' : 'more';
  }

  /** The file up to its last whole record; empty before its header has arrived. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#wholeBytes);
  }

  get packets(): number {
    return this.#packets;
  }

  /** Whether bytes were omitted because they did not fit. */
  get truncated(): boolean {
    return this.#leftOutBytes > 0;
  }

  /** The problem of the data; null if there is none. */
  get problem(): string | null {
    return this.#problem;
  }

  #findWholeRecords(): void {
    if (this.#receivedBytes < FILE_HEADER_BYTES) return;
    const isLittle = LITTLE_ENDIAN_MAGICS.includes(this.#buffer.readUInt32LE(0));
    if (!isLittle && !LITTLE_ENDIAN_MAGICS.includes(this.#buffer.readUInt32BE(0))) {
      this.#problem = 'the output is not a packet capture';
      return;
    }
    this.#wholeBytes = Math.max(this.#wholeBytes, FILE_HEADER_BYTES);
    while (this.#wholeBytes + RECORD_HEADER_BYTES <= this.#receivedBytes) {
      const at = this.#wholeBytes + 8;
      const length = isLittle ? this.#buffer.readUInt32LE(at) : this.#buffer.readUInt32BE(at);
      if (length > MAX_PACKET_BYTES) {
        this.#problem = `packet ${this.#packets + 1} of the capture is broken`;
        return;
      }
      const end = this.#wholeBytes + RECORD_HEADER_BYTES + length;
      if (end > this.#receivedBytes) return;
      this.#wholeBytes = end;
      this.#packets += 1;
    }
  }

  #growTo(bytes: number): void {
    if (bytes <= this.#buffer.length) return;
    const larger = Buffer.alloc(Math.min(Math.max(bytes, this.#buffer.length * 2), this.#maxBytes));
    this.#buffer.copy(larger, 0, 0, this.#receivedBytes);
    this.#buffer = larger;
  }
}
