/**
 * Scheme, host and port of a URL: an update keeps a stored secret only if they do not change. A
 * text that is not a URL is returned as it is.
 */
export function originOf(text: string): string {
  return URL.canParse(text) ? new URL(text).origin : text;
}
