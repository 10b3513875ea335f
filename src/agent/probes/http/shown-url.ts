import { type Scrub, shortenedText } from '../../secrets/cut-scrubbed.ts';

/** Limit for messages; the result has the whole URL. */
const MAX_CHARS = 300;

/** A URL for messages: without user information (a secret) and fragment (never sent). */
export function shownUrl(url: URL): string {
  if (url.username === '' && url.password === '' && url.hash === '') return url.href;
  const shown = new URL(url);
  shown.username = '';
  shown.password = '';
  shown.hash = '';
  return shown.href;
}

/** How a request is named in logs and failures: `GET https://example.com/health`. */
export function requestText(
  request: { readonly method: string; readonly url: URL },
  { scrub }: { readonly scrub: Scrub },
): string {
  return `${request.method} ${shortenedText(shownUrl(request.url), MAX_CHARS, scrub)}`;
}
