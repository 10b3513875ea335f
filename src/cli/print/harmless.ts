/**
 * Control characters can drive a terminal, and the marks that change the direction of writing can
 * disguise a text.
 */
const HARMFUL =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is replaced
  /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|\p{Cs}/gu;

/**
 * A text from outside (a target, a file) as one line that can be printed on a terminal: whatever
 * could steer it comes out as `\u{1b}`. Cut at `maxChars`.
 */
export function harmless(text: string, maxChars = 500): string {
  const cut = text.length > maxChars ? `${text.slice(0, maxChars)}…` : text;
  return cut.replace(HARMFUL, (char) =>
    char === '\n' ? '\\n' : `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`,
  );
}
