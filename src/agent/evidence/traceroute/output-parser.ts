import { isIP } from 'node:net';
import type { Family } from '../../net/resolver.ts';
import { type Answer, MAX_TTL, PROBES_A_HOP, type ProbeEnd, type Says } from './engine.ts';
import { PORT_UNREACHABLE, unreachableByMark } from './unreachable.ts';

/** Thirty lines with three IPv6 addresses each are a fifth of it. */
const MAX_OUTPUT_CHARS = 32 * 1024;
/** The longest word of use, an IPv6 address, is shorter. */
const MAX_WORD_CHARS = 64;
const TIME = /^\d{1,6}(\.\d{1,6})?$/;

/**
 * Reads what `traceroute -n` prints, in pieces of any size, as far as it has come:
 *
 *     traceroute to 192.0.2.9 (192.0.2.9), 30 hops max, 60 byte packets
 *      1  10.0.0.1  0.420 ms  0.388 ms *
 *      2  10.0.1.1  1.204 ms 10.0.1.2  1.310 ms !H 10.0.1.1  1.119 ms
 *
 * An answer counts only with the unit of its time behind it, so that an output that was cut
 * anywhere gives nothing that was not there. Everything else is passed over.
 */
export class TracerouteOutput {
  readonly #family: Family;
  readonly #hops: ProbeEnd[][] = [];
  #charsLeft = MAX_OUTPUT_CHARS;
  #word = '';
  /** `start`: the line has no word yet. `hop`: its words are about the last hop. */
  #line: 'start' | 'hop' | 'other' = 'start';
  #address: string | null = null;
  #timeMs: number | null = null;

  constructor(family: Family) {
    this.#family = family;
  }

  /** The answers of each hop, in the order of the probes; none is empty. */
  get hops(): readonly (readonly ProbeEnd[])[] {
    const empty = this.#hops.findIndex((ends) => ends.length === 0);
    return empty < 0 ? this.#hops : this.#hops.slice(0, empty);
  }

  /** What is beyond 32 Ki characters is dropped. */
  write(piece: string): void {
    const taken = piece.slice(0, this.#charsLeft);
    this.#charsLeft -= taken.length;
    for (const char of taken) {
      if (char === '\n') {
        this.#endWord();
        this.#line = 'start';
      } else if (char === ' ' || char === '\t' || char === '\r') {
        this.#endWord();
      } else if (this.#word.length < MAX_WORD_CHARS) {
        this.#word += char;
      }
    }
  }

  /** No more comes. A word that was cut in the middle says nothing, or the same. */
  end(): void {
    this.#endWord();
  }

  #endWord(): void {
    const word = this.#word;
    this.#word = '';
    if (word === '') return;
    if (this.#line === 'start') this.#beginLine(word);
    else if (this.#line === 'hop') this.#takeWord(word);
  }

  #beginLine(word: string): void {
    const next = this.#hops.length + 1;
    this.#address = null;
    this.#timeMs = null;
    this.#line = word === String(next) && next <= MAX_TTL ? 'hop' : 'other';
    if (this.#line === 'hop') this.#hops.push([]);
  }

  #takeWord(word: string): void {
    const ends = this.#hops.at(-1) ?? [];
    if (word === '*') {
      if (ends.length < PROBES_A_HOP) ends.push(null);
    } else if (word === 'ms') {
      this.#answer(ends);
    } else if (word.startsWith('!')) {
      this.#mark(ends, word);
    } else if (isIP(word) !== 0) {
      this.#address = word.replace(/%.*$/, '');
    } else if (TIME.test(word)) {
      this.#timeMs = Number(word);
    }
  }

  #answer(ends: ProbeEnd[]): void {
    const [address, rttMs] = [this.#address, this.#timeMs];
    this.#timeMs = null;
    if (address === null || rttMs === null || ends.length >= PROBES_A_HOP) return;
    ends.push({ address, rttMs, says: 'on the way' });
  }

  #mark(ends: ProbeEnd[], word: string): void {
    const says = unreachableByMark(this.#family, word);
    const last = ends.at(-1) ?? null;
    if (says !== null && last !== null) ends[ends.length - 1] = { ...last, says };
  }
}

/**
 * What the last line of an output means, since the program stops where the way does: answers of
 * the target come from the destination, others without a mark refuse the port in its stead.
 * `endedItself` is false where it was broken off: the answers of a router are then of one among
 * many on the way.
 */
export function withLastHopRead(
  hops: readonly (readonly ProbeEnd[])[],
  target: string,
  endedItself: boolean,
): readonly (readonly ProbeEnd[])[] {
  const last = hops.at(-1) ?? [];
  const isFromTarget = (end: ProbeEnd): boolean => end?.address === target;
  const isOver = endedItself && hops.length < MAX_TTL;
  const says = last.some(isFromTarget)
    ? (end: Answer): Says => (isFromTarget(end) ? 'destination' : end.says)
    : (end: Answer): Says => (end.says === 'on the way' && isOver ? PORT_UNREACHABLE : end.says);
  const read = last.map((end) => (end === null ? null : { ...end, says: says(end) }));
  return [...hops.slice(0, -1), read].slice(0, hops.length);
}
