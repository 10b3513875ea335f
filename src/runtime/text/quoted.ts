/** Keeps log lines readable. */
const MAX_QUOTED_CHARS = 200;

/** For messages: in quotes, on one line, cut at the given length. */
export function quoted(text: string, maxChars = MAX_QUOTED_CHARS): string {
  return JSON.stringify(shortenedToChars(text, maxChars));
}

/** Cut between characters, and marked with an ellipsis. */
export function shortenedToChars(text: string, maxChars = MAX_QUOTED_CHARS): string {
  if (text.length <= maxChars) return text;
  return `${text.slice(0, maxChars).replace(/[\ud800-\udbff]$/, '')}…`;
}
