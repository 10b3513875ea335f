import { MASK } from '../model/credentials/sensitive-headers.ts';
import type { Automaton } from './automaton/automaton.ts';
import { buildAutomaton } from './automaton/build-automaton.ts';
import { deepText } from './deep.ts';
import { holdsSecret, maskBytes, maskPieces, maskText } from './masking.ts';

export { isMaskable } from './maskable.ts';

/**
 * Masks secrets wherever they stand (src/scrub/README.md, "What is masked, and where"): plain,
 * escaped for JSON, a URL or HTML, in base64, base64url and hexadecimal, and each of these inside
 * another. Where several touch or overlap, one mask stands for all. An escape is masked whole or
 * not at all. The time each takes is in proportion to the text, however many secrets there are.
 *
 * Only whole secrets are masked, so a text is to be scrubbed before it is cut. Nearly every text is
 * of somebody's making who may see what becomes of it: whoever reports a test session, writes a
 * check or has a target. If the mask told that a part of a secret was guessed right (`sk_live_a…`,
 * `sk_live_b…`), they would find it piece by piece. For a whole secret it tells only that the whole
 * guess is right. Parts are masked in one place, where only a target can have put them: parts.ts.
 */
export interface Scrubber {
  /** Without secrets, it returns everything unchanged. */
  readonly isIdle: boolean;
  /** At once, so for short texts: some ten nanoseconds a byte, a hundred where nearly all is escapes. */
  text(text: string): string;
  /**
   * Every text inside of a value, names of fields too: two that become the same stay two. The same
   * object where nothing was found. Objects that know themselves how they are written in JSON (a URL)
   * become what is written; what is more than 500 levels deep, or stands in itself, becomes a mask.
   *
   * @param exempt names of fields whose values stay as they are
   */
  deep<T>(value: T, exempt?: ReadonlySet<string>): T;
  /**
   * A line of JSON, which stays JSON; untouched where nothing was found. What is no JSON becomes a
   * JSON string.
   */
  json(line: string): string;
  holdsKnown(text: string): boolean;
  /** Yields every few milliseconds. Returns the same object if nothing was found. */
  bytes(bytes: Uint8Array): Promise<Uint8Array>;
  /** The same of a text in pieces, which may be cut anywhere, in bounded memory. */
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
 * At once, so for few secrets: a thousand take some ten milliseconds.
 *
 * @param secrets those that are none by themselves (`isMaskable`) are left out
 * @param yieldToEventLoop how `bytes` and `stream` yield; by default they do not
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
 * The same in slices of about a millisecond, with a yield between them. It takes 14 bytes of memory
 * for each byte of the secrets.
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
    deepText(value, text, exempt, MASK);
  return {
    isIdle: false,
    text,
    deep,
    json(line) {
      // Without an escape, a text in the line is what it says.
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
