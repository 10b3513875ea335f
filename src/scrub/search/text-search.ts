import { ROOT } from '../automaton/automaton.ts';
import { hashOf } from '../automaton/prefilter.ts';
import { Escapes, MAX_BACKSLASHES } from '../encodings/escapes.ts';
import { BACKSLASH, IS_MARKER, MARKER_KINDS, mayEscape, PLUS } from './bytes-of-text.ts';
import { Decodings, NOT_MASKED } from './decodings.ts';
import { MatchHistories, PLAIN } from './match-histories.ts';
import { KNOWN_BYTES, PartialMatches } from './partial-matches.ts';
import type { Report, Task, Window } from './window.ts';

/** Of the bytes that the prefilter knows, the last is looked at, and these before. */
const BEFORE = KNOWN_BYTES - 1;
/** What of a secret is masked at the end of a text that was cut there. */
const MIN_CUT_BYTES = 8;
/** At the end of a cut text, an escape may be in two: so near to the end. */
const CUT_ESCAPE_BYTES = 12;

const FOUR_BACKSLASHES = 0x5c5c5c5c;
const BYTE_WORK = 1;
const READING_WORK = 8;

/**
 * Finds secrets in a text, plain or escaped. Where neither the first bytes of one nor an escape
 * that could be a part of them stands, a byte costs a look at a bit. Elsewhere, the automaton
 * follows all readings of the escapes at once. The time is in proportion to the text, whatever
 * text and secrets are.
 */
export class TextSearch {
  readonly escapes: Escapes;
  readonly #window: Window;
  readonly #task: Task;
  readonly #report: Report;
  readonly #beginnings: PartialMatches;
  readonly #histories = new MatchHistories();
  /** Made when it is first needed. */
  #readings: Decodings | null = null;
  #at = 0;
  #isReading: boolean = false;
  /** Where the prefilter found something: reading goes on until all that is left begins behind it. */
  #startedFor = 0;

  constructor(window: Window, task: Task, report: Report) {
    this.#window = window;
    this.#task = task;
    this.#report = report;
    this.escapes = new Escapes(window);
    this.#beginnings = new PartialMatches(window, task);
  }

  start(): void {
    this.#at = 0;
    this.#isReading = false;
  }

