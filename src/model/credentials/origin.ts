/**
 * Scheme, host and port of a URL: a stored secret stays only while they do. A text that is no URL
 * is returned as it is.
 */
export function originOf(text: string): string {
  return URL.canParse(text) ? new URL(text).origin : text;
}
