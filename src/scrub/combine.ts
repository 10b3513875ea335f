import type { Scrubber } from './scrubber.ts';

/** Masks what either knows: what the first knows whole, before the second could mask a part of it. */
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
