import { ROOT } from '../automaton/automaton.ts';
import { hashOf } from '../automaton/prefilter.ts';
import { Escapes, MAX_BACKSLASHES } from '../encodings/escapes.ts';
import { BACKSLASH, IS_MARKER, MARKER_KINDS, mayEscape, PLUS } from './character-tables.ts';
import { Decodings, NOT_MASKED } from './decodings.ts';
import { EscapedPrefilter, KNOWN_BYTES } from './escaped-prefilter.ts';
import { MatchHistories, PLAIN } from './match-histories.ts';
import type { OnMatch, Task, Window } from './window.ts';

/** The prefilter checks a position together with so many bytes before it. */
const BEFORE = KNOWN_BYTES - 1;
/** At the end of a cut text, the beginning of a secret is masked from this length on. */
const MIN_CUT_BYTES = 8;
/** This near to the end of a cut text, an escape may be cut. */
const CUT_ESCAPE_BYTES = 12;

const FOUR_BACKSLASHES = 0x5c5c5c5c;
const BYTE_WORK = 1;
const DECODING_WORK = 8;

/**
 * Finds secrets in a text, plain or escaped. Skips positions where the prefilter excludes the
 * beginning of a secret, at the cost of one bit test per byte. Elsewhere, the automaton follows all
 * decodings of the escapes at once. Takes time in proportion to the text, for any text and secrets.
 */
export class TextSearch {
  readonly escapes: Escapes;
  readonly #window: Window;
  readonly #task: Task;
  readonly #report: OnMatch;
  readonly #escapedPrefilter: EscapedPrefilter;
  readonly #histories = new MatchHistories();
  /** Created when first needed. */
  #decodings: Decodings | null = null;
  #at = 0;
  #isActive: boolean = false;
  /** The match of the prefilter: stays active until all decodings begin behind it. */
  #startedFor = 0;

  constructor(window: Window, task: Task, report: OnMatch) {
    this.#window = window;
    this.#task = task;
    this.#report = report;
    this.escapes = new Escapes(window);
    this.#escapedPrefilter = new EscapedPrefilter(window, task);
  }

  start(): void {
    this.#at = 0;
    this.#isActive = false;
  }

  /** Scans up to a position. */
  run(limit: number): void {
    const startedAt = this.#at;
    while (this.#at < limit) {
      if (this.#isActive) this.#follow(limit);
      else this.#skip(limit);
    }
    this.#task.work += (this.#at - startedAt) * BYTE_WORK;
  }

  get isQuiet(): boolean {
    return !this.#isActive;
  }

  /** Called at the end of the text. */
  finish(): void {
    if (this.#window.isCut && this.#isActive) this.#maskBeginnings(this.#at);
    this.#isActive = false;
  }

  /** No later match begins before the smallest of these positions. */
  *undecided(): Generator<number> {
    yield Math.max(0, this.#at - BEFORE);
    const decodings = this.#decodings;
    if (!this.#isActive || decodings === null) return;
    for (const { position, index } of decodings.entriesFrom(this.#at)) {
      yield this.#beginningAt(decodings, position, index);
    }
  }

  shift(bytes: number): void {
    this.#at -= bytes;
    this.#startedFor -= bytes;
    if (!this.#isActive) return;
    this.#histories.shift(bytes);
    this.#decodings?.shift(bytes);
  }

  /** Advances to the next position where a secret may begin. */
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
      if (mayMatter && this.#escapedPrefilter.mayHaveEscapeAt(at)) break;
    }
    this.#at = at;
    if (at < limit) this.#activate(at);
  }

  /** A long run of backslashes decodes only to backslashes. Returns where the rest of it begins. */
  #endOfBackslashes(at: number, limit: number): number {
    const { bytes, length } = this.#window;
    const last = Math.min(length, limit + MAX_BACKSLASHES * 2);
    let end = at;
    while (end < last && bytes[end] === BACKSLASH) end += 1;
    return end - MAX_BACKSLASHES * 2;
  }

  #activate(at: number): void {
    const decodings = this.#decodings ?? new Decodings();
    this.#decodings = decodings;
    decodings.clear();
    this.#histories.clear();
    this.#isActive = true;
    this.#startedFor = at;
    this.#at = Math.max(0, at - BEFORE);
    this.#arrive(decodings, this.#at, ROOT, PLAIN, this.#at, NOT_MASKED, NOT_MASKED);
  }

  /** Follows all decodings until none of them matches the beginning of a secret. */
  #follow(limit: number): void {
    const decodings = this.#decodings;
    if (decodings === null) return;
    let at = this.#at;
    while (at < limit) {
      const plainTo = decodings.count === 1 ? this.#followPlain(decodings, at, limit) : at;
      if (plainTo > at) at = plainTo;
      else {
        this.#followByte(decodings, at);
        at += 1;
      }
      const resumeAt = this.#resumePosition(decodings, at);
      if (resumeAt < 0) continue;
      this.#isActive = false;
      at = resumeAt;
      break;
    }
    this.#at = at;
  }

  /** Follows the only decoding up to a match or a possible escape. */
  #followPlain(decodings: Decodings, at: number, limit: number): number {
    const { automaton } = this.#task;
    const { outputs, depths } = automaton;
    const { bytes } = this.#window;
    const index = decodings.firstAt(at);
    const history = decodings.histories[index] ?? PLAIN;
    const maskedFrom = decodings.maskedFroms[index] ?? NOT_MASKED;
    const maskedTo = decodings.maskedTos[index] ?? NOT_MASKED;
    let state = decodings.states[index] ?? ROOT;
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
    decodings.remove(at);
    const decoded = this.#histories.decoded(history, to);
    this.#arrive(decodings, to, state, history, decoded, maskedFrom, maskedTo);
    return to;
  }

  #followByte(decodings: Decodings, at: number): void {
    const { bytes, length, isCut } = this.#window;
    const byte = bytes[at] ?? 0;
    const isMarker = IS_MARKER[byte] === 1;
    const mayMatter = isMarker ? mayEscape(byte, bytes[at + 1] ?? 0) : byte === PLUS;
    const escapes = mayMatter ? this.escapes.readAt(at) : 0;
    if (isMarker && isCut && length - at < CUT_ESCAPE_BYTES) this.#maskBeginnings(at);
    this.#step(decodings, at, byte, escapes);
    decodings.remove(at);
  }

