/**
 * Scheme, host and port of a URL: what has to stay the same for a stored secret to stay. A text that is
 * no URL stands for itself.
 */
export function originOf(text: string): string {
  return URL.canParse(text) ? new URL(text).origin : text;
}
