import { isIP } from 'node:net';

/** The result of parsing one value. `culprit` is the wrong part of the text: in a list, the entry. */
export type Parsed<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly culprit: string };

export type Parser<Value> = (text: string) => Parsed<Value>;

/** An IP network; the prefix of a bare address has all its bits. */
export interface ParsedNetwork {
  readonly text: string;
  readonly address: string;
  readonly prefixBits: number;
}

/** A whole decimal number from `min` to `max`, without sign, exponent or fraction. */
export function wholeNumber(min: number, max: number): Parser<number> {
  return (text) => {
    const value = Number(text);
    const fits = /^\d{1,15}$/.test(text) && value >= min && value <= max;
    return fits ? { ok: true, value } : { ok: false, culprit: text };
  };
}

/** One of the words, in any case. */
export function oneOf<Word extends string>(words: readonly Word[]): Parser<Word> {
  return (text) => {
    const value = words.find((word) => word === text.toLowerCase());
    return value === undefined ? { ok: false, culprit: text } : { ok: true, value };
  };
}

/** `on` or `off`, in any case. */
export function onOrOff(text: string): Parsed<boolean> {
  const word = oneOf(['on', 'off'])(text);
  return word.ok ? { ok: true, value: word.value === 'on' } : word;
}

/** Any path without NUL; the reader checks the file. */
export function filePath(text: string): Parsed<string> {
  return text.includes('\0') ? { ok: false, culprit: text } : { ok: true, value: text };
}

/** Entries separated by commas, white space or both. */
export function listParser<Value>(
  entry: Parser<Value>,
  maxEntries: number,
): Parser<readonly Value[]> {
  return (text) => {
    const entries = text.split(/[\s,]+/).filter((part) => part !== '');
    const values: Value[] = [];
    for (const part of entries) {
      const parsed = entry(part);
      if (!parsed.ok) return parsed;
      values.push(parsed.value);
    }
    return values.length > maxEntries || values.length === 0
      ? { ok: false, culprit: text }
      : { ok: true, value: values };
  };
}

/** A CIDR network (RFC 4632, RFC 4291 2.3), or one bare address. */
export function network(text: string): Parsed<ParsedNetwork> {
  const refused = { ok: false, culprit: text } as const;
  const [address = '', prefix, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || address.includes('%') || rest.length > 0) return refused;
  const maxBits = family === 4 ? 32 : 128;
  if (prefix === undefined) return { ok: true, value: { text, address, prefixBits: maxBits } };
  const bits = wholeNumber(0, maxBits)(prefix);
  return bits.ok ? { ok: true, value: { text, address, prefixBits: bits.value } } : refused;
}

/** An IP address without a zone. */
export function ipAddress(text: string): Parsed<string> {
  return isIP(text) === 0 || text.includes('%')
    ? { ok: false, culprit: text }
    : { ok: true, value: text };
}

/**
 * A URL of http or https to which paths are added, without a slash at its end and without
 * credentials, which would be logged. Masks the credentials in what it refuses.
 */
export function baseUrl(text: string): Parsed<string> {
  const parsed = URL.canParse(text) ? new URL(text) : null;
  const isPlain =
    parsed !== null &&
    (parsed.protocol === 'http:' || parsed.protocol === 'https:') &&
    parsed.username === '' &&
    parsed.password === '' &&
    !/[?#]/.test(text);
  if (isPlain) return { ok: true, value: parsed.href.replace(/\/+$/, '') };
  return { ok: false, culprit: withoutUserinfo(text) };
}

/**
 * The origin of an http or https URL without credentials, path, query or fragment: credentials would
 * be logged, the rest would be lost. Refuses wildcards in the host.
 */
export function webOrigin(text: string): Parsed<string> {
  const origin = /^https?:\/\//i.test(text) && URL.canParse(text) ? new URL(text).origin : null;
  // Anything else makes the address longer than its origin.
  const isPlain = origin !== null && new URL(text).href === `${origin}/` && !origin.includes('*');
  return isPlain ? { ok: true, value: origin } : { ok: false, culprit: withoutUserinfo(text) };
}

function withoutUserinfo(text: string): string {
  const shown = text.replace(/^([a-z][a-z0-9+.-]*:\/\/)?.*@/is, '$1********@');
  return shown.replace(/[?#].*$/s, '?…');
}