  #step(decodings: Decodings, at: number, byte: number, escapes: number): void {
    const count = decodings.countAt(at);
    if (!this.#histories.hasCapacityFor(count * escapes))
      this.#makeCapacity(decodings, at, count * escapes);
    this.#task.work += DECODING_WORK * count * (1 + escapes);
    const automaton = this.#task.automaton;
    const histories = this.#histories;
    let mayBegin: boolean | null = null;
    const first = decodings.firstAt(at);
    for (let index = first; index < first + count; index += 1) {
      const state = decodings.states[index] ?? ROOT;
      const history = decodings.histories[index] ?? PLAIN;
      const maskedFrom = decodings.maskedFroms[index] ?? NOT_MASKED;
      const maskedTo = decodings.maskedTos[index] ?? NOT_MASKED;
      const decoded = histories.decoded(history, at);
      const after = automaton.step(state, byte);
      this.#arrive(decodings, at + 1, after, history, decoded + 1, maskedFrom, maskedTo);
      for (let alternative = 0; alternative < escapes; alternative += 1) {
        const size = this.escapes.sizeOf(alternative);
        let rest = this.escapes.bytesOf(alternative);
        let escaped = state;
        for (let left = size; left > 0; left -= 1) {
          escaped = automaton.step(escaped, rest & 255);
          rest >>>= 8;
        }
        const depth = automaton.depths[escaped] ?? 0;
        if (depth === 0) continue;
        // Most alternatives do not begin a secret: tests that before it stores a history.
        if (depth < KNOWN_BYTES && histories.isPlainFrom(history, decoded + size - depth)) {
          mayBegin ??= this.#escapedPrefilter.mayHaveEscapeAt(at);
          if (!mayBegin) continue;
        }
        const end = this.escapes.ends[alternative] ?? 0;
        const longer = histories.add(history, at, end, size);
        this.#arrive(decodings, end, escaped, longer, decoded + size, maskedFrom, maskedTo);
      }
    }
  }

  /** Continues a decoding at a position and reports a secret that ends there. */
  #arrive(
    decodings: Decodings,
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
      // Reports only the new part: finding the beginning each time would take too long.
      const goesOn = maskedFrom <= from && from <= maskedTo;
      if (!goesOn) newFrom = from;
      newTo = decoded;
      this.#report(histories.source(history, goesOn ? maskedTo : from), position);
    }
    const index = decodings.put(position, state, this.#task.automaton.depths);
    if (index < 0) return;
    decodings.histories[index] = history;
    decodings.maskedFroms[index] = newFrom;
    decodings.maskedTos[index] = newTo;
  }

  /**
   * Where the prefilter can resume without missing a match; -1 while a decoding has matched more
   * than the prefilter can find again.
   */
  #resumePosition(decodings: Decodings, at: number): number {
    let resumeAt = at;
    for (let position = at, left = decodings.count; left > 0; position += 1) {
      const count = decodings.countAt(position);
      left -= count;
      const first = decodings.firstAt(position);
      for (let index = first; index < first + count; index += 1) {
        const depth = this.#task.automaton.depths[decodings.states[index] ?? ROOT] ?? 0;
        if (depth >= KNOWN_BYTES) return -1;
        if (depth > 0) resumeAt = Math.min(resumeAt, this.#beginningAt(decodings, position, index));
      }
    }
    return resumeAt > this.#startedFor ? resumeAt : -1;
  }

  #maskBeginnings(at: number): void {
    const decodings = this.#decodings;
    if (decodings === null) return;
    const first = decodings.firstAt(at);
    for (let index = first; index < first + decodings.countAt(at); index += 1) {
      const depth = this.#task.automaton.depths[decodings.states[index] ?? ROOT] ?? 0;
      if (depth >= MIN_CUT_BYTES) this.#report(this.#beginningAt(decodings, at, index), at);
    }
  }

  /** Where the partial match at a position begins in the text. */
  #beginningAt(decodings: Decodings, position: number, index: number): number {
    const history = decodings.histories[index] ?? PLAIN;
    return this.#histories.source(history, this.#decodedFrom(decodings, position, index));
  }

  #decodedFrom(decodings: Decodings, position: number, index: number): number {
    const history = decodings.histories[index] ?? PLAIN;
    const depth = this.#task.automaton.depths[decodings.states[index] ?? ROOT] ?? 0;
    return this.#histories.decoded(history, position) - depth;
  }

  #makeCapacity(decodings: Decodings, at: number, escapes: number): void {
    const entries = [...decodings.entriesFrom(at)];
    const names = this.#histories.makeCapacityFor(
      escapes,
      entries.map(({ position, index }) => ({
        history: decodings.histories[index] ?? PLAIN,
        from: this.#decodedFrom(decodings, position, index),
      })),
    );
    for (const { index } of entries) {
      decodings.histories[index] = names[decodings.histories[index] ?? PLAIN] ?? PLAIN;
    }
  }
}
