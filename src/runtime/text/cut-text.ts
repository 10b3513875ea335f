const encoder = new TextEncoder();

/**
 * The longest start of the text with at most `maxBytes` bytes of UTF-8, cut between characters. A lone
 * surrogate counts as the three bytes of U+FFFD.
 */
export function cutText(text: string, maxBytes: number): string {
  // No character takes more than three bytes per UTF-16 unit.
  if (text.length * 3 <= maxBytes) return text;
  const { read } = encoder.encodeInto(text, new Uint8Array(maxBytes));
  return read === text.length ? text : text.slice(0, read);
}

/** @param mark ends a text that was cut */
export function shortenedToBytes(text: string, maxBytes: number, mark = '…'): string {
  const start = cutText(text, maxBytes);
  return start === text ? text : `${start}${mark}`;
}
