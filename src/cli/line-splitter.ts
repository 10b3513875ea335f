/** Splits chunks into lines. Drops lines that are too long, so that they do not grow in memory. */
export class LineSplitter {
  readonly #maxBytes: number;
  readonly #onLine: (line: string) => void;
  /** The parts of the current line; null if it is too long. */
  #parts: Buffer[] | null = [];
  #bytes = 0;

  constructor(maxBytes: number, onLine: (line: string) => void) {
    this.#maxBytes = maxBytes;
    this.#onLine = onLine;
  }

  write(chunk: Buffer): void {
    let from = 0;
    for (;;) {
      const end = chunk.indexOf(0x0a, from);
      if (end < 0) break;
      this.#add(chunk.subarray(from, end));
      this.end();
      from = end + 1;
    }
    this.#add(chunk.subarray(from));
  }

  /** Ends the input. The last part counts as a line even without a line feed. */
  end(): void {
    const parts = this.#parts;
    this.#parts = [];
    this.#bytes = 0;
    if (parts !== null && parts.length > 0) this.#onLine(Buffer.concat(parts).toString('utf8'));
  }

  #add(part: Buffer): void {
    if (part.length === 0) return;
    this.#bytes += part.length;
    if (this.#bytes > this.#maxBytes) this.#parts = null;
    else this.#parts?.push(part);
  }
}
