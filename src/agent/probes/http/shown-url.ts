import { type Scrub, shortenedText } from '../../secrets/cut-scrubbed.ts';

/** A message names its target; the whole URL, which can be long, stands in the result. */
const MAX_CHARS = 300;

/**
 * A URL for people: without the user information it may carry, which is a secret, and without
 * the fragment, which is never sent.
 */
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
