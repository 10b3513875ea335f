/** Where nothing was decoded: a byte was read for a byte. */
export const PLAIN = 0;
const START_SIZE = 64;

/**
 * By which escapes each reading of a text came to where it is, so that it can be told where in the
 * text something decoded began. Decoded positions count on from the position in the text at which
 * the first escape of a reading began.
 */
export class MatchHistories {
  #count = 1;
  #befores = new Int32Array(START_SIZE);
  /** Of the escape, in the text. */
  #froms = new Int32Array(START_SIZE);
  #tos = new Int32Array(START_SIZE);
  /** Of the escape, in what was decoded. */
  #decodedFroms = new Int32Array(START_SIZE);
  #decodedTos = new Int32Array(START_SIZE);

  hasRoomFor(escapes: number): boolean {
    return this.#count + escapes <= this.#befores.length;
  }

  clear(): void {
    this.#count = 1;
  }

  /** One more escape of a reading. There must be capacity: see `hasRoomFor`. */
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

  /** What was decoded up to a position that is not before the last escape. */
  decoded(history: number, at: number): number {
    if (history === PLAIN) return at;
    return (this.#decodedTos[history] ?? 0) + at - (this.#tos[history] ?? 0);
  }

  /** Whether no escape is behind that decoded position. */
  isPlainFrom(history: number, decoded: number): boolean {
    return history === PLAIN || decoded >= (this.#decodedTos[history] ?? 0);
  }

  /** Where in the text stands what was decoded to that position; of an escape, where it begins. */
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
   * Keeps what is still needed and gives it new names: of each history, what was decoded from a
   * position on. There is capacity after this.
   *
   * @returns the new name of each
   */
  makeRoomFor(
    escapes: number,
    needed: Iterable<{ readonly history: number; readonly from: number }>,
  ): Int32Array {
    const names = new Int32Array(this.#count);
    for (const { history, from } of needed) {
      let one = history;
      while (one !== PLAIN) {
        names[one] = 1;
        if (from >= (this.#decodedTos[one] ?? 0)) break;
        one = this.#befores[one] ?? PLAIN;
      }
    }
    let kept = 1;
    for (let one = 1; one < this.#count; one += 1) {
      if (names[one] === 0) continue;
      this.#befores[kept] = names[this.#befores[one] ?? PLAIN] ?? PLAIN;
      this.#froms[kept] = this.#froms[one] ?? 0;
      this.#tos[kept] = this.#tos[one] ?? 0;
      this.#decodedFroms[kept] = this.#decodedFroms[one] ?? 0;
      this.#decodedTos[kept] = this.#decodedTos[one] ?? 0;
      names[one] = kept;
      kept += 1;
    }
    this.#count = kept;
    // Twice the capacity needed, so that this is rare.
    while ((kept + escapes) * 2 > this.#befores.length) this.#grow();
    return names;
  }

  /** The beginning of the text was dropped. */
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