  /** Looks at what is before a position. */
  run(limit: number): void {
    const startedAt = this.#at;
    while (this.#at < limit) {
      if (this.#isReading) this.#read(limit);
      else this.#skip(limit);
    }
    this.#task.work += (this.#at - startedAt) * BYTE_WORK;
  }

  get isQuiet(): boolean {
    return !this.#isReading;
  }

  /** The text is at its end. */
  finish(): void {
    if (this.#window.isCut && this.#isReading) this.#maskBeginnings(this.#at);
    this.#isReading = false;
  }

  /** Everything that is found from now on ends behind the last of these, and begins not before. */
  *undecided(): Generator<number> {
    yield Math.max(0, this.#at - BEFORE);
    const readings = this.#readings;
    if (!this.#isReading || readings === null) return;
    for (const { position, index } of readings.entriesFrom(this.#at)) {
      yield this.#beginningAt(readings, position, index);
    }
  }

  shift(bytes: number): void {
    this.#at -= bytes;
    this.#startedFor -= bytes;
    if (!this.#isReading) return;
    this.#histories.shift(bytes);
    this.#readings?.shift(bytes);
  }

  /** Goes to where a secret may begin. */
  #skip(limit: number): void {
    const { bytes } = this.#window;
    const { prefilter } = this.#task.automaton;
    const { fours, shift, hasSpace } = prefilter;
    const hasTwoBackslashes = prefilter.mayBeginTwo(FOUR_BACKSLASHES & 65_535);
    let at = this.#at;
    let last = ((bytes[at - 3] ?? 0) << 16) | ((bytes[at - 2] ?? 0) << 8) | (bytes[at - 1] ?? 0);
    for (; at < limit; at += 1) {
      const byte = bytes[at] ?? 0;
      last = (last << 8) | byte;
      const bit = hashOf(last) >>> shift;
      if ((((fours[bit >>> 5] ?? 0) >>> bit) & 1) === 1) break;
      const kind = MARKER_KINDS[byte] ?? 0;
      if (kind === 0) continue;
      if (last === FOUR_BACKSLASHES && !hasTwoBackslashes) {
        const resumeAt = this.#endOfBackslashes(at, limit);
        if (resumeAt > at) {
          at = resumeAt - 1;
          continue;
        }
      }
      const mayMatter = kind === 1 ? mayEscape(byte, bytes[at + 1] ?? 0) : hasSpace;
      if (mayMatter && this.#beginnings.mayHaveEscapeAt(at)) break;
    }
    this.#at = at;
    if (at < limit) this.#startReading(at);
  }

  /** In a long run of backslashes, however they are read, there is nothing else. Where that ends. */
  #endOfBackslashes(at: number, limit: number): number {
    const { bytes, length } = this.#window;
    const last = Math.min(length, limit + MAX_BACKSLASHES * 2);
    let end = at;
    while (end < last && bytes[end] === BACKSLASH) end += 1;
    return end - MAX_BACKSLASHES * 2;
  }

  #startReading(at: number): void {
    const readings = this.#readings ?? new Decodings();
    this.#readings = readings;
    readings.clear();
    this.#histories.clear();
    this.#isReading = true;
    this.#startedFor = at;
    this.#at = Math.max(0, at - BEFORE);
    this.#arrive(readings, this.#at, ROOT, PLAIN, this.#at, NOT_MASKED, NOT_MASKED);
  }

  /** Follows all readings, until none of them is on its way into a secret. */
  #read(limit: number): void {
    const readings = this.#readings;
    if (readings === null) return;
    let at = this.#at;
    while (at < limit) {
      const plainTo = readings.count === 1 ? this.#readPlain(readings, at, limit) : at;
      if (plainTo > at) at = plainTo;
      else {
        this.#readByte(readings, at);
        at += 1;
      }
      const resumeAt = this.#endOfReading(readings, at);
      if (resumeAt < 0) continue;
      this.#isReading = false;
      at = resumeAt;
      break;
    }
    this.#at = at;
  }

  /** Follows the only reading as far as nothing is found and nothing is to be read otherwise. */
  #readPlain(readings: Decodings, at: number, limit: number): number {
    const { automaton } = this.#task;
    const { outputs, depths } = automaton;
    const { bytes } = this.#window;
    const index = readings.firstAt(at);
    const history = readings.histories[index] ?? PLAIN;
    const maskedFrom = readings.maskedFroms[index] ?? NOT_MASKED;
    const maskedTo = readings.maskedTos[index] ?? NOT_MASKED;
    let state = readings.states[index] ?? ROOT;
    let to = at;
    while (to < limit) {
      const byte = bytes[to] ?? 0;
      if (MARKER_KINDS[byte] !== 0) break;
      state = automaton.step(state, byte);
      to += 1;
      if (outputs[state] !== 0 || (depths[state] ?? 0) < KNOWN_BYTES) break;
    }
    if (to === at) return at;
    this.#task.work += to - at;
    readings.remove(at);
    const decoded = this.#histories.decoded(history, to);
    this.#arrive(readings, to, state, history, decoded, maskedFrom, maskedTo);
    return to;
  }

  #readByte(readings: Decodings, at: number): void {
    const { bytes, length, isCut } = this.#window;
    const byte = bytes[at] ?? 0;
    const isMarker = IS_MARKER[byte] === 1;
    const mayMatter = isMarker ? mayEscape(byte, bytes[at + 1] ?? 0) : byte === PLUS;
    const escapes = mayMatter ? this.escapes.readAt(at) : 0;
    if (isMarker && isCut && length - at < CUT_ESCAPE_BYTES) this.#maskBeginnings(at);
    this.#step(readings, at, byte, escapes);
    readings.remove(at);
  }

  #step(readings: Decodings, at: number, byte: number, escapes: number): void {
    const count = readings.countAt(at);
    if (!this.#histories.hasRoomFor(count * escapes)) this.#makeRoom(readings, at, count * escapes);
    this.#task.work += READING_WORK * count * (1 + escapes);
    const automaton = this.#task.automaton;
    const histories = this.#histories;
    let mayBegin: boolean | null = null;
    const first = readings.firstAt(at);
    for (let index = first; index < first + count; index += 1) {
      const state = readings.states[index] ?? ROOT;
      const history = readings.histories[index] ?? PLAIN;
      const maskedFrom = readings.maskedFroms[index] ?? NOT_MASKED;
      const maskedTo = readings.maskedTos[index] ?? NOT_MASKED;
      const decoded = histories.decoded(history, at);
      const after = automaton.step(state, byte);
      this.#arrive(readings, at + 1, after, history, decoded + 1, maskedFrom, maskedTo);
      for (let reading = 0; reading < escapes; reading += 1) {
        const size = this.escapes.sizeOf(reading);
        let rest = this.escapes.bytesOf(reading);
        let escaped = state;
        for (let left = size; left > 0; left -= 1) {
          escaped = automaton.step(escaped, rest & 255);
          rest >>>= 8;
        }
        const depth = automaton.depths[escaped] ?? 0;
        if (depth === 0) continue;
        // Most are the beginning of nothing.
        if (depth < KNOWN_BYTES && histories.isPlainFrom(history, decoded + size - depth)) {
          mayBegin ??= this.#beginnings.mayHaveEscapeAt(at);
          if (!mayBegin) continue;
        }
        const end = this.escapes.ends[reading] ?? 0;
        const longer = histories.add(history, at, end, size);
        this.#arrive(readings, end, escaped, longer, decoded + size, maskedFrom, maskedTo);
      }
    }
  }

  /** Continues a reading at a position and reports a secret that ended there. */
  #arrive(
    readings: Decodings,
    position: number,
    state: number,
    history: number,
    decoded: number,
    maskedFrom: number,
    maskedTo: number,
  ): void {
    const histories = this.#histories;
    const output = this.#task.automaton.outputs[state] ?? 0;
    let newFrom = maskedFrom;
    let newTo = maskedTo;
    if (output > 0) {
      const from = decoded - output;
      // Only what is new: to go back to the beginning each time would take too long.
      const goesOn = maskedFrom <= from && from <= maskedTo;
      if (!goesOn) newFrom = from;
      newTo = decoded;
      this.#report(histories.source(history, goesOn ? maskedTo : from), position);
    }
    const index = readings.put(position, state, this.#task.automaton.depths);
    if (index < 0) return;
    readings.histories[index] = history;
    readings.maskedFroms[index] = newFrom;
    readings.maskedTos[index] = newTo;
  }

  /**
   * Whether no reading knows more than the prefilter finds again by itself; then where to go on, so
   * that it does. Else -1.
   */
  #endOfReading(readings: Decodings, at: number): number {
    let resumeAt = at;
    for (let position = at, left = readings.count; left > 0; position += 1) {
      const count = readings.countAt(position);
      left -= count;
      const first = readings.firstAt(position);
      for (let index = first; index < first + count; index += 1) {
        const depth = this.#task.automaton.depths[readings.states[index] ?? ROOT] ?? 0;
        if (depth >= KNOWN_BYTES) return -1;
        if (depth > 0) resumeAt = Math.min(resumeAt, this.#beginningAt(readings, position, index));
      }
    }
    return resumeAt > this.#startedFor ? resumeAt : -1;
  }

  #maskBeginnings(at: number): void {
    const readings = this.#readings;
    if (readings === null) return;
    const first = readings.firstAt(at);
    for (let index = first; index < first + readings.countAt(at); index += 1) {
      const depth = this.#task.automaton.depths[readings.states[index] ?? ROOT] ?? 0;
      if (depth >= MIN_CUT_BYTES) this.#report(this.#beginningAt(readings, at, index), at);
    }
  }

  /** Where in the text begins what of a secret was read up to a position. */
  #beginningAt(readings: Decodings, position: number, index: number): number {
    const history = readings.histories[index] ?? PLAIN;
    return this.#histories.source(history, this.#decodedFrom(readings, position, index));
  }

  #decodedFrom(readings: Decodings, position: number, index: number): number {
    const history = readings.histories[index] ?? PLAIN;
    const depth = this.#task.automaton.depths[readings.states[index] ?? ROOT] ?? 0;
    return this.#histories.decoded(history, position) - depth;
  }

  #makeRoom(readings: Decodings, at: number, escapes: number): void {
    const entries = [...readings.entriesFrom(at)];
    const names = this.#histories.makeRoomFor(
      escapes,
      entries.map(({ position, index }) => ({
        history: readings.histories[index] ?? PLAIN,
        from: this.#decodedFrom(readings, position, index),
      })),
    );
    for (const { index } of entries) {
      readings.histories[index] = names[readings.histories[index] ?? PLAIN] ?? PLAIN;
    }
  }
}
