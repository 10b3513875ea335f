import { isIP } from 'node:net';

/**
 * What came of reading one value. `culprit` is the part of the text that is off, which in a list
 * is the one entry.
 */
export type Parsed<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly culprit: string };

export type Parser<Value> = (text: string) => Parsed<Value>;

/** An IP network as it was written and as it is: a bare address has all its bits in the prefix. */
export interface ParsedNetwork {
  readonly text: string;
  readonly address: string;
  readonly prefixBits: number;
}

/** A whole decimal number; no signs, exponents, hexadecimals or fractions. Both ends included. */
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

/** Any path; whether there is a file is for its reader to say. NUL never is in a path. */
export function filePath(text: string): Parsed<string> {
  return text.includes('\0') ? { ok: false, culprit: text } : { ok: true, value: text };
}

/** Entries apart by commas, white space or both. */
export function listOf<Value>(entry: Parser<Value>, maxEntries: number): Parser<readonly Value[]> {
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

/** An IP address without a zone, as a socket can be bound to it. */
export function ipAddress(text: string): Parsed<string> {
  return isIP(text) === 0 || text.includes('%')
    ? { ok: false, culprit: text }
    : { ok: true, value: text };
}

/**
 * A URL of http or https to which paths are added, without a slash at its end. Credentials in it
 * would be logged; what is refused may have them, so it is not shown whole.
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
 * be logged, and all else would be lost. A host with a wildcard is none that could be reached.
 */
export function webOrigin(text: string): Parsed<string> {
  const origin = /^https?:\/\//i.test(text) && URL.canParse(text) ? new URL(text).origin : null;
  // What else it holds makes the whole address longer.
  const isPlain = origin !== null && new URL(text).href === `${origin}/` && !origin.includes('*');
  return isPlain ? { ok: true, value: origin } : { ok: false, culprit: withoutUserinfo(text) };
}

function withoutUserinfo(text: string): string {
  const shown = text.replace(/^([a-z][a-z0-9+.-]*:\/\/)?.*@/is, '$1********@');
  return shown.replace(/[?#].*$/s, '?…');
}
