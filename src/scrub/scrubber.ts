import { MASK } from '../model/credentials/mask.ts';
import type { Automaton } from './automaton/automaton.ts';
import { buildAutomaton } from './automaton/build-automaton.ts';
import { mapDeepTexts } from './deep-texts.ts';
import { holdsSecret, maskBytes, maskPieces, maskText } from './masking.ts';

export { isMaskable } from './maskable.ts';

/**
 * Masks secrets (src/scrub/README.md, "What is masked, and where"): plain, escaped for JSON, a URL
 * or HTML, in base64, base64url and hexadecimal, and each of these inside another. Secrets that
 * touch or overlap get one mask. An escape is masked completely or not at all. Takes time in
 * proportion to the text, whatever the number of secrets.
 *
 * Masks only complete secrets, so texts must be scrubbed before they are cut. The author of a text
 * (of a check, a target or a test session) often sees the result: if parts were masked, the author
 * could guess a secret piece by piece (`sk_live_a…`, `sk_live_b…`). A mask of a complete secret
 * confirms only a complete guess. Parts are masked only in texts of a target: secret-parts.ts.
 */
export interface Scrubber {
  /** True if there are no secrets: everything stays unchanged. */
  readonly isIdle: boolean;
  /** Synchronous, for short texts: some 10 ns per byte, 100 ns if nearly all bytes are escapes. */
  text(text: string): string;
  /**
   * Masks every text in a value, including field names; names that become equal are numbered. The
   * same object if it contains no secret. Replaces objects with their own JSON form (a URL) by that
   * form, and values that are more than 500 levels deep or contain themselves by a mask.
   *
   * @param exempt names of fields whose values stay unchanged
   */
  deep<T>(value: T, exempt?: ReadonlySet<string>): T;
  /**
   * Masks a line of JSON, which stays JSON; unchanged if it contains no secret. Turns other text
   * into a JSON string.
   */
  json(line: string): string;
  /** Whether a text contains a secret, in any of the forms that are masked. */
  holdsKnown(text: string): boolean;
  /** Yields every few milliseconds. Returns the same object if it contains no secret. */
  bytes(bytes: Uint8Array): Promise<Uint8Array>;
  /** The same for a text in pieces, cut anywhere, in bounded memory. */
  stream(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array>;
}

type YieldToEventLoop = () => Promise<void>;

const NO_FIELDS: ReadonlySet<string> = new Set();

/** Masks nothing. */
export const NO_SECRETS: Scrubber = {
  isIdle: true,
  text: (text) => text,
  deep: (value) => value,
  json: (line) => line,
  holdsKnown: () => false,
  bytes: async (bytes) => bytes,
  stream: async function* stream(pieces) {
    yield* pieces;
  },
};

/**
 * Synchronous, for few secrets: a thousand take some 10 ms.
 *
 * @param secrets those that are not maskable (`isMaskable`) are ignored
 * @param yieldToEventLoop called by `bytes` and `stream`; by default they do not yield
 */
export function createScrubber(
  secrets: readonly string[],
  yieldToEventLoop: YieldToEventLoop = async () => undefined,
): Scrubber {
  const building = buildAutomaton(secrets);
  for (;;) {
    const step = building.next();
    if (step.done === true) return scrubberOf(step.value, yieldToEventLoop);
  }
}

/**
 * The same in slices of about a millisecond, with a yield between them. Takes 14 bytes of memory
 * per byte of the secrets.
 */
export async function buildScrubber(
  secrets: readonly string[],
  yieldToEventLoop: YieldToEventLoop,
): Promise<Scrubber> {
  const building = buildAutomaton(secrets);
  for (;;) {
    const step = building.next();
    if (step.done === true) return scrubberOf(step.value, yieldToEventLoop);
    await yieldToEventLoop();
  }
}

function scrubberOf(automaton: Automaton | null, yieldToEventLoop: YieldToEventLoop): Scrubber {
  if (automaton === null) return NO_SECRETS;
  const text = (given: string): string => maskText(automaton, given);
  const deep = <T>(value: T, exempt: ReadonlySet<string> = NO_FIELDS): T =>
    mapDeepTexts(value, text, exempt, MASK);
  return {
    isIdle: false,
    text,
    deep,
    json(line) {
      // Without an escape, the line contains its texts literally.
      if (!line.includes('\\') && !holdsSecret(automaton, line)) return line;
      let value: unknown;
      try {
        value = JSON.parse(line);
      } catch {
        return JSON.stringify(text(line));
      }
      const scrubbed = deep(value);
      return scrubbed === value ? line : JSON.stringify(scrubbed);
    },
    holdsKnown: (given) => holdsSecret(automaton, given),
    bytes: (bytes) => maskBytes(automaton, bytes, yieldToEventLoop),
    stream: (pieces) => maskPieces(automaton, pieces, yieldToEventLoop),
  };
}

/** Masks the secrets of both. What `first` masks completely, `second` cannot mask in part. */
export function combineScrubbers(first: Scrubber, second: Scrubber): Scrubber {
  if (first.isIdle) return second;
  if (second.isIdle) return first;
  return {
    isIdle: false,
    text: (text) => second.text(first.text(text)),
    deep: (value, exempt) => second.deep(first.deep(value, exempt), exempt),
    json: (line) => second.json(first.json(line)),
    holdsKnown: (text) => first.holdsKnown(text) || second.holdsKnown(text),
    bytes: async (bytes) => second.bytes(await first.bytes(bytes)),
    stream: (pieces) => second.stream(first.stream(pieces)),
  };
}
