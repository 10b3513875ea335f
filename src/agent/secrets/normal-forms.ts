import { isIPv4 } from 'node:net';
import { urlCredentialsOf } from './sent-credentials.ts';

/** Most values have one form only and need no further analysis. */
const MAY_DIFFER = /[A-Z\\#]|:\/\/|^\s|\s$|[^\0-\x7f]/;
const HTTP_URL = /^https?:\/\//i;
/** A host name, or a token that may be a part of one, but not a word of a sentence. */
const PART_OF_HOST = /^(?=.*[\d._-])[\p{L}\p{N}._-]+$/u;
/** Shorter forms are too common to be masked. */
const MIN_FORM_CHARS = 8;

/**
 * The forms in which a secret value may come back from a target, in addition to its encodings,
 * which the scrubber finds. URLs get a normal form (WHATWG URL: hosts in lower case and ASCII, no
 * credentials, no default port, no fragment, `/` for `\`); headers lose white space at their ends,
 * and their Latin-1 may be read as UTF-8.
 */
export function secretForms(value: string): readonly string[] {
  return [value, ...otherFormsOf(value)];
}

/** `secretForms` without the value itself. */
export function otherFormsOf(value: string): readonly string[] {
  if (!MAY_DIFFER.test(value)) return [];
  const trimmed = value.trim();
  const others = HTTP_URL.test(trimmed) ? ofUrl(trimmed) : ofPart(trimmed);
  const long = [...others, ...misread(trimmed)].filter((form) => form.length >= MIN_FORM_CHARS);
  return [...new Set([trimmed, ...long])].filter((form) => form !== value);
}

/** The URL in normal form, and the parts of it that the target knows and may repeat. */
function ofUrl(text: string): readonly string[] {
  if (!URL.canParse(text)) return [];
  const url = new URL(text);
  url.username = '';
  url.password = '';
  url.hash = '';
  const target = `${url.pathname}${url.search}`;
  return [url.href.replace(/\/$/, ''), target, ...urlCredentialsOf(text)];
}

/** The forms of a value in a url, as a part of its host or of its path. */
function ofPart(text: string): readonly string[] {
  const [sent = ''] = text.replaceAll('\\', '/').split('#', 1);
  return PART_OF_HOST.test(text) ? [sent, ...ofHost(text)] : [sent];
}

function ofHost(text: string): readonly string[] {
  const small = text.toLowerCase();
  const host = URL.canParse(`http://${text}`) ? new URL(`http://${text}`).hostname : small;
  // The parser reads numbers as addresses: 0x7F000001 becomes 127.0.0.1, the host itself.
  return isIPv4(host) ? [small] : [small, host];
}

/**
 * The forms of a value in a header: headers are sent in Latin-1, and a reader that expects UTF-8
 * replaces the characters beyond ASCII.
 */
function misread(text: string): readonly string[] {
  const isLatin1 = /^[\0-\xff]*$/.test(text);
  return isLatin1 ? [Buffer.from(text, 'latin1').toString('utf8')] : [];
}
