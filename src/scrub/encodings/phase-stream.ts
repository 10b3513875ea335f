import type { OnMatch, Scanner } from '../search/window.ts';

/** Decodes digits from a given one on and searches the decoded bytes. */
export class PhaseStream {
  isOn: boolean = false;
  /** Must be searched at least up to this digit. */
  neededTo = 0;
  readonly #bits: number;
  readonly #makeScanner: () => Scanner;
  #scanner: Scanner | null = null;
  /** The digit, or fraction of one, where the first byte of the scanner's window begins. */
  #firstDigit = 0;
  /** The next digit to decode. */
  #next = 0;
  #rest = 0;
  #restBits = 0;

  /** @param report receives the first digit and the one after the last */
  constructor(bits: number, makeScanner: (report: OnMatch) => Scanner, report: OnMatch) {
    this.#bits = bits;
    this.#makeScanner = () =>
      makeScanner((from, to) =>
        report(Math.floor(this.#digitOf(from)), Math.ceil(this.#digitOf(to))),
      );
  }

  start(digit: number): void {
    this.isOn = true;
    this.#scanner ??= this.#makeScanner();
    this.#scanner.start();
    this.#firstDigit = digit;
    this.#next = digit;
    this.neededTo = digit;
    this.#rest = 0;
    this.#restBits = 0;
  }

  /** @param first number of the first of the digits */
  feed(digits: Uint8Array, first: number, count: number): void {
    const scanner = this.#scanner;
    if (scanner === null) return;
    const target = scanner.reserve(first + count - this.#next);
    const bits = this.#bits;
    let at = scanner.length;
    let rest = this.#rest;
    let restBits = this.#restBits;
    for (let digit = this.#next - first; digit < count; digit += 1) {
      rest = (rest << bits) | (digits[digit] ?? 0);
      restBits += bits;
      if (restBits < 8) continue;
      restBits -= 8;
      target[at] = rest >>> restBits;
      at += 1;
    }
    this.#next = first + count;
    this.#rest = rest & 255;
    this.#restBits = restBits;
    scanner.filledTo(at);
    while (!scanner.run(false));
    this.#firstDigit += (scanner.dropDecided() * 8) / bits;
  }

  finish(isCut: boolean): void {
    this.#scanner?.end(isCut);
    this.isOn = false;
  }

  /** Stops if there is no partial match; `start` is called again for the next possible match. */
  stopIfQuiet(): void {
    const quietFrom = this.#scanner?.quietFrom() ?? -1;
    if (quietFrom >= 0 && this.#digitOf(quietFrom) > this.neededTo) this.isOn = false;
  }

  undecidedDigit(): number {
    return Math.floor(this.#digitOf(this.#scanner?.undecided() ?? 0));
  }

  #digitOf(byte: number): number {
    return this.#firstDigit + (byte * 8) / this.#bits;
  }
}
