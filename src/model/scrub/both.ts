import type { Scrubber } from './scrubber.ts';

/** Masks what either knows: what the first knows whole, before the second could mask a part of it. */
export function bothScrubbers(first: Scrubber, second: Scrubber): Scrubber {
  if (first.isIdle) return second;
  if (second.isIdle) return first;
  return {
    isIdle: false,
    text: (text, options) => second.text(first.text(text, options), options),
    deep: (value, keep) => second.deep(first.deep(value, keep), keep),
    json: (line) => second.json(first.json(line)),
    holdsKnown: (text) => first.holdsKnown(text) || second.holdsKnown(text),
    bytes: async (bytes, options) => second.bytes(await first.bytes(bytes, options), options),
    stream: (pieces, options) => second.stream(first.stream(pieces, options), options),
  };
}
