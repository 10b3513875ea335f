/** The history without escapes. */
export const PLAIN = 0;
const START_SIZE = 64;

/**
 * The escapes that each decoding of a text has passed, to map decoded positions back to the text.
 * Decoded positions continue from the position in the text where the first escape of a decoding
 * began.
 */
export class MatchHistories {
  #count = 1;
  #befores = new Int32Array(START_SIZE);
  /** The escape in the text. */
  #froms = new Int32Array(START_SIZE);
  #tos = new Int32Array(START_SIZE);
  /** The escape in the decoded text. */
  #decodedFroms = new Int32Array(START_SIZE);
  #decodedTos = new Int32Array(START_SIZE);

  hasCapacityFor(escapes: number): boolean {
    return this.#count + escapes <= this.#befores.length;
  }

  clear(): void {
    this.#count = 1;
  }

  /** Adds an escape to a history. Requires capacity: see `hasCapacityFor`. */
  add(before: number, from: number, to: number, bytes: number): number {
    const history = this.#count;
    const decodedFrom = this.decoded(before, from);
    this.#befores[history] = before;
    this.#froms[history] = from;
    this.#tos[history] = to;
    this.#decodedFroms[history] = decodedFrom;
    this.#decodedTos[history] = decodedFrom + bytes;
    this.#count += 1;
    return history;
  }

  /** The decoded position for a position in the text behind the last escape. */
  decoded(history: number, at: number): number {
    if (history === PLAIN) return at;
    return (this.#decodedTos[history] ?? 0) + at - (this.#tos[history] ?? 0);
  }

  /** Whether there is no escape behind a decoded position. */
  isPlainFrom(history: number, decoded: number): boolean {
    return history === PLAIN || decoded >= (this.#decodedTos[history] ?? 0);
  }

  /** The position in the text for a decoded position; the beginning of an escape for its bytes. */
  source(history: number, decoded: number): number {
    let one = history;
    while (one !== PLAIN) {
      const behind = decoded - (this.#decodedTos[one] ?? 0);
      if (behind >= 0) return (this.#tos[one] ?? 0) + behind;
      if (decoded >= (this.#decodedFroms[one] ?? 0)) return this.#froms[one] ?? 0;
      one = this.#befores[one] ?? PLAIN;
    }
    return decoded;
  }

  /**
   * Makes capacity: compacts the histories to the escapes still needed, those of each history
   * behind a decoded position.
   *
   * @returns by old history, the new one
   */
  makeCapacityFor(
    escapes: number,
    needed: Iterable<{ readonly history: number; readonly from: number }>,
  ): Int32Array {
    const renamed = new Int32Array(this.#count);
    for (const { history, from } of needed) {
      let one = history;
      while (one !== PLAIN) {
        renamed[one] = 1;
        if (from >= (this.#decodedTos[one] ?? 0)) break;
        one = this.#befores[one] ?? PLAIN;
      }
    }
    let kept = 1;
    for (let one = 1; one < this.#count; one += 1) {
      if (renamed[one] === 0) continue;
      this.#befores[kept] = renamed[this.#befores[one] ?? PLAIN] ?? PLAIN;
      this.#froms[kept] = this.#froms[one] ?? 0;
      this.#tos[kept] = this.#tos[one] ?? 0;
      this.#decodedFroms[kept] = this.#decodedFroms[one] ?? 0;
      this.#decodedTos[kept] = this.#decodedTos[one] ?? 0;
      renamed[one] = kept;
      kept += 1;
    }
    this.#count = kept;
    // Twice the capacity needed, to compact rarely.
    while ((kept + escapes) * 2 > this.#befores.length) this.#grow();
    return renamed;
  }

  /** Called when the beginning of the text was dropped. */
  shift(bytes: number): void {
    for (const positions of [this.#froms, this.#tos, this.#decodedFroms, this.#decodedTos]) {
      for (let one = 1; one < this.#count; one += 1) positions[one] = (positions[one] ?? 0) - bytes;
    }
  }

  #grow(): void {
    this.#befores = doubled(this.#befores);
    this.#froms = doubled(this.#froms);
    this.#tos = doubled(this.#tos);
    this.#decodedFroms = doubled(this.#decodedFroms);
    this.#decodedTos = doubled(this.#decodedTos);
  }
}

function doubled(numbers: Int32Array): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(numbers.length * 2);
  larger.set(numbers);
  return larger;
}
