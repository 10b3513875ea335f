import { isIP } from 'node:net';
import { withoutZone } from '../../../runtime/net/endpoint-text.ts';
import type { Family } from '../../net/resolver.ts';
import { type HopAnswer, MAX_TTL, type Meaning, PROBES_PER_HOP, type ProbeEnd } from './engine.ts';
import { PORT_UNREACHABLE, unreachableByMark } from './unreachable.ts';

/** Five times the length of 30 lines with three IPv6 addresses each. */
const MAX_OUTPUT_CHARS = 32 * 1024;
/** Longer than any word that is used; the longest is an IPv6 address. */
const MAX_WORD_CHARS = 64;
const TIME = /^\d{1,6}(\.\d{1,6})?$/;

/**
 * Reads the output of `traceroute -n`, in pieces of any size:
 *
 *     traceroute to 192.0.2.9 (192.0.2.9), 30 hops max, 60 byte packets
 *      1  10.0.0.1  0.420 ms  0.388 ms *
 *      2  10.0.1.1  1.204 ms 10.0.1.2  1.310 ms !H 10.0.1.1  1.119 ms
 *
 * An answer counts once the unit of its time has arrived, so output that is cut anywhere yields no
 * wrong answer. Ignores everything else.
 */
export class TracerouteOutput {
  readonly #family: Family;
  readonly #hops: ProbeEnd[][] = [];
  #charsLeft = MAX_OUTPUT_CHARS;
  #word = '';
  /** `start`: the line has no word yet. `hop`: it is about the last hop. */
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

  /** Drops everything beyond MAX_OUTPUT_CHARS. */
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

  /** Call it at the end of the output. A last word that was cut has no effect, or the same one. */
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
      if (ends.length < PROBES_PER_HOP) ends.push(null);
    } else if (word === 'ms') {
      this.#answer(ends);
    } else if (word.startsWith('!')) {
      this.#mark(ends, word);
    } else if (isIP(word) !== 0) {
      this.#address = withoutZone(word);
    } else if (TIME.test(word)) {
      this.#timeMs = Number(word);
    }
  }

  #answer(ends: ProbeEnd[]): void {
    const [address, rttMs] = [this.#address, this.#timeMs];
    this.#timeMs = null;
    if (address === null || rttMs === null || ends.length >= PROBES_PER_HOP) return;
    ends.push({ address, rttMs, meaning: 'on the way' });
  }

  #mark(ends: ProbeEnd[], word: string): void {
    const meaning = unreachableByMark(this.#family, word);
    const last = ends.at(-1) ?? null;
    if (meaning !== null && last !== null) ends[ends.length - 1] = { ...last, meaning };
  }
}

/**
 * Interprets the last line of an output. The program stops at the end of the route: answers of the
 * target come from the destination, and others without a mark report the port unreachable.
 *
 * @param endedItself false if the program was killed: the last line may be of a router on the way
 */
export function withLastHopRead(
  hops: readonly (readonly ProbeEnd[])[],
  target: string,
  endedItself: boolean,
): readonly (readonly ProbeEnd[])[] {
  const last = hops.at(-1) ?? [];
  const isFromTarget = (end: ProbeEnd): boolean => end?.address === target;
  const isOver = endedItself && hops.length < MAX_TTL;
  const meaning = last.some(isFromTarget)
    ? (end: HopAnswer): Meaning => (isFromTarget(end) ? 'destination' : end.meaning)
    : (end: HopAnswer): Meaning =>
        end.meaning === 'on the way' && isOver ? PORT_UNREACHABLE : end.meaning;
  const read = last.map((end) => (end === null ? null : { ...end, meaning: meaning(end) }));
  return [...hops.slice(0, -1), read].slice(0, hops.length);
}
