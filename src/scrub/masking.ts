import { MASK } from '../model/credentials/mask.ts';
import type { Automaton } from './automaton/automaton.ts';
import { SecretSearch } from './secret-search.ts';
import type { Spans } from './spans.ts';

type YieldToEventLoop = () => Promise<void>;

const MASK_BYTES = new TextEncoder().encode(MASK);
const COPY_BYTES = 512 * 1024;
const COPY_WORK = 50_000;
const SPAN_WORK = 20;

const encoder = new TextEncoder();
const SCRATCH = new Uint8Array(32 * 1024);
/** Bytes in UTF-8 of one UTF-16 unit. */
const MAX_UNIT_BYTES = 3;

/** The text with all secrets masked; the same text if there are none. */
export function maskText(automaton: Automaton, text: string): string {
  return withSpans(automaton, text, (spans, byteLength) => {
    if (spans.count === 0) return text;
    const unitAt = byteLength === text.length ? (byte: number) => byte : unitsOf(text);
    let masked = '';
    let done = 0;
    for (let span = 0; span < spans.count; span += 1) {
      masked += text.slice(done, unitAt(spans.from(span))) + MASK;
      done = unitAt(spans.to(span));
    }
    return masked + text.slice(done);
  });
}

export function holdsSecret(automaton: Automaton, text: string): boolean {
  return withSpans(automaton, text, (spans) => spans.count > 0);
}

function withSpans<T>(
  automaton: Automaton,
  text: string,
  use: (spans: Spans, byteLength: number) => T,
): T {
  const isShort = text.length * MAX_UNIT_BYTES <= SCRATCH.length;
  const bytes = isShort ? SCRATCH : encoder.encode(text);
  const length = isShort ? encoder.encodeInto(text, SCRATCH).written : bytes.length;
  const search = SecretSearch.take(automaton);
  try {
    search.open(bytes, length);
    search.searchAtOnce();
    return use(search.spans, length);
  } finally {
    search.release();
  }
}

/** Maps positions in UTF-8, in ascending order, to positions in UTF-16. */
function unitsOf(text: string): (byte: number) => number {
  let unit = 0;
  let at = 0;
  return (byte) => {
    while (at < byte) {
      const code = text.codePointAt(unit) ?? 0;
      // A lone surrogate is encoded as U+FFFD, which also takes three bytes.
      at += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
      unit += code < 0x10000 ? 1 : 2;
    }
    return unit;
  };
}

/** The bytes with all secrets masked; the same object if there are none. */
export async function maskBytes(
  automaton: Automaton,
  bytes: Uint8Array,
  yieldToEventLoop: YieldToEventLoop,
): Promise<Uint8Array> {
  const search = SecretSearch.take(automaton);
  try {
    search.open(bytes, bytes.length);
    await search.search(true, yieldToEventLoop);
    const { spans } = search;
    if (spans.count === 0) return bytes;
    let size = bytes.length;
    for (let span = 0; span < spans.count; span += 1) {
      size += MASK_BYTES.length + spans.from(span) - spans.to(span);
    }
    const masked = Buffer.allocUnsafeSlow(size);
    let written = 0;
    let done = 0;
    for (let span = 0; span <= spans.count; span += 1) {
      const isLast = span === spans.count;
      const to = isLast ? bytes.length : spans.from(span);
      // Copying megabytes takes milliseconds.
      while (done < to) {
        const part = bytes.subarray(done, Math.min(to, done + COPY_BYTES));
        masked.set(part, written);
        written += part.length;
        done += part.length;
        await search.rest(yieldToEventLoop, SPAN_WORK + (COPY_WORK * part.length) / COPY_BYTES);
      }
      if (isLast) break;
      masked.set(MASK_BYTES, written);
      written += MASK_BYTES.length;
      done = spans.to(span);
    }
    return masked;
  } finally {
    search.release();
  }
}

/**
 * The pieces with all secrets masked, including those that span several pieces. Delays at most as
 * many bytes as the longest form of a secret.
 */
export async function* maskPieces(
  automaton: Automaton,
  pieces: AsyncIterable<Uint8Array>,
  yieldToEventLoop: YieldToEventLoop,
): AsyncGenerator<Uint8Array> {
  const search = SecretSearch.take(automaton);
  const output = new Output(search);
  try {
    for await (const piece of pieces) {
      for (let added = 0; added < piece.length; ) {
        added += search.add(piece.subarray(added));
        await search.search(false, yieldToEventLoop);
        const decided = output.upTo(search.decided);
        if (decided.length > 0) yield decided;
      }
    }
    await search.search(true, yieldToEventLoop);
    const rest = output.upTo(search.length);
    if (rest.length > 0) yield rest;
  } finally {
    search.release();
  }
}

/** The masked output of a text in pieces. */
class Output {
  readonly #search: SecretSearch;
  /** Output up to here. */
  #done = 0;
  /** The end of the last mask: a span that touches it gets no mask of its own. */
  #maskedTo = -1;

  constructor(search: SecretSearch) {
    this.#search = search;
  }

  /** The output before a position that was not returned before. */
  upTo(position: number): Uint8Array {
    const { spans, bytes } = this.#search;
    const parts: Uint8Array[] = [];
    let used = 0;
    for (; used < spans.count && spans.from(used) < position; used += 1) {
      const from = spans.from(used);
      if (from > this.#done) parts.push(bytes.subarray(this.#done, from));
      if (from > this.#maskedTo) parts.push(MASK_BYTES);
      this.#maskedTo = Math.max(this.#maskedTo, spans.to(used));
      this.#done = Math.max(this.#done, this.#maskedTo);
    }
    spans.dropFirst(used);
    if (position > this.#done) {
      parts.push(bytes.subarray(this.#done, position));
      this.#done = position;
    }
    const given = Buffer.concat(parts);
    const dropped = this.#search.drop(this.#done);
    this.#done -= dropped;
    this.#maskedTo -= dropped;
    return given;
  }
}
