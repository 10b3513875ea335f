import { isIPv4 } from 'node:net';
import { credentialsOf } from './url-credentials.ts';

/** Most values have one form only and need no further analysis. */
const MAY_DIFFER = /[A-Z\\#]|:\/\/|^\s|\s$|[^\0-\x7f]/;
const HTTP_URL = /^https?:\/\//i;
/** A name of a host, or a token that may be a part of one, and no word of a sentence. */
const PART_OF_HOST = /^(?=.*[\d._-])[\p{L}\p{N}._-]+$/u;
/** What is left of a value is too common to be masked where it is shorter. */
const MIN_LEFT_CHARS = 8;

/**
 * What becomes of a secret value on its way to the target and back, beyond its encodings, which a
 * scrubber knows by itself. URLs are written in one normal form (WHATWG URL: hosts in small
 * letters and ASCII, no credentials, no default port, no fragment, `/` for `\`), white space around
 * headers is not sent, and their Latin-1 is taken for UTF-8.
 */
export function otherFormsOf(value: string): readonly string[] {
  if (!MAY_DIFFER.test(value)) return [];
  const trimmed = value.trim();
  const others = HTTP_URL.test(trimmed) ? ofUrl(trimmed) : ofPart(trimmed);
  const left = [...others, ...misread(trimmed)].filter((form) => form.length >= MIN_LEFT_CHARS);
  return [...new Set([trimmed, ...left])].filter((form) => form !== value);
}

/** The whole of it in its normal form, and what of it the target knows and may repeat. */
function ofUrl(text: string): readonly string[] {
  if (!URL.canParse(text)) return [];
  const url = new URL(text);
  url.username = '';
  url.password = '';
  url.hash = '';
  const target = `${url.pathname}${url.search}`;
  return [url.href.replace(/\/$/, ''), target, ...credentialsOf(text)];
}

/** In a url: as a part of its host, or as it is in its path. */
function ofPart(text: string): readonly string[] {
  const [sent = ''] = text.replaceAll('\\', '/').split('#', 1);
  return PART_OF_HOST.test(text) ? [sent, ...ofHost(text)] : [sent];
}

function ofHost(text: string): readonly string[] {
  const small = text.toLowerCase();
  const host = URL.canParse(`http://${text}`) ? new URL(`http://${text}`).hostname : small;
  // Numbers are read as addresses there: 0x7F000001 is the host itself.
  return isIPv4(host) ? [small] : [small, host];
}

/** Headers are sent in Latin-1; who takes one for UTF-8 shows all but the letters beyond ASCII. */
function misread(text: string): readonly string[] {
  const isLatin1 = /^[\0-\xff]*$/.test(text);
  return isLatin1 ? [Buffer.from(text, 'latin1').toString('utf8')] : [];
}
