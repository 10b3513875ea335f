const encoder = new TextEncoder();

/**
 * The longest start of the text whose UTF-8 form has at most `maxBytes` bytes, cut between
 * characters. A lone surrogate counts as the three bytes of U+FFFD, which it is encoded as.
 */
export function cutText(text: string, maxBytes: number): string {
  // No character takes more than three bytes per UTF-16 unit.
  if (text.length * 3 <= maxBytes) return text;
  const { read } = encoder.encodeInto(text, new Uint8Array(maxBytes));
  return read === text.length ? text : text.slice(0, read);
}
