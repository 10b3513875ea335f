/** Leaves a text unchanged that is not valid percent-encoding (RFC 3986 2.1). */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
