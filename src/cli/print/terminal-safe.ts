/**
 * Control characters can control a terminal, and marks that change the direction of writing can disguise a text.
 */
const UNSAFE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is replaced
  /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|\p{Cs}/gu;

/**
 * Converts an untrusted text (of a target, a file) to one line that is safe to print on a terminal. Replaces
 * control characters by escapes such as `\u{1b}`. Cuts the text at `maxChars`.
 */
export function terminalSafe(text: string, maxChars = 500): string {
  const cut = text.length > maxChars ? `${text.slice(0, maxChars)}…` : text;
  return cut.replace(UNSAFE, (char) => (char === '\n' ? '\\n' : `\\u{${codePointHex(char)}}`));
}

/** Formats a value as one line of JSON that is safe to print on a terminal. Ends with a line feed. */
export function terminalSafeJsonLine(value: unknown): string {
  // JSON.stringify escapes only the first 32 characters: DEL and the C1 controls stay.
  const json = JSON.stringify(value).replace(
    UNSAFE,
    (char) => `\\u${codePointHex(char).padStart(4, '0')}`,
  );
  return `${json}\n`;
}

function codePointHex(char: string): string {
  return (char.codePointAt(0) ?? 0).toString(16);
}
